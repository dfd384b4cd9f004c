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
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/entity"
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
	x.dicts, x.side, x.groups = slices.Clone(m.dicts), slices.Clone(m.side), slices.Clone(m.groups)
	return x
}

// addTable adds the entities of a table to its mode.
func (x *extension) addTable(ctx context.Context, given sideinfo.Spec, tables map[string]tableio.Source) error {
	names := x.spec.ModeNames()
	at := slices.Index(names, given.Mode)
	if at < 0 {
		return sideErrorf("the model has no mode %q%s; its modes are %s", given.Mode, suggest.Hint(given.Mode, names), strings.Join(names, ", "))
	}
	s, groups := x.side[at], x.groupsOf(at)
	switch {
	case !x.informed[at] && groups == nil:
		return sideErrorf("the model was fitted without side information of mode %s; fit it with a side table of %s to use one", given.Mode, given.Mode)
	case x.spec.Side.PlaceboOf(given.Mode) != "":
		return sideErrorf("the side information of mode %s was replaced by %s in the fit (side.placebo), so the model cannot use a table of it", given.Mode, x.spec.Side.PlaceboOf(given.Mode))
	case s != nil && s.Encoder.Spec().FromIDs(), s == nil && groups.Table.FromIDs():
		return sideErrorf("the side information of mode %s is computed from its ids, so new ids need no table; leave it out", given.Mode)
	}
	var table sideinfo.Spec
	var err error
	if s != nil {
		table, err = s.Encoder.SpecFor(given)
		table = table.WithGroups(groups.Names())
	} else {
		table, err = groups.SpecFor(given)
	}
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
	var features sideinfo.Features
	if s != nil {
		if features, err = s.Encoder.Encode(joined.Rows); err != nil {
			return err
		}
	}
	return x.addIDs(at, joined, features)
}

// addIDs adds the ids of side rows to a mode, with their operator rows and groups.
// features are those of the rows, if the mode has an operator.
func (x *extension) addIDs(at int, joined *sideinfo.Joined, features sideinfo.Features) error {
	var rows, lost []float32
	if s := x.side[at]; s != nil {
		var err error
		if rows, lost, err = s.Operator.NewRows(features); err != nil {
			return err
		}
	}
	return x.addRows(at, joined, rows, lost)
}

// addRows gives a mode the operator rows and the groups of ids, except for ids with
// training rows. lost is the prior variance that each row of the truncated operator
// lacks. Without an operator rows and lost are nil.
func (x *extension) addRows(at int, joined *sideinfo.Joined, rows, lost []float32) error {
	codes := make([]int32, len(joined.IDs)) // entity.Unknown for ids with training rows
	all := slices.Clone(x.dicts[at].IDs())
	for i, id := range joined.IDs {
		code, known := x.dicts[at].Code([]byte(id))
		switch {
		case !known:
			code = int32(len(all))
			all = append(all, id)
		case x.Origin(at, code) == FromTraining:
			codes[i] = entity.Unknown
			continue
		}
		codes[i] = code
		x.added[at] = append(x.added[at], code)
	}
	if g := x.groupsOf(at); g != nil {
		var err error
		if x.groups[at], err = g.WithIDs(len(all), codes, joined.Rows); err != nil {
			return err
		}
	}
	if x.side[at] != nil {
		x.addOperatorRows(at, len(all), codes, rows, lost)
		x.side[at].Table = x.side[at].Table.With(len(all), codes, joined.Rows, x.side[at].Encoder.Plain)
	}
	x.dicts[at] = dataset.NewDict(all)
	return nil
}

// addOperatorRows extends the operator of a mode to n ids and sets the rows of some
// codes.
func (x *extension) addOperatorRows(at, n int, codes []int32, rows, lost []float32) {
	s := x.side[at]
	width := s.Operator.Columns()
	matrix, has, gone := make([]float32, n*width), make([]bool, n), make([]float32, n)
	copy(matrix, s.Operator.Matrix())
	copy(has, s.Has)
	copy(gone, sideinfo.ResidualVariance(s.Operator))
	for i, code := range codes {
		if code >= 0 {
			copy(matrix[int(code)*width:][:width], rows[i*width:][:width])
			has[code], gone[code] = true, lost[i]
		}
	}
	x.side[at] = &Side{Encoder: s.Encoder, Operator: sideinfo.WithAddedRows(s.Operator, matrix, gone), Has: has, Table: s.Table}
}

// computeSlices gives the cores slices for the added codes.
func (x *extension) computeSlices(b backend.Backend) error {
	field := &tt.Field{Group: x.field.Group, Offset: x.field.Offset, Response: x.field.Response}
	for _, t := range x.field.Terms {
		train := &tt.Train{}
		for _, c := range t.Cores {
			extended, err := x.extendCore(b, c)
			if err != nil {
				return err
			}
			train.Cores = append(train.Cores, extended)
		}
		field.Terms = append(field.Terms, train)
	}
	field.Series = x.extendSeries()
	x.field = field
	x.findTrained()
	return nil
}

// extendCore returns the core itself if its modes received no codes.
func (x *extension) extendCore(b backend.Backend, c *tt.Core) (*tt.Core, error) {
	if c.Along != nil {
		return x.extendAlong(c)
	}
	var added [][]int32
	changes := false
	axes := x.axesOf(c)
	operators := x.operatorsOf(axes)
	for i, a := range axes {
		var codes []int32
		if operators[i] != nil || x.side[a.Mode] != nil && a.Group == nil {
			codes = x.added[a.Mode]
		}
		added = append(added, codes)
		changes = changes || len(codes) > 0 || a.Group != nil && len(x.added[a.Mode]) > 0
	}
	if !changes {
		return c, nil
	}
	extended := *c
	return &extended, extended.Extend(b, axes, operators, added)
}
