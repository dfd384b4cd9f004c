// Package evaluate measures a fitted model, and formulas beside it, on tables with a target: scores,
// calibration by entity, and the conformal correction that new data gives.
package evaluate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/delimited"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/tt"
)

// Table measures the model on the rows of a table that have a target.
func Table(ctx context.Context, m *model.Model, source tableio.Source, opt model.TableOptions) (metrics.Score, model.Summary, error) {
	engine, err := newEngine(1) // batches are measured in parallel
	if err != nil {
		return metrics.Score{}, m.NewSummary(), err
	}
	var mutex sync.Mutex
	batches := map[int]*Sums{} // by first row, to be added in order
	sum, parts, err := m.VisitShare(ctx, source, opt, func(m *model.Model, z tt.Moments, b *tableio.Batch) error {
		s, err := Measure(engine, m, z, Rows{Codes: b.Codes, Y: b.Y, Low: b.Low, W: b.W, Exposure: b.Exposure, Censored: b.Censored, Horizon: m.Horizons(b.Codes, b.ID), First: b.First}, true)
		mutex.Lock()
		defer mutex.Unlock()
		batches[b.First] = s
		return err
	}, func() []byte { return encodeSums(batches) })
	if share := opt.Output.Share; share != nil && err == nil {
		if !share.Writes() {
			return metrics.Score{}, sum, nil
		}
		err = decodeSums(batches, parts)
	}
	if err != nil {
		return metrics.Score{}, sum, err
	}
	total := newSums(m, true)
	for _, first := range slices.Sorted(maps.Keys(batches)) {
		total.merge(batches[first])
	}
	score := total.Score(m)
	if score.N == 0 {
		return score, sum, noTargets(m, source, sum)
	}
	sum.Fitted = m.Record().Refit.Saw(dataset.Test) && isFitted(ctx, m, source, sum.Rows, opt)
	if sum.Rows != m.FittedRows() { // else it is the table of the fit: errors on training rows are too small
		sum.Warnings = append(sum.Warnings, CoverageWarnings(m, score, "the table")...)
	}
	return score, sum, nil
}

func newEngine(threads int) (*cpu.Backend, error) {
	path, err := cpu.ChoosePath()
	if err != nil {
		return nil, err
	}
	return cpu.New(path, threads), nil
}

func noTargets(m *model.Model, source tableio.Source, sum model.Summary) error {
	if sum.NoID > 0 {
		return fielderr.Errorf("data.modes", "%v: each row with a value in column %s has an empty id, so it belongs to no cell; fill the ids in", source, m.Spec().Data.Target)
	}
	return fielderr.Errorf("data.target", "%v: no row has a value in column %s, so there is nothing to measure", source, m.Spec().Data.Target)
}

// A NotFittedError reports a table that is not the one a model was fitted to, so
// that its rows cannot be assigned to the parts of the split.
type NotFittedError struct{ Table string }

func (e *NotFittedError) Error() string {
	return e.Table + " is not the table that the model was fitted to, so the parts of its rows are not known"
}

// Part measures the model on the rows that were in one part of the table it was
// fitted to. The source must contain that table, which is checked by the hash of its
// content.
func Part(ctx context.Context, m *model.Model, source tableio.Source, part dataset.Part, opt model.TableOptions) (metrics.Score, model.Summary, error) {
	rows, engine, err := partOf(ctx, m, source, part, opt)
	if err != nil {
		return metrics.Score{}, model.Summary{}, err
	}
	rows.Horizon = Horizons(engine, m, rows.Codes)
	m.ForgetUntrained(rows.Codes)
	var s *Sums
	if share := opt.Output.Share; share != nil && !usesHeldOut(m, part, rows) {
		s, err = measureShare(share, engine, m, rows)
		if err == nil && !share.Writes() {
			return metrics.Score{}, m.NewSummary(), nil
		}
	} else {
		s, err = Measure(engine, m, PartMoments(engine, m, part, rows), rows, true)
	}
	if err != nil {
		return metrics.Score{}, model.Summary{}, err
	}
	sum := m.NewSummary()
	sum.Rows, sum.Fitted = len(rows.Y), m.Saw(part)
	m.CountOrigins(&sum, rows.Codes, rows.Y)
	score := s.Score(m)
	if part != dataset.Train && !sum.Fitted { // errors on rows of the training are too small
		sum.Warnings = CoverageWarnings(m, score, fmt.Sprintf("the %s set", partName(part)))
	}
	return score, sum, nil
}

// PartMoments returns the moments of the field at the rows of a part of the fitted table. Of test rows
// that the model was trained on in the end they are those from before, if it has them.
func PartMoments(engine *cpu.Backend, m *model.Model, part dataset.Part, rows Rows) tt.Moments {
	if usesHeldOut(m, part, rows) {
		return m.HeldOut()
	}
	return m.Moments(engine, rows.Codes)
}

func usesHeldOut(m *model.Model, part dataset.Part, rows Rows) bool {
	return part == dataset.Test && len(rows.Y) > 0 && len(m.HeldOut().Mean) == len(rows.Y)
}

func partName(part dataset.Part) string {
	return map[dataset.Part]string{dataset.Train: "training", dataset.Valid: "validation", dataset.Test: "test"}[part]
}

// partOf reads the table that the model was fitted to and returns the rows of a part.
func partOf(ctx context.Context, m *model.Model, source tableio.Source, part dataset.Part, opt model.TableOptions) (Rows, *cpu.Backend, error) {
	f, err := ReadFitted(ctx, m, source, opt)
	if err != nil {
		return Rows{}, nil, err
	}
	rows := f.Part(part)
	if len(rows.Y) == 0 {
		return Rows{}, nil, fmt.Errorf("%v: no row was in the %s set of the fit; its split was %s", source, part, m.Record().Split)
	}
	return rows, f.Engine, nil
}

// Fitted is the table that a model was fitted to.
type Fitted struct {
	Table  *dataset.Table
	Engine *cpu.Backend
	model  *model.Model
}

// ReadFitted reads the table that a model was fitted to. Another table is a
// *NotFittedError.
func ReadFitted(ctx context.Context, m *model.Model, source tableio.Source, opt model.TableOptions) (*Fitted, error) {
	if err := m.CheckOneTarget(); err != nil {
		return nil, err
	}
	table, err := readAsFitted(ctx, m, source, opt)
	if err != nil {
		return nil, err
	}
	if !wasFittedTo(m, table) {
		return nil, &NotFittedError{source.String()}
	}
	if err := m.Covariates().EncodeTable(table, source.String()); err != nil {
		return nil, err
	}
	engine, err := newEngine(opt.Threads)
	return &Fitted{table, engine, m}, err
}

// Part returns a copy of the rows that were in one part of the fit.
func (f *Fitted) Part(part dataset.Part) Rows {
	var at []int
	for i := range f.Table.Len() {
		if f.model.Part(f.Table.SourceRow(i)) == part {
			at = append(at, i)
		}
	}
	t := f.Table
	o := solver.Observations{Codes: t.Codes, Y: t.Y, Low: t.Low, W: t.W, Exposure: t.Exposure, Censored: t.Censored}.Select(at)
	return Rows{Codes: o.Codes, Y: o.Y, Low: o.Low, W: o.W, Exposure: o.Exposure, Censored: o.Censored}
}

// readAsFitted reads a table like the fitted one.
func readAsFitted(ctx context.Context, m *model.Model, source tableio.Source, opt model.TableOptions) (*dataset.Table, error) {
	schema, format, err := m.Spec().Data.Table()
	if err != nil {
		return nil, err
	}
	format.Stdin = opt.Format.Stdin
	if opt.Format.Delimiter != 0 || opt.Format.LongDelimiter != "" {
		format.Delimiter, format.LongDelimiter = opt.Format.Delimiter, opt.Format.LongDelimiter
	}
	if !opt.Format.Numbers.Plain() {
		format.Numbers = opt.Format.Numbers
	}
	if opt.Format.Header != delimited.HeaderAuto {
		format.Header = opt.Format.Header
	}
	return tableio.Read(ctx, source, schema, format, opt.Threads)
}

func wasFittedTo(m *model.Model, t *dataset.Table) bool {
	return t.Counts.Rows == m.FittedRows() && model.HashText(t.Hash) == m.Record().DataHash
}
