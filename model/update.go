package model

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/blend"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/ledger"
	"github.com/kernel-fried-tensor/kft/panel"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/entity"
	"github.com/kernel-fried-tensor/kft/tt/regression"
)

// A model that took in rows after its fit holds the fitted model and the ledger of these
// rows; see package update. Its file holds both, and the rows are taken in again when it
// is loaded.

// Ledger returns what the model keeps for updates, nil if it cannot be updated.
func (m *Model) Ledger() *ledger.Ledger { return m.ledger }

// WithLedger returns the model with a ledger.
func (m *Model) WithLedger(l *ledger.Ledger) *Model {
	changed := m.copy()
	changed.ledger = l
	return changed
}

// Fitted returns the model without the rows that it took in after the fit: m itself if
// there are none. What was added to m since, such as a conformal correction, is kept.
func (m *Model) Fitted() *Model {
	if m.fitted == nil {
		return m
	}
	f := m.fitted.copy()
	f.spec, f.record, f.means, f.correction = m.spec, m.record, m.means, m.correction
	f.setNoise(m.noise)
	f.resolve()
	return f
}

// outgrown reports whether row i has an id that the corrections of the model are not for:
// one that got its first rows after the fit, while the corrections are those of ids
// without rows.
func (m *Model) outgrown(rows *Rows, i int) bool {
	if m.fitted == nil || m.cold < 0 {
		return false
	}
	code := rows.Codes[m.cold][i]
	return m.TrainingRows(m.cold, code) > 0 && m.fitted.TrainingRows(m.cold, code) == 0
}

// An Updated is what rows that a model takes in after its fit change.
type Updated struct {
	Field  *tt.Field
	Rows   [][]int32   // by mode and code
	Means  [][]float64 // by mode and code; nil if they are not known
	Series *panel.Panel
	Blend  *blend.Table
	Ledger *ledger.Ledger
}

// WithUpdate returns the fitted model m with what its ledger's rows changed.
func (m *Model) WithUpdate(u Updated) (*Model, error) {
	changed := m.copy()
	changed.fitted = m
	changed.held = tt.Moments{} // of another model
	changed.field, changed.rows, changed.seen, changed.series, changed.blend, changed.ledger = u.Field, u.Rows, u.Means, u.Series, u.Blend, u.Ledger
	if err := changed.findLines(); err != nil {
		return nil, err
	}
	changed.findTrained()
	changed.cold = slices.Index(m.spec.ModeNames(), u.Ledger.Cold)
	return changed, nil
}

// UpdatedAxes returns the axes of a core over modes whose sizes are given, and its
// operators.
func (m *Model) UpdatedAxes(core []string, sizes []int) ([]entity.Axis, []regression.Operator) {
	axes, err := Axes(core, m.spec.ModeNames(), sizes, m.groups)
	if err != nil {
		panic("model: " + err.Error()) // the core was built with them
	}
	return axes, m.operatorsOf(axes)
}

// WithIDs returns the model with further ids, by mode. Ids that describe themselves, such
// as future months, get their side information; the others have none.
func (m *Model) WithIDs(ids [][]string) (*Model, error) {
	described := make([]map[string]bool, len(m.modes))
	for at, names := range ids {
		described[at] = map[string]bool{}
		if m.selfDescribing(at) {
			for _, id := range names {
				described[at][id] = true
			}
		}
	}
	x := m.describeIDs(described).extend()
	for at, names := range ids {
		names = slices.DeleteFunc(slices.Clone(names), func(id string) bool { return x.Code(at, id) >= 0 })
		if len(names) == 0 {
			continue
		}
		all := slices.Concat(x.dicts[at].IDs(), names)
		if g := x.groupsOf(at); g != nil {
			x.groups[at] = g.WithoutRows(len(all))
		}
		if s := x.side[at]; s != nil {
			x.addOperatorRows(at, len(all), nil, nil, nil)
			x.side[at].Table = s.Table.With(len(all), nil, nil, nil)
		}
		x.dicts[at] = dataset.NewDict(all)
		for code := range names {
			x.added[at] = append(x.added[at], int32(x.dicts[at].Len()-len(names)+code))
		}
	}
	var err error
	m.engines.use(func(engine *cpu.Backend) { err = x.extendAxes(engine) })
	return &x.Model, err
}

// extendAxes gives the cores of modes with more ids the room for them. The ids have no
// slices.
func (x *extension) extendAxes(engine *cpu.Backend) error {
	field := *x.field
	field.Terms = slices.Clone(x.field.Terms)
	for k, t := range field.Terms {
		train := &tt.Train{Cores: slices.Clone(t.Cores)}
		for p, c := range t.Cores {
			axes := x.axesOf(c)
			if slices.EqualFunc(axes, c.Index.Axes(), func(a, b entity.Axis) bool { return a.Size == b.Size && len(a.Group) == len(b.Group) }) {
				continue
			}
			extended := *c
			if err := extended.Extend(engine, axes, x.operatorsOf(axes), make([][]int32, len(axes))); err != nil {
				return err
			}
			train.Cores[p] = &extended
		}
		field.Terms[k] = train
	}
	x.field = &field
	if err := x.findLines(); err != nil {
		return err
	}
	for i, s := range field.Series {
		line := x.lines[s.Time].Steps()
		if len(line) == len(s.Steps) {
			continue
		}
		extended := *s
		extended.Steps = nil
		for _, step := range line {
			extended.Steps = append(extended.Steps, int32(step))
		}
		if i == 0 {
			field.Series = slices.Clone(field.Series)
		}
		field.Series[i] = &extended
	}
	x.findTrained()
	return nil
}

// TimeStep returns the step of an id in a mode along which the model has series. It is
// false for an id that is not a step of them, or lies before the first.
func (m *Model) TimeStep(mode int, id string) (int32, bool) { return m.stepOf(mode, id) }

// ledger reads the ledger.
func (d *decoder) ledger() error {
	if _, has := d.f.Meta["update"]; !has {
		return nil
	}
	var meta ledger.Meta
	if err := d.get("update", &meta); err != nil {
		return err
	}
	sizes := make([]int, len(d.m.dicts))
	for mode, dict := range d.m.dicts {
		sizes[mode] = dict.Len()
	}
	outer := func(term, core int) *tt.Core {
		if term < 0 || term >= len(d.m.field.Terms) {
			return nil
		}
		cores := d.m.field.Terms[term].Cores
		if core != 0 && core != len(cores)-1 {
			return nil
		}
		return cores[core]
	}
	var err error
	d.m.ledger, err = ledger.Read(d.f, meta, ledger.Shape{Sizes: sizes, Relations: func(term, core int) (int, bool) {
		c := outer(term, core)
		if c == nil {
			return 0, false
		}
		r := c.Slices.Slice()
		return c.TrainedEntities() * r * (r - 1) / 2, c.Free != nil && r > 1 && c.Slices.Var != nil
	}, Curve: func(term, core int) (int, bool) {
		c := outer(term, core)
		if c == nil || !c.Curve() || c.Map.Systems() > 1 {
			return 0, false
		}
		return c.Map.Columns() * c.Slices.Slice(), true
	}, PerID: func(term, core int) (int, bool) {
		c := outer(term, core)
		if c == nil || !c.Curve() || len(d.m.field.Terms[term].Cores) > 1 || c.Map.Columns() > ledger.MostCurves {
			return 0, false
		}
		return c.TrainedEntities(), true
	}})
	return err
}

// Encode returns the codes of cells, negative for ids that the model does not contain,
// their weights and exposures, and a function for their ids.
func (m *Model) Encode(cells []Cell) (codes [][]int32, given Rows, id func(mode, i int) string, err error) {
	given, id, err = m.rowsOf(cells)
	return given.Codes, given, id, err
}

// VisitRows reads a table that has the target and calls see for its batches, several at a
// time. Codes are those of the model, negative for ids that it does not contain.
func (m *Model) VisitRows(ctx context.Context, source tableio.Source, opt TableOptions, see func(b *tableio.Batch) error) (int, error) {
	var rows atomic.Int64
	schema := m.targetSchema()
	err := tableio.VisitBatches(ctx, source, schema, m.dicts[:len(schema.Modes)], m.format(opt), opt.Threads, func(b *tableio.Batch) error {
		b.LeaveOutNoIDs()
		codes, id, wrong := m.covariates.Encode(b.Codes, b.Field)
		if wrong != nil {
			return fmt.Errorf("data row %d: %w", b.First+wrong.Row+1, wrong)
		}
		b.Codes = codes
		b.SetIDs(id)
		rows.Add(int64(len(b.Y)))
		return see(b)
	})
	return int(rows.Load()), err
}
