package model

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset/timeline"
	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/series"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/tt/entity"
	"github.com/kernel-fried-tensor/kft/tt/seriesterm"
)

// seriesMeta describes a series term in a model file.
type seriesMeta struct {
	Label   string       `json:"term"`
	Modes   []string     `json:"modes"`
	Time    string       `json:"time"`
	Default int32        `json:"default"`
	Prior   series.Prior `json:"prior"`
}

// findLines finds the timelines of the modes along which there are series.
func (m *Model) findLines() error {
	m.lines = make([]*timeline.Timeline, len(m.modes))
	for _, mode := range m.field.TimeModes() {
		line, err := timeline.New(m.modes[mode], m.dicts[mode].IDs())
		if err != nil {
			return err
		}
		m.lines[mode] = line
	}
	return nil
}

// Timeline returns the steps of a mode along which the model has series, nil for
// another.
func (m *Model) Timeline(mode int) *timeline.Timeline { return m.lines[mode] }

// SeriesTerms returns the series terms.
func (m *Model) SeriesTerms() []*seriesterm.Term { return slices.Clone(m.field.Series) }

// stepOf returns the step of an id of a mode with a timeline.
func (m *Model) stepOf(mode int, id string) (int32, bool) {
	step, ok := m.lines[mode].Step(id)
	if !ok || step < 0 || step > series.MaxStep {
		return 0, false
	}
	return int32(step), true
}

// extendSeries gives the series terms the steps of ids that were added.
func (x *extension) extendSeries() []*seriesterm.Term {
	var out []*seriesterm.Term
	for _, s := range x.field.Series {
		ids := x.dicts[s.Time].IDs()
		if len(ids) > len(s.Steps) {
			extended := *s
			extended.Steps = slices.Clone(s.Steps)
			for _, id := range ids[len(s.Steps):] {
				step, ok := x.stepOf(s.Time, id)
				if !ok {
					step = s.Default
				}
				extended.Steps = append(extended.Steps, step)
			}
			s = &extended
		}
		out = append(out, s)
	}
	return out
}

// findSeries marks what series terms and cores along time know: the ids of their entities,
// and every id of time that has a step.
func (m *Model) findSeries() {
	names := m.spec.ModeNames()
	for _, s := range m.field.Series {
		combos, width := s.Index.Combinations(), len(s.Modes)
		for i, name := range s.Modes {
			at, column := spec.CutGroup(name, names)
			if column != "" {
				continue
			}
			if m.trained[at] == nil {
				m.trained[at] = make([]bool, m.dicts[at].Len())
			}
			for e := i; e < len(combos); e += width {
				m.trained[at][combos[e]] = true
			}
		}
	}
	for _, mode := range m.field.TimeModes() {
		if m.trained[mode] == nil {
			m.trained[mode] = make([]bool, m.dicts[mode].Len())
			for code, rows := range m.rows[mode] {
				m.trained[mode][code] = rows > 0
			}
		}
		m.grouped[mode] = slices.Repeat([]bool{true}, m.dicts[mode].Len())
	}
}

func seriesTensor(term int, what string) string { return fmt.Sprintf("series/%d/%s", term, what) }

// seriesTensors returns the series terms as text and tensors.
func (m *Model) seriesTensors() (string, []modelfile.Tensor, error) {
	var metas []seriesMeta
	var tensors []modelfile.Tensor
	for k, s := range m.field.Series {
		metas = append(metas, seriesMeta{s.Label, s.Modes, m.modes[s.Time].Name, s.Default, s.Prior})
		if len(s.Modes) > 0 {
			tensors = append(tensors, modelfile.NewTensor(seriesTensor(k, "entities"), s.Index.Combinations(), s.Process.Series(), len(s.Modes)))
		}
		tensors = append(tensors,
			modelfile.NewTensor(seriesTensor(k, "start"), s.Start, len(s.Start)),
			modelfile.NewTensor(seriesTensor(k, "step"), s.Step, len(s.Step)),
			modelfile.NewTensor(seriesTensor(k, "value"), s.Value, len(s.Value)),
			modelfile.NewTensor(seriesTensor(k, "precision"), s.Precision, len(s.Precision)))
		if s.Scale != nil {
			tensors = append(tensors, modelfile.NewTensor(seriesTensor(k, "scale"), s.Scale, len(s.Scale)))
		}
	}
	text, err := json.Marshal(metas)
	if err != nil {
		return "", nil, fmt.Errorf("encoding the series of the model: %w", err)
	}
	return string(text), tensors, nil
}

// seriesTerm reads the series term k.
func (d *decoder) seriesTerm(k int, meta seriesMeta) (*seriesterm.Term, error) {
	names := d.m.spec.ModeNames()
	s := &seriesterm.Term{Label: meta.Label, Modes: meta.Modes, Time: slices.Index(names, meta.Time), Default: meta.Default, Process: &series.Process{Prior: meta.Prior}}
	if s.Time < 0 || s.Default < 0 || s.Default > series.MaxStep {
		return nil, fmt.Errorf("series %d has the unknown mode of time %q, or the default step %d", k, meta.Time, meta.Default)
	}
	axes, err := Axes(meta.Modes, names, d.m.axisSizes(), d.m.groups)
	if err != nil {
		return nil, err
	}
	var combos []int32
	if len(axes) > 0 {
		if combos, err = modelfile.Values[int32](d.f, seriesTensor(k, "entities"), -1, len(axes)); err != nil {
			return nil, err
		}
	}
	if s.Index, err = entity.RestoreAxisIndex(axes, combos); err != nil {
		return nil, err
	}
	if s.Start, err = modelfile.Values[int32](d.f, seriesTensor(k, "start"), s.Index.Entities()); err != nil {
		return nil, err
	}
	if s.Step, err = modelfile.Values[int32](d.f, seriesTensor(k, "step"), -1); err != nil {
		return nil, err
	}
	n := len(s.Step)
	for _, a := range []struct {
		name string
		to   *[]float32
	}{{"value", &s.Value}, {"precision", &s.Precision}} {
		if *a.to, err = modelfile.Values[float32](d.f, seriesTensor(k, a.name), n); err != nil {
			return nil, err
		}
	}
	if meta.Prior.ScaleSpread != 0 {
		if s.Scale, err = modelfile.Values[float32](d.f, seriesTensor(k, "scale"), s.Series()); err != nil {
			return nil, err
		}
	}
	return s, s.Process.Check()
}

// findSteps finds the steps of time of the series terms.
func (d *decoder) findSteps() error {
	d.m.lines = make([]*timeline.Timeline, len(d.m.modes))
	if err := d.m.findLines(); err != nil {
		return err
	}
	for _, s := range d.m.field.Series {
		var err error
		if s.Steps, err = d.m.lineSteps(s.Time); err != nil {
			return err
		}
	}
	return d.m.findAlongSteps()
}
