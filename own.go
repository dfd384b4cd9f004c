package kft

import (
	"maps"
	"slices"

	"github.com/kernel-fried-tensor/kft/sideinfo"
)

// meet returns a model that also knows the unknown ids of rows that describe
// themselves, such as months to come of a mode time whose side information is
// @year,@month, and sets their codes. id gives the id of a row, "" where it is
// missing. Where there is nothing new the model is m itself.
func (m *Model) meet(codes [][]int32, id func(mode, row int) string) *Model {
	fresh := make([]map[string]bool, len(m.modes))
	found := false
	for at := range m.modes {
		if m.describesItself(at) {
			fresh[at] = m.lookUp(at, codes[at], id)
			found = found || len(fresh[at]) > 0
		}
	}
	if !found {
		return m
	}
	grown := m.withOwn(fresh)
	for at := range fresh {
		if len(fresh[at]) > 0 {
			grown.lookUp(at, codes[at], id)
		}
	}
	return grown
}

// describesItself tells whether a mode's side information can be computed from an
// id.
func (m *Model) describesItself(at int) bool {
	return m.informed[at] && m.side[at].encoder.Spec().Own() && m.spec.Side.ReplaceOf(m.modes[at].Name) == ""
}

// lookUp sets the codes of unknown ids that the model knows, and returns those it
// does not.
func (m *Model) lookUp(at int, codes []int32, id func(mode, row int) string) map[string]bool {
	unknown := map[string]bool{}
	for row, code := range codes {
		if code >= 0 {
			continue
		}
		name := id(at, row)
		if code, known := m.dicts[at].Code([]byte(name)); known {
			codes[row] = code
		} else if name != "" {
			unknown[name] = true
		}
	}
	return unknown
}

// withOwn returns a model that knows those of the ids, by mode, that describe
// themselves; an id that does not, because it is no date for one, stays unknown.
// Each is computed by itself, so that it does not matter which come together.
func (m *Model) withOwn(ids []map[string]bool) *Model {
	g := m.grow()
	for at := range ids {
		var names []string
		var rows, lost []float32
		for _, id := range slices.Sorted(maps.Keys(ids[at])) {
			if row, gone, err := m.ownRow(at, id); err == nil {
				names, rows, lost = append(names, id), append(rows, row...), append(lost, gone...)
			}
		}
		if len(names) > 0 {
			g.describe(at, names, rows, lost)
		}
	}
	if !slices.ContainsFunc(g.fresh, func(codes []int32) bool { return len(codes) > 0 }) {
		return m
	}
	engine, err := newEngine()
	if err != nil {
		return m
	}
	if err := g.extend(engine); err != nil {
		return m // more combinations than can be told apart
	}
	return &g.Model
}

// muchLarger tells whether a model knows so many more ids than another that it is
// better forgotten.
func (m *Model) muchLarger(than *Model) bool {
	for at, d := range m.dicts {
		if grown := d.Len() - than.dicts[at].Len(); grown > 0 && grown > than.keepLimit(at) {
			return true
		}
	}
	return false
}

// ownRow returns the row of the operator of a mode's own columns for an id, and what
// it lost of the prior's variance.
func (m *Model) ownRow(at int, id string) (row, lost []float32, err error) {
	s := m.side[at]
	joined, err := sideinfo.JoinOwn(s.encoder.Spec(), m.modes[at], []string{id})
	if err != nil {
		return nil, nil, err
	}
	features, err := s.encoder.Encode(joined.Rows)
	if err != nil {
		return nil, nil, err
	}
	return s.operator.NewRows(features)
}
