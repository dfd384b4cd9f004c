package kft

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/calibrate"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/nearest"
	"github.com/kernel-fried-tensor/kft/tt"
)

// A Prediction is what the model says of one cell, in the target's units.
// Unknown names the modes whose id is neither in the training data nor described
// by side information; such an id is replaced by the average of those that are.
// FromSide names those whose id is known by its side information alone.
type Prediction struct {
	Mean    float64  `json:"prediction"`
	Median  float64  `json:"median"`
	Unknown []string `json:"unknown"`

	FromSide []string `json:"from_side,omitempty"`

	// SD is the standard deviation, with its parts: what is not known of the
	// model's weights, and the noise. Their squares add up.
	SD      float64 `json:"sd"`
	SDModel float64 `json:"sd_model"`
	SDNoise float64 `json:"sd_noise"`

	distribution calibrate.Predictive
}

// Distribution returns the predictive distribution of the cell.
func (p Prediction) Distribution() calibrate.Predictive { return p.distribution }

// A Cell gives an id for each mode: {"store": "2106", "item": "11776",
// "time": "2016-12"}.
type Cell map[string]string

// Predict returns predictions of cells. A cell that lacks a mode or names one
// that does not exist is an error.
func (m *Model) Predict(cells []Cell) ([]Prediction, error) {
	codes := make([][]int32, len(m.modes))
	for i := range codes {
		codes[i] = make([]int32, len(cells))
	}
	out := make([]Prediction, len(cells))
	names := m.spec.ModeNames()
	for c, cell := range cells {
		for name := range cell {
			if !slices.Contains(names, name) {
				return nil, fmt.Errorf("cell %d: the model has no mode %q%s; its modes are %s", c+1, name, nearest.Hint(name, names), strings.Join(names, ", "))
			}
		}
		for i, name := range names {
			id, ok := cell[name]
			if !ok {
				return nil, fmt.Errorf("cell %d: no id for mode %q", c+1, name)
			}
			code, known := m.dicts[i].Code([]byte(id))
			if !known {
				code = tt.Unknown
			}
			codes[i][c] = code
		}
	}
	m = m.meet(codes, func(mode, c int) string { return cells[c][names[mode]] })
	m.forgetUntrained(codes)
	for c := range out {
		for i, name := range names {
			switch m.source(i, codes[i][c]) {
			case fromPrior:
				out[c].Unknown = append(out[c].Unknown, name)
			case fromSide:
				out[c].FromSide = append(out[c].FromSide, name)
			}
		}
	}
	engine, err := newEngine()
	if err != nil {
		return nil, err
	}
	z := m.moments(engine, codes)
	for c := range out {
		p := m.predictive(z, codes, c)
		all := p.Moments()
		out[c].Mean, out[c].Median, out[c].distribution = all.Mean, p.Median(), p
		out[c].SD, out[c].SDModel, out[c].SDNoise = all.SD, all.SDModel, all.SDNoise
	}
	return out, nil
}

func newEngine() (backend.Backend, error) {
	path, err := cpu.Choose()
	if err != nil {
		return nil, err
	}
	return cpu.New(path, 1), nil
}

// TableOptions say how a table is read for prediction or evaluation.
type TableOptions struct {
	Threads int
	Format  dataset.Format // of the table; its zero value detects
	Strict  bool           // unknown ids are an error
	Output  dataset.Output // of PredictFile; its zero value is text

	// Quantiles are the levels, in increasing order, that PredictFile gives a
	// column each: q0.05.
	Quantiles []float64
	// Samples is how many draws PredictFile gives a column each: sample_1. A draw
	// is of the whole tensor: all its cells share what is not known of the weights,
	// so that the spread of a sum over cells is that of the sums of draws.
	Samples int
}

// Summary counts what was met in a table.
type Summary struct {
	Rows    int
	Unknown []int // rows with an unknown id, by mode
	Side    []int // rows with an id known by its side information alone, by mode
	Fitted  bool  // by Calibrate: the table is the one the model was fitted to
}

func (m *Model) newSummary() Summary {
	return Summary{Unknown: make([]int, len(m.modes)), Side: make([]int, len(m.modes))}
}

func (s *Summary) add(o Summary) {
	s.Rows += o.Rows
	for mode := range s.Unknown {
		s.Unknown[mode] += o.Unknown[mode]
		s.Side[mode] += o.Side[mode]
	}
}

// countSources counts the ids of rows with a target that are not in the training
// data.
func (m *Model) countSources(sum *Summary, codes [][]int32, y []float32) {
	for mode, column := range codes {
		for i, c := range column {
			if math.IsNaN(float64(y[i])) {
				continue
			}
			switch m.source(mode, c) {
			case fromPrior:
				sum.Unknown[mode]++
			case fromSide:
				sum.Side[mode]++
			}
		}
	}
}

// An UnknownError is an id that is not in the training data, met in strict mode.
type UnknownError struct {
	Row      int // data row, from 1
	Mode, ID string
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("data row %d: mode %s: the id %q is not in the training data; leave out --strict to predict it by the average", e.Row, e.Mode, e.ID)
}

// addedColumns are the columns that PredictFile adds.
func addedColumns(opt TableOptions) []string {
	names := []string{"prediction", "median", "sd", "sd_model", "sd_noise"}
	for _, p := range opt.Quantiles {
		names = append(names, quantileColumn(p))
	}
	for i := range opt.Samples {
		names = append(names, sampleColumn(i))
	}
	return append(names, unknownColumn)
}

// unknownColumn names the modes of a row whose id is not in the training data.
const unknownColumn = "unknown"

// PredictFile writes the table to w in the form opt.Output, rows and columns as
// they are, with columns added: prediction (the mean), median, sd with its parts
// sd_model and sd_noise, the quantiles and samples of opt, and unknown, which names
// the modes whose id is not in the training data, with :side behind those that
// were predicted from their side information. A table that has such a column is
// refused. Target and weight are not looked at.
func (m *Model) PredictFile(ctx context.Context, file string, w io.Writer, opt TableOptions) (Summary, error) {
	sum := m.newSummary()
	if err := m.CheckQuantiles(opt.Quantiles); err != nil {
		return sum, err
	}
	drawn, err := m.newSamples(opt.Samples, opt.Threads)
	if err != nil {
		return sum, err
	}
	predict, err := m.predictor(opt)
	if err != nil {
		return sum, err
	}
	if opt.Output.Format == "" {
		opt.Output.Format = "text"
	}
	names := addedColumns(opt)
	added := make([]dataset.Added, len(names))
	for i, name := range names {
		added[i] = dataset.Added{Name: name, Text: name == unknownColumn}
	}
	unknown := len(names) - 1
	levels := append([]float64{0.5}, opt.Quantiles...)
	schema := dataset.Schema{Modes: m.modes, Absent: names}
	var mutex sync.Mutex
	err = dataset.Extend(ctx, file, schema, m.dicts, opt.Format, opt.Threads, w, opt.Output, added, func(b *dataset.Batch, values *dataset.Values) error {
		m, z, err := predict(b)
		if err != nil {
			return err
		}
		met := m.newSummary()
		met.Rows = len(z.Mean)
		quantiles := make([]float64, len(levels))
		for i := range z.Mean {
			p := m.predictive(z, b.Codes, i)
			all := p.Moments()
			p.Quantiles(quantiles, levels)
			for k, v := range [...]float64{all.Mean, quantiles[0], all.SD, all.SDModel, all.SDNoise} {
				values.Numbers[k][i] = float32(v)
			}
			for k, v := range quantiles[1:] {
				values.Numbers[5+k][i] = float32(v)
			}
			values.Texts[unknown][i] = m.sources(b.Codes, i, &met)
		}
		if err := drawn.fill(values.Numbers[unknown-opt.Samples:unknown], m, z, b); err != nil {
			return err
		}
		mutex.Lock()
		defer mutex.Unlock()
		sum.add(met)
		return nil
	})
	return sum, err
}

// sources names the modes of row i whose id is not in the training data, and
// counts them.
func (m *Model) sources(codes [][]int32, i int, met *Summary) string {
	var text []string // nil for most rows
	for mode := range m.modes {
		switch m.source(mode, codes[mode][i]) {
		case fromSide:
			met.Side[mode]++
			text = append(text, m.modes[mode].Name+":side")
		case fromPrior:
			met.Unknown[mode]++
			text = append(text, m.modes[mode].Name)
		}
	}
	return strings.Join(text, "+")
}

// predictor returns a function that predicts batches, several at once, on the
// modelling scale. It sets the codes of ids without weights to unknown, and returns
// the model that the other codes are of, which knows ids that describe themselves.
func (m *Model) predictor(opt TableOptions) (func(b *dataset.Batch) (*Model, tt.Moments, error), error) {
	path, err := cpu.Choose()
	if err != nil {
		return nil, err
	}
	// Engines keep scratch memory and are handed from batch to batch.
	engines := sync.Pool{New: func() any { return cpu.New(path, 1) }}
	// So is what was learned of new ids. A slice of a model does not depend on its
	// others, so it does not matter which of several batches leaves its model here.
	var latest atomic.Pointer[Model]
	latest.Store(m)
	fitted := m
	return func(b *dataset.Batch) (*Model, tt.Moments, error) {
		m := latest.Load().meet(b.Codes, b.ID)
		if m.muchLarger(fitted) {
			latest.Store(fitted)
		} else {
			latest.Store(m)
		}
		m.forgetUntrained(b.Codes)
		if opt.Strict {
			if err := m.strict(b); err != nil {
				return nil, tt.Moments{}, err
			}
		}
		engine := engines.Get().(*cpu.Backend)
		defer engines.Put(engine)
		return m, m.moments(engine, b.Codes), nil
	}, nil
}

// strict refuses the first unknown id of a batch.
func (m *Model) strict(b *dataset.Batch) error {
	for i := range b.Codes[0] {
		for mode := range m.modes {
			if b.Codes[mode][i] < 0 {
				return &UnknownError{Row: b.First + i + 1, Mode: m.modes[mode].Name, ID: b.ID(mode, i)}
			}
		}
	}
	return nil
}
