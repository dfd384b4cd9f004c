package serve

import (
	"fmt"
	"math"
	"net/http"

	"github.com/kernel-fried-tensor/kft"
)

// maxOutcome limits the size of values, so that their sums are finite.
const maxOutcome = 1e30

const outcomeFields = "model, outcomes"

// outcomes answers POST /outcomes: observed values of cells.
func (s *Server) outcomes(w http.ResponseWriter, r *http.Request) error {
	b, err := s.newBody(r)
	if err != nil {
		return err
	}
	var name string
	var cells []kft.Cell
	var values []float64
	given := false
	err = b.object("", func(key string) (err error) {
		switch key {
		case "model":
			name, err = b.text(key)
		case "outcomes":
			given = true
			cells, values, err = b.observed(key)
		default:
			err = unknown(key, outcomeFields)
		}
		return err
	})
	if err := b.finish(err, given, "outcomes"); err != nil {
		return err
	}
	slot, err := s.slot(name, "model")
	if err != nil {
		return err
	}
	m := slot.current.Load()
	predictions, err := m.predictCells(r.Context(), cells, nil, false)
	if err != nil {
		return asProblem(err, "outcomes")
	}
	all := make([]outcome, len(cells))
	for i := range all {
		field := fmt.Sprintf("outcomes[%d].value", i)
		if err := m.CheckTarget(values[i]); err != nil {
			return problemf(invalidValue, field, "%s", err.Error())
		}
		if p := predictions[i].Distribution().CDF(values[i]); math.IsNaN(p) || math.Abs(values[i]) > maxOutcome {
			return problemf(invalidValue, field, "%g is not a value that the target of the model can have", values[i])
		}
		all[i] = outcome{cells[i], values[i], &predictions[i]}
	}
	for _, c := range slot.monitor.add(all) {
		if c.began {
			s.log.Warn("alarm", "model", m.name, "group", c.Group, "alarm", c.Alarm, "coverage", c.Coverage, "low", c.Low, "high", c.High, "bias", c.Bias, "outcomes", c.Window)
		} else {
			s.log.Info("alarm ended", "model", m.name, "group", c.Group)
		}
	}
	return writeValue(w, map[string]any{"accepted": len(all), "monitor": s.monitorOf(slot)})
}

// observed reads a list of cells and their values: {"cell": {...}, "value": 12}.
func (b *bodyReader) observed(field string) (cells []kft.Cell, values []float64, err error) {
	err = b.list(field, func(i int) error {
		if i >= b.limit {
			return problemf(tooManyCells, field, "a request may have %d of %s; send several requests", b.limit, field)
		}
		path := fmt.Sprintf("%s[%d]", field, i)
		var cell kft.Cell
		value := math.NaN()
		err := b.object(path, func(key string) (err error) {
			switch key {
			case "cell":
				cell, err = b.cell(join(path, key))
			case "value":
				value, err = b.number(join(path, key))
			default:
				err = unknown(join(path, key), "cell, value")
			}
			return err
		})
		switch {
		case err != nil:
			return err
		case cell == nil:
			return problemf(missingField, path+".cell", "there is no cell")
		case math.IsNaN(value):
			return problemf(missingField, path+".value", "there is no value")
		}
		cells, values = append(cells, cell), append(values, value)
		return nil
	})
	return cells, values, err
}

// A monitorReport describes the outcomes of a model.
type monitorReport struct {
	Model   string        `json:"model"`
	Version string        `json:"version"`
	Level   float64       `json:"level"`
	Groups  []groupReport `json:"groups"`
}

func (s *Server) monitorOf(slot *modelSlot) monitorReport {
	return monitorReport{slot.file.Name, slot.current.Load().version, s.opt.Monitor.Level, slot.monitor.report()}
}

// showMonitor answers GET /monitor.
func (s *Server) showMonitor(w http.ResponseWriter, _ *http.Request) error {
	reports := []monitorReport{}
	for _, slot := range s.models {
		reports = append(reports, s.monitorOf(slot))
	}
	return writeValue(w, map[string]any{"models": reports})
}

func (s *Server) writeMonitorMetrics(e *exposition) {
	type series struct {
		name, help string
		value      func(r groupReport) float64
	}
	is := func(r groupReport, alarm string) float64 {
		if r.Alarm == alarm || r.Alarm == "coverage+bias" {
			return 1
		}
		return 0
	}
	reports := make([][]groupReport, len(s.models))
	for i, slot := range s.models {
		reports[i] = slot.monitor.report()
	}
	e.head("kft_outcomes_total", "counter", "Outcomes since the model was loaded.")
	for i, slot := range s.models {
		for _, r := range reports[i] {
			e.value("kft_outcomes_total", float64(r.Total), "model", slot.file.Name, "group", r.Group)
		}
	}
	for _, x := range []series{
		{"kft_coverage", "Share of the latest outcomes inside of the interval.", func(r groupReport) float64 { return r.Coverage }},
		{"kft_coverage_low", "Lower end of the band of the coverage.", func(r groupReport) float64 { return r.Low }},
		{"kft_coverage_high", "Upper end of the band of the coverage.", func(r groupReport) float64 { return r.High }},
		{"kft_bias", "Mean of the standardised residuals of the latest outcomes.", func(r groupReport) float64 { return r.Bias }},
		{"kft_bias_ratio", "Total of the latest outcomes over the total of their predictions.", func(r groupReport) float64 { return r.Ratio }},
		{"kft_coverage_alarm", "1 if the coverage is outside of its band.", func(r groupReport) float64 { return is(r, "coverage") }},
		{"kft_bias_alarm", "1 if the bias is outside of its band.", func(r groupReport) float64 { return is(r, "bias") }},
	} {
		e.head(x.name, "gauge", x.help)
		for i, slot := range s.models {
			for _, r := range reports[i] {
				e.value(x.name, x.value(r), "model", slot.file.Name, "group", r.Group)
			}
		}
	}
}
