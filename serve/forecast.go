package serve

import (
	"context"
	"errors"
	"maps"
	"net/http"

	"github.com/kernel-fried-tensor/kft"
)

// maxHorizon limits the periods of POST /forecast.
const maxHorizon = 1000

// A futurePeriod is the forecast of one period.
type futurePeriod struct {
	ID        string     `json:"id"`
	Mean      float64    `json:"mean"`
	Median    float64    `json:"median"`
	Quantiles []quantile `json:"quantiles"`
}

type quantile struct {
	Level float64 `json:"level"`
	Value float64 `json:"value"`
}

// forecast answers POST /forecast.
func (s *Server) forecast(w http.ResponseWriter, r *http.Request) error {
	b, err := s.newBody(r)
	if err != nil {
		return err
	}
	var name string
	var cell kft.Cell
	horizon := 12.0
	levels := []float64{0.05, 0.95}
	err = b.object("", func(key string) (err error) {
		switch key {
		case "model":
			name, err = b.text(key)
		case "cell":
			cell, err = b.cell(key)
		case "horizon":
			horizon, err = b.number(key)
			if err == nil && !(horizon >= 1 && horizon <= maxHorizon && horizon == float64(int(horizon))) {
				err = problemf(invalidValue, key, "the horizon is not a number of periods from 1 to %d", maxHorizon)
			}
		case "quantiles":
			levels, err = b.levels(key)
		default:
			err = unknown(key, "model, cell, horizon, quantiles")
		}
		return err
	})
	if err := b.finish(err, cell != nil, "cell"); err != nil {
		return err
	}
	slot, err := s.slot(name, "model")
	if err != nil {
		return err
	}
	m := slot.current.Load()
	periods, err := m.forecast(r.Context(), cell, int(horizon), levels)
	if err != nil {
		return err
	}
	return writeValue(w, map[string]any{"model": m.name, "version": m.version, "periods": periods})
}

// forecast returns the forecast of the series of a cell, which has no period.
func (m *loadedModel) forecast(ctx context.Context, cell kft.Cell, horizon int, levels []float64) ([]futurePeriod, error) {
	time, ids, err := m.FuturePeriods(horizon)
	if err != nil {
		if kft.FieldPath(err) == "horizon" {
			return nil, userError(err, "horizon")
		}
		return nil, &problem{notAvailable, err.Error(), "model"}
	}
	if name := m.names[time]; cell[name] != "" {
		return nil, problemf(invalidValue, "cell."+name, "the cell of a forecast has no %s: it is that of the periods after the data", name)
	}
	cells := make([]kft.Cell, len(ids))
	for i, id := range ids {
		cells[i] = maps.Clone(cell)
		cells[i][m.names[time]] = id
	}
	predictions, err := m.predictCells(ctx, cells, levels, false)
	var wrong *kft.CellError
	switch {
	case errors.As(err, &wrong):
		return nil, &problem{unknownMode, wrong.Problem, "cell." + wrong.Mode}
	case err != nil:
		return nil, err
	}
	periods := make([]futurePeriod, len(ids))
	for i, p := range predictions {
		values := make([]float64, len(levels))
		p.Distribution().Quantiles(values, levels)
		periods[i] = futurePeriod{ID: ids[i], Mean: finite(p.Mean), Median: finite(p.Median), Quantiles: []quantile{}}
		for k, level := range levels {
			periods[i].Quantiles = append(periods[i].Quantiles, quantile{level, finite(values[k])})
		}
	}
	return periods, nil
}
