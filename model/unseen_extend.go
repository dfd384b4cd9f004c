package model

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
	"github.com/kernel-fried-tensor/kft/sideinfo"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/tt"
)

// A SideError reports a side table that the model cannot use, whatever its content.
type SideError struct{ Problem string }

func (e *SideError) Error() string { return "side table: " + e.Problem }

// FieldPath returns the path of the specification field.
func (e *SideError) FieldPath() string { return "side.tables" }

func sideErrorf(format string, args ...any) error { return &SideError{fmt.Sprintf(format, args...)} }

// WithSide returns a model that also contains the entities of the given side tables,
// written as in a specification: store=new_stores.csv. Ids without training rows
// are then predicted from their side rows. Predictions for ids with training rows
// stay the same, bit for bit. A file name that is a key of tables denotes that
// source.
func (m *Model) WithSide(ctx context.Context, sides []string, tables map[string]tableio.Source) (*Model, error) {
	x := m.extend()
	given := map[string]bool{}
	for _, text := range sides {
		table, err := sideinfo.ParseSpec(text)
		if err != nil {
			return nil, &SideError{err.Error()}
		}
		if given[table.Mode] {
			return nil, sideErrorf("mode %s has two tables; join them into one", table.Mode)
		}
		given[table.Mode] = true
		if err := x.addTable(ctx, table, tables); err != nil {
			return nil, err
		}
	}
	return &x.Model, x.computeSlices(m.engines.threaded(0))
}

// An extension is a copy of a model that receives ids without training rows: first
// their side rows, mode by mode, then the slices that the cores compute from them.
type extension struct {
	Model
	added [][]int32 // by mode: codes that are new or have a new side row
}

func (m *Model) extend() *extension {
	x := &extension{Model: *m.copy(), added: make([][]int32, len(m.modes))}
	x.dicts, x.side = slices.Clone(m.dicts), slices.Clone(m.side)
	return x
}

// addTable adds the entities of a table to its mode.
func (x *extension) addTable(ctx context.Context, given sideinfo.Spec, tables map[string]tableio.Source) error {
	names := x.spec.ModeNames()
	at := slices.Index(names, given.Mode)
	if at < 0 {
		return sideErrorf("the model has no mode %q%s; its modes are %s", given.Mode, suggest.Hint(given.Mode, names), strings.Join(names, ", "))
	}
	s := x.side[at]
	switch {
	case !x.informed[at]:
		return sideErrorf("the model was fitted without side information of mode %s; fit it with a side table of %s to use one", given.Mode, given.Mode)
	case x.spec.Side.PlaceboOf(given.Mode) != "":
		return sideErrorf("the side information of mode %s was replaced by %s in the fit (side.placebo), so the model cannot use a table of it", given.Mode, x.spec.Side.PlaceboOf(given.Mode))
	case s.Encoder.Spec().FromIDs():
		return sideErrorf("the side information of mode %s is computed from its ids, so new ids need no table; leave it out", given.Mode)
	}
	table, err := s.Encoder.SpecFor(given)
	if err != nil {
		return &SideError{err.Error()}
	}
	frame, err := tableio.ReadFrame(ctx, tableio.Named(tables, table.File), tableio.Format{})
	if err != nil {
		return err
	}
	joined, err := sideinfo.TableEntities(table, x.modes[at], frame)
	if err != nil {
		return err
	}
	features, err := s.Encoder.Encode(joined.Rows)
	if err != nil {
		return err
	}
	rows, lost, err := s.Operator.NewRows(features)
	if err != nil {
		return err
	}
	x.addRows(at, joined.IDs, rows, lost)
	return nil
}

// addRows gives a mode operator rows for ids, except for ids with training rows.
// lost is the prior variance that each row of the truncated operator lacks.
func (x *extension) addRows(at int, ids []string, rows, lost []float32) {
	s := x.side[at]
	width := s.Operator.Columns()
	matrix, has, all := slices.Clone(s.Operator.Matrix()), slices.Clone(s.Has), slices.Clone(x.dicts[at].IDs())
	gone := slices.Clone(sideinfo.ResidualVariance(s.Operator))
	if gone == nil {
		gone = make([]float32, len(all))
	}
	for i, id := range ids {
		row := rows[i*width:][:width]
		code, known := x.dicts[at].Code([]byte(id))
		switch {
		case !known:
			code = int32(len(all))
			all, has, matrix, gone = append(all, id), append(has, true), append(matrix, row...), append(gone, lost[i])
		case x.Origin(at, code) == FromTraining:
			continue
		default:
			copy(matrix[int(code)*width:][:width], row)
			has[code], gone[code] = true, lost[i]
		}
		x.added[at] = append(x.added[at], code)
	}
	x.dicts[at] = dataset.NewDict(all)
	x.side[at] = &Side{Encoder: s.Encoder, Operator: sideinfo.WithAddedRows(s.Operator, matrix, gone), Has: has}
}

// computeSlices gives the cores slices for the added codes.
func (x *extension) computeSlices(b backend.Backend) error {
	names := x.spec.ModeNames()
	sizes := make([]int, len(x.dicts))
	for i, d := range x.dicts {
		sizes[i] = d.Len()
	}
	field := &tt.Field{Group: x.field.Group, Offset: x.field.Offset}
	for _, t := range x.field.Terms {
		train := &tt.Train{}
		for _, c := range t.Cores {
			extended, err := x.extendCore(b, c, names, sizes)
			if err != nil {
				return err
			}
			train.Cores = append(train.Cores, extended)
		}
		field.Terms = append(field.Terms, train)
	}
	x.field = field
	x.findTrained()
	return nil
}

// extendCore returns the core itself if its modes received no codes.
func (x *extension) extendCore(b backend.Backend, c *tt.Core, names []string, sizes []int) (*tt.Core, error) {
	var operators []tt.Operator
	var added [][]int32
	changes := false
	for _, mode := range spec.Positions(c.Modes, names) {
		var op tt.Operator
		if s := x.side[mode]; s != nil {
			op = s.Operator
		}
		operators, added = append(operators, op), append(added, x.added[mode])
		changes = changes || len(x.added[mode]) > 0
	}
	if !changes {
		return c, nil
	}
	extended := *c
	return &extended, extended.Extend(b, sizes, operators, added)
}
