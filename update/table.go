package update

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/ledger"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// A Row is a cell and its value.
type Row struct {
	Cell  model.Cell
	Value float64
}

// Take takes in rows: all of them, or none if one is refused.
func (u *Updater) Take(ctx context.Context, rows []Row, opt Options) (*Report, error) {
	m := u.state.fitted
	if err := m.CheckOneTarget(); err != nil {
		return nil, fmt.Errorf("rows of several targets are taken in as a table: %w", err)
	}
	cells, y := make([]model.Cell, len(rows)), make([]float64, len(rows))
	for i, r := range rows {
		cells[i], y[i] = r.Cell, r.Value
	}
	codes, given, id, err := m.Encode(cells)
	if err != nil {
		return nil, err
	}
	b := &batch{rows: ledger.Rows{Codes: codes, Y: y, W: given.Weight, Exposure: given.Exposure}, id: id, unit: "row", number: func(i int) int { return i + 1 }}
	for i := range y {
		if err := CheckTarget(m, y[i]); err != nil {
			return nil, &RowError{Row: i + 1, Unit: b.unit, Column: m.Spec().Data.Target, Problem: err.Error()}
		}
	}
	return u.take(ctx, b, opt)
}

// TakeTable takes in the rows of a table that have a target: all of them, or none if one
// is refused.
func (u *Updater) TakeTable(ctx context.Context, source tableio.Source, table model.TableOptions, opt Options) (*Report, error) {
	b, skipped, err := u.read(ctx, source, table)
	if err != nil {
		return nil, err
	}
	if b.rows.Len() == 0 {
		return nil, fmt.Errorf("%v: no row has both a target and all ids, so there is nothing to add; fill in what is empty", source)
	}
	report, err := u.take(ctx, b, opt)
	if err != nil {
		var row *RowError
		if errors.As(err, &row) {
			err = fmt.Errorf("%v: %w", source, err)
		}
		return nil, err
	}
	report.Skipped = skipped
	return report, nil
}

// read reads a table in the order of its rows. A row with several targets gives one row of
// the batch for each, on the scale of the model of all targets.
func (u *Updater) read(ctx context.Context, source tableio.Source, table model.TableOptions) (*batch, int, error) {
	m := u.state.fitted
	targets := m.Record().Targets
	if len(targets) == 0 {
		return readTarget(ctx, m, source, table)
	}
	if !source.Repeatable() {
		return nil, 0, fmt.Errorf("%v: a table of several targets is read once for each, so it must be a file", source)
	}
	var all *batch
	skipped := 0
	for _, t := range targets {
		one, err := m.ForTarget(t.Name)
		if err != nil {
			return nil, 0, err
		}
		b, missing, err := readTarget(ctx, one, source, table)
		if err != nil {
			return nil, 0, err
		}
		z := make([]float32, b.rows.Len())
		if err := t.Scale.ForwardEach(z, func(i int) float64 { return b.rows.Y[i] }); err != nil {
			return nil, 0, fmt.Errorf("%v: column %s: %w", source, t.Name, err)
		}
		for i, v := range z {
			b.rows.Y[i] = float64(v)
		}
		skipped += missing
		if all == nil {
			all = b
			continue
		}
		all = all.join(b)
	}
	return all, skipped, nil
}

// join returns a batch with the rows of two.
func (b *batch) join(c *batch) *batch {
	n := b.rows.Len()
	joined := &batch{unit: b.unit, id: func(mode, i int) string {
		if i < n {
			return b.id(mode, i)
		}
		return c.id(mode, i-n)
	}, number: func(i int) int {
		if i < n {
			return b.number(i)
		}
		return c.number(i - n)
	}}
	switch {
	case n == 0:
		joined.rows = c.rows
	case c.rows.Len() == 0:
		joined.rows = b.rows
	default:
		joined.rows = b.rows.Append(c.rows)
	}
	return joined
}

// readTarget reads a table for a model of one target.
func readTarget(ctx context.Context, m *model.Model, source tableio.Source, table model.TableOptions) (*batch, int, error) {
	type part struct {
		first, skipped int
		rows           ledger.Rows
		numbers        []int
		ids            []map[int]string // by mode and row: ids that the model does not contain
		err            error
	}
	var mutex sync.Mutex
	var parts []*part
	_, err := m.VisitRows(ctx, source, table, func(t *tableio.Batch) error {
		p := &part{first: t.First, ids: make([]map[int]string, len(t.Codes))}
		n := len(t.Y)
		p.rows.Codes = make([][]int32, len(t.Codes))
		for mode := range p.ids {
			p.ids[mode] = map[int]string{}
		}
		for i := range n {
			y := dataset.TargetAt(t.Y, t.Low, i)
			if math.IsNaN(y) || t.W != nil && !(t.W[i] > 0) {
				p.skipped++
				continue
			}
			if err := CheckTarget(m, y); err != nil && p.err == nil {
				p.err = &RowError{Row: t.First + i + 1, Unit: "data row", Column: m.Spec().Data.Target, Problem: err.Error()}
			}
			at := len(p.rows.Y)
			p.rows.Y = append(p.rows.Y, y)
			for mode, column := range t.Codes {
				p.rows.Codes[mode] = append(p.rows.Codes[mode], column[i])
				p.ids[mode][at] = t.ID(mode, i)
			}
			for _, c := range []struct {
				to   *[]float32
				from []float32
			}{{&p.rows.W, t.W}, {&p.rows.Exposure, t.Exposure}, {&p.rows.Censored, t.Censored}} {
				if c.from != nil {
					*c.to = append(*c.to, c.from[i])
				}
			}
			p.numbers = append(p.numbers, t.First+i+1)
		}
		mutex.Lock()
		defer mutex.Unlock()
		parts = append(parts, p)
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	slices.SortFunc(parts, func(a, b *part) int { return a.first - b.first })
	var numbers []int
	ids := make([][]string, len(m.Modes()))
	all := ledger.Rows{Codes: make([][]int32, len(ids))}
	skipped := 0
	for _, p := range parts {
		if p.err != nil {
			return nil, 0, fmt.Errorf("%v: %w", source, p.err)
		}
		skipped += p.skipped
		numbers = append(numbers, p.numbers...)
		for mode := range ids {
			for i := range p.rows.Len() {
				ids[mode] = append(ids[mode], p.ids[mode][i])
			}
		}
		if p.rows.Len() > 0 {
			all = all.Append(p.rows)
		}
	}
	return &batch{rows: all, unit: "data row", number: func(i int) int { return numbers[i] }, id: func(mode, i int) string { return ids[mode][i] }}, skipped, nil
}

// CheckTarget returns an error unless the scale and the likelihood of the model allow a
// value.
func CheckTarget(m *model.Model, y float64) error {
	if math.IsNaN(y) || math.IsInf(y, 0) {
		return fmt.Errorf("%s is not a finite number", targetscale.TargetText(y))
	}
	value := []float32{float32(y)}
	err := m.CheckTarget(value, 0)
	var domain *targetscale.DomainError
	switch n := m.Noise(); {
	case errors.As(err, &domain):
		return fmt.Errorf("%s is not a value that the model's target can have (%s)", targetscale.TargetText(y), m.Spec().Uncertainty.Likelihood+", "+m.Scale().Transform.String())
	case err != nil:
		return err
	case n.Bernoulli != nil && y != 0 && y != 1:
		return fmt.Errorf("%s is neither 0 nor 1, the values of the model's target", targetscale.TargetText(y))
	case n.Count() != nil && (y < 0 || y != math.Trunc(y)):
		return fmt.Errorf("%s is not a count", targetscale.TargetText(y))
	case m.Scale().NonNegative && y < 0:
		return fmt.Errorf("%s is below 0, and the model's target is not; correct it or leave the row out", targetscale.TargetText(y))
	}
	return nil
}
