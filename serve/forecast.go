package serve

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"

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
	table := kft.ForecastOptions{}
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
		case "only":
			err = b.list(key, func(i int) error {
				text, err := scalar[string](b, fmt.Sprintf("%s[%d]", key, i), "a text such as store=S1")
				table.Only = append(table.Only, text)
				return err
			})
		case "by":
			table.By, err = b.text(key)
		case "level":
			table.Levels, err = b.levels(key)
		default:
			err = unknown(key, "model, cell, horizon, quantiles, only, by, level")
		}
		return err
	})
	many := table.Only != nil || table.By != "" || table.Levels != nil
	if err := b.finish(err, cell != nil || many, "cell"); err != nil {
		return err
	}
	if cell != nil && many {
		return problemf(invalidValue, "cell", "a forecast is of the series of a cell, or of those that only, by and level describe")
	}
	slot, err := s.slot(name, "model")
	if err != nil {
		return err
	}
	m := slot.current.Load()
	if cell == nil {
		table.Horizon, table.Threads = int(horizon), 1
		rows, err := m.forecastRows(r.Context(), table)
		if err != nil {
			return err
		}
		return writeValue(w, map[string]any{"model": m.name, "version": m.version, "rows": rows})
	}
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

// maxForecast limits the text of a forecast of many series, in bytes.
const maxForecast = 8 << 20

// forecastRows returns the forecasts of chosen series, or their totals, one object per row
// with the columns that kft forecast writes.
func (m *loadedModel) forecastRows(ctx context.Context, opt kft.ForecastOptions) ([]map[string]any, error) {
	text := &limitedBuffer{left: maxForecast}
	opt.Output.Delimiter = ',' // and decimal points, also for a table with decimal commas
	_, err := m.Forecast(ctx, text, opt)
	switch field := kft.FieldPath(err); {
	case text.full:
		return nil, problemf(invalidValue, "only", "the forecast has more than %d MiB; choose fewer series or periods, or totals by group", maxForecast>>20)
	case slices.Contains([]string{"horizon", "only", "by", "level"}, field):
		return nil, userError(err, field)
	case err != nil:
		return nil, &problem{notAvailable, err.Error(), "model"}
	}
	records, err := csv.NewReader(&text.Buffer).ReadAll()
	if err != nil || len(records) == 0 {
		return nil, err
	}
	rows := make([]map[string]any, 0, len(records)-1)
	first := slices.Index(records[0], "mean")
	for _, record := range records[1:] {
		row := map[string]any{}
		for c, name := range records[0] {
			row[name] = record[c]
			if v, err := strconv.ParseFloat(record[c], 64); c >= first && err == nil {
				row[name] = finite(v)
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// A limitedBuffer refuses to grow beyond a number of bytes.
type limitedBuffer struct {
	bytes.Buffer
	left int
	full bool
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		b.full = true
		return 0, errors.New("the response is too large")
	}
	return b.Buffer.Write(p)
}
