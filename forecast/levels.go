package forecast

import (
	"context"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/sideinfo"
	"github.com/kernel-fried-tensor/kft/spec"
)

// levels divide the ids of a mode: each id is a level of its own, or ids with the same
// value in a column share one.
type levels struct {
	name string // as in item.vendor
	mode int
	dict *dataset.Dict
	of   func(code int32) string // nil for the ids themselves
}

// at returns the level of an id, which the model may not know.
func (l *levels) at(code int32, id string) string {
	if l.of == nil {
		return id
	}
	if code < 0 || int(code) >= l.dict.Len() {
		var known bool
		if code, known = l.dict.Code([]byte(id)); !known {
			return ""
		}
	}
	return l.of(code)
}

// codesOf returns the codes of the ids of a level.
func (l *levels) codesOf(level string) []int32 {
	if l.of == nil {
		if code, known := l.dict.Code([]byte(level)); known {
			return []int32{code}
		}
		return nil
	}
	var codes []int32
	for code := range int32(l.dict.Len()) {
		if l.of(code) == level {
			codes = append(codes, code)
		}
	}
	return codes
}

// all returns the levels.
func (l *levels) all() []string {
	if l.of == nil {
		return l.dict.IDs()
	}
	var all []string
	for code := range int32(l.dict.Len()) {
		all = append(all, l.of(code))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// findLevels returns the levels that a name such as store or item.vendor denotes: groups
// of the model, or a column of a table in Options.Side.
func findLevels(m *model.Model, o *Options, name, field string) (*levels, error) {
	modes := m.Spec().ModeNames()
	mode, column := spec.CutGroup(name, modes)
	if mode < 0 {
		known := append(slices.Clone(modes), m.GroupNames()...)
		return nil, fielderr.Errorf(field, "the model has no mode or group %q%s; it has %s", name, suggest.Hint(name, known), strings.Join(known, ", "))
	}
	l := &levels{name: name, mode: mode, dict: m.Dicts()[mode]}
	if column == "" {
		return l, nil
	}
	if g := m.GroupColumn(mode, column); g != nil {
		l.of = func(code int32) string {
			if int(code) >= len(g.Of) || g.Of[code] < 0 {
				return ""
			}
			return g.Levels[g.Of[code]]
		}
		return l, nil
	}
	table, given := o.groups[modes[mode]]
	if !given {
		return nil, fielderr.Errorf(field, "the groups %s are not known, because no term of the model uses them; give a side table of %s that has the column %s", name, modes[mode], column)
	}
	values, err := readLevels(context.Background(), table, o.Tables, m.Modes()[mode], l.dict.IDs(), column, tableio.Format{})
	if err != nil {
		return nil, err
	}
	l.of = func(code int32) string { return values[code] }
	return l, nil
}

// readLevels returns the values of ids in a column of a side table, "" for missing ones and those of ids without a row.
func readLevels(ctx context.Context, table sideinfo.Spec, named map[string]tableio.Source, mode dataset.Mode, ids []string, column string, format tableio.Format) ([]string, error) {
	joined, err := sideinfo.Open(ctx, table.WithGroups([]string{column}), tableio.Named(named, table.File), mode, ids, format)
	if err != nil {
		return nil, err
	}
	at, err := joined.Rows.Find(column)
	if err != nil {
		return nil, fielderr.Errorf("by", "%s: %w", table.File, err)
	}
	levels := slices.Clone(joined.Rows.Columns[at])
	for i, level := range levels {
		if dataset.Missing(level) {
			levels[i] = ""
		}
	}
	return levels, nil
}

// withSide returns the model with the ids of the side tables of modes whose side information
// it uses, and keeps the tables for groups.
func (o *Options) withSide(ctx context.Context, m *model.Model) (*model.Model, error) {
	used := map[string]bool{}
	for _, s := range m.Record().Side {
		used[s.Mode] = true
	}
	o.groups = map[string]sideinfo.Spec{}
	var sides []string
	for _, text := range o.Side {
		table, err := sideinfo.ParseSpec(text)
		if err != nil {
			return nil, err
		}
		if table.File != "" {
			o.groups[table.Mode] = table
		}
		if used[table.Mode] || !slices.Contains(m.Spec().ModeNames(), table.Mode) {
			sides = append(sides, text) // the model reports an unknown mode
		}
	}
	if len(sides) == 0 {
		return m, nil
	}
	return m.WithSide(ctx, sides, o.Tables)
}
