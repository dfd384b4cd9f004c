package kft

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/nearest"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/sideinfo"
	"github.com/kernel-fried-tensor/kft/tt"
)

// WithSide returns a model that also knows the entities of the given tables of
// side information, written as in a specification: store=new_stores.csv. Ids
// without training rows are then predicted from that side row; those with some
// stay as they are, to the bit. stdin is the table called "-"; nil is the
// process's standard input.
func (m *Model) WithSide(ctx context.Context, tables []string, stdin io.Reader) (*Model, error) {
	path, err := cpu.Choose()
	if err != nil {
		return nil, err
	}
	g := m.grow()
	given := map[string]bool{}
	for _, text := range tables {
		spec, err := sideinfo.ParseSide(text)
		if err != nil {
			return nil, &SideError{err.Error()}
		}
		if given[spec.Mode] {
			return nil, sideErrorf("mode %s is given two tables; join them into one", spec.Mode)
		}
		given[spec.Mode] = true
		if err := g.addTable(ctx, spec, stdin); err != nil {
			return nil, err
		}
	}
	return &g.Model, g.extend(cpu.New(path, 0))
}

// A SideError is a side table that does not go with the model, whatever is in it.
type SideError struct{ Problem string }

func (e *SideError) Error() string { return "--side: " + e.Problem }

func sideErrorf(format string, args ...any) error { return &SideError{fmt.Sprintf(format, args...)} }

// growing is a model that is being given ids without training rows: first their
// side rows, mode by mode, then, by extend, what cores make of them.
type growing struct {
	Model
	fresh [][]int32 // by mode: codes that are new, or newly described
}

func (m *Model) grow() *growing {
	g := &growing{Model: *m, fresh: make([][]int32, len(m.modes))}
	g.dicts, g.side = slices.Clone(m.dicts), slices.Clone(m.side)
	return g
}

// addTable gives a mode the entities of a table.
func (g *growing) addTable(ctx context.Context, given sideinfo.Spec, stdin io.Reader) error {
	names := g.spec.ModeNames()
	at := slices.Index(names, given.Mode)
	if at < 0 {
		return sideErrorf("the model has no mode %q%s; its modes are %s", given.Mode, nearest.Hint(given.Mode, names), strings.Join(names, ", "))
	}
	s := g.side[at]
	switch {
	case !g.informed[at]:
		return sideErrorf("the model was fitted without side information of mode %s and cannot use any; fit it with --side %s=TABLE", given.Mode, given.Mode)
	case g.spec.Side.ReplaceOf(given.Mode) != "":
		return sideErrorf("the side information of mode %s was replaced by %s when the model was fitted (--side-replace), so a table of it says nothing", given.Mode, g.spec.Side.ReplaceOf(given.Mode))
	case s.encoder.Spec().Own():
		return sideErrorf("the side information of mode %s is its own columns, so new ids describe themselves; leave --side out", given.Mode)
	}
	spec, err := s.encoder.SpecFor(given)
	if err != nil {
		return &SideError{err.Error()}
	}
	frame, err := dataset.ReadFrame(ctx, spec.File, dataset.Format{Stdin: stdin})
	if err != nil {
		return err
	}
	joined, err := sideinfo.Entities(spec, g.modes[at], frame)
	if err != nil {
		return err
	}
	features, err := s.encoder.Encode(joined.Rows)
	if err != nil {
		return err
	}
	rows, lost, err := s.operator.NewRows(features)
	if err != nil {
		return err
	}
	g.describe(at, joined.IDs, rows, lost)
	return nil
}

// describe gives a mode rows of its operator for ids, but for those with training
// rows, with the prior variance that each lost.
func (g *growing) describe(at int, ids []string, rows, lost []float32) {
	s := g.side[at]
	width := s.operator.Columns()
	matrix, has, all := slices.Clone(s.operator.Matrix()), slices.Clone(s.has), slices.Clone(g.dicts[at].IDs())
	gone := slices.Clone(sideinfo.Lost(s.operator))
	if gone == nil {
		gone = make([]float32, len(all))
	}
	for i, id := range ids {
		row := rows[i*width:][:width]
		code, known := g.dicts[at].Code([]byte(id))
		switch {
		case !known:
			code = int32(len(all))
			all, has, matrix, gone = append(all, id), append(has, true), append(matrix, row...), append(gone, lost[i])
		case g.source(at, code) == fromTraining:
			continue
		default:
			copy(matrix[int(code)*width:][:width], row)
			has[code], gone[code] = true, lost[i]
		}
		g.fresh[at] = append(g.fresh[at], code)
	}
	g.dicts[at] = dataset.NewDict(all)
	g.side[at] = &sideMode{encoder: s.encoder, operator: sideinfo.WithMatrix(s.operator, matrix, gone), has: has}
}

// extend gives the cores slices for the fresh codes.
func (g *growing) extend(b backend.Backend) error {
	names := g.spec.ModeNames()
	sizes := make([]int, len(g.dicts))
	for i, d := range g.dicts {
		sizes[i] = d.Len()
	}
	field := &tt.Field{Group: g.field.Group}
	for _, t := range g.field.Terms {
		train := &tt.Train{}
		for _, c := range t.Cores {
			grown, err := g.extendCore(b, c, names, sizes)
			if err != nil {
				return err
			}
			train.Cores = append(train.Cores, grown)
		}
		field.Terms = append(field.Terms, train)
	}
	g.field = field
	g.markTrained()
	return nil
}

// extendCore returns the core itself where its modes did not grow.
func (g *growing) extendCore(b backend.Backend, c *tt.Core, names []string, sizes []int) (*tt.Core, error) {
	var operators []tt.Operator
	var fresh [][]int32
	grows := false
	for _, mode := range model.Positions(c.Modes, names) {
		var op tt.Operator
		if s := g.side[mode]; s != nil {
			op = s.operator
		}
		operators, fresh = append(operators, op), append(fresh, g.fresh[mode])
		grows = grows || len(g.fresh[mode]) > 0
	}
	if !grows {
		return c, nil
	}
	grown := *c
	return &grown, grown.Extend(b, sizes, operators, fresh)
}
