package model

import (
	"errors"
	"maps"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/sideinfo"
)

// describeUnknown is withSelfDescribed, except that the ids of earlier calls are not
// computed again: the model keeps an extended model, up to a limit. A slice does not
// depend on the other slices of a model, so predictions do not depend on the calls
// before.
func (m *Model) describeUnknown(codes [][]int32, id func(mode, row int) string) *Model {
	latest := m.described.Load()
	if latest == nil {
		latest = m
	}
	extended := latest.withSelfDescribed(codes, id)
	switch {
	case extended == latest:
	case extended.muchLarger(m):
		m.described.Store(nil)
	default:
		m.described.Store(extended)
	}
	return extended
}

// withSelfDescribed returns a model that also contains those unknown ids of the rows
// whose side information can be computed from the id itself, such as future months
// of a mode time with side information @year,@month, and sets their codes. id
// returns the id of a row, "" if it is missing. Without such ids it returns m.
func (m *Model) withSelfDescribed(codes [][]int32, id func(mode, row int) string) *Model {
	unknown := make([]map[string]bool, len(m.modes))
	found := false
	for at := range m.modes {
		if m.selfDescribing(at) {
			unknown[at] = m.lookUp(at, codes[at], id)
			found = found || len(unknown[at]) > 0
		}
	}
	if !found {
		return m
	}
	extended := m.describeIDs(unknown)
	for at := range unknown {
		if len(unknown[at]) > 0 {
			extended.lookUp(at, codes[at], id)
		}
	}
	return extended
}

// selfDescribing reports whether a mode's side information, or its groups, can be
// computed from an id.
func (m *Model) selfDescribing(at int) bool {
	if m.lines[at] != nil && m.side[at] == nil && m.groupsOf(at) == nil {
		return m.lines[at].Regular()
	}
	if g := m.groupsOf(at); g != nil && m.side[at] == nil {
		return g.Table.FromIDs()
	}
	if m.modes[at].Smooth() {
		return m.informed[at]
	}
	if m.side[at] == nil || m.spec.Side.PlaceboOf(m.modes[at].Name) != "" {
		return false
	}
	table := m.side[at].Encoder.Spec()
	if m.groupsOf(at) != nil {
		return table.FromIDs() // the groups of a table are not known
	}
	return m.informed[at] && table.Described()
}

// lookUp sets the codes of ids that the model contains although their rows have none,
// and returns the ids that it does not contain.
func (m *Model) lookUp(at int, codes []int32, id func(mode, row int) string) map[string]bool {
	var unknown map[string]bool // nil for most calls
	for row, code := range codes {
		if code >= 0 {
			continue
		}
		name := id(at, row)
		if code, known := m.dicts[at].Code([]byte(name)); known {
			codes[row] = code
		} else if name != "" {
			if unknown == nil {
				unknown = map[string]bool{}
			}
			unknown[name] = true
		}
	}
	return unknown
}

// describeIDs returns a model that contains the ids, by mode, whose side information
// can be computed. An id for which it cannot, such as one that is not a date, stays
// unknown. Each id is computed alone, so the result does not depend on which ids
// come together.
func (m *Model) describeIDs(ids []map[string]bool) *Model {
	x := m.extend()
	found := false
	for at := range ids {
		var names []string
		var rows, lost []float32
		for _, id := range slices.Sorted(maps.Keys(ids[at])) {
			if row, gone, err := m.rowOfID(at, id); err == nil {
				names, rows, lost = append(names, id), append(rows, row...), append(lost, gone...)
			}
		}
		if len(names) == 0 {
			continue
		}
		joined, err := m.joinIDs(at, names)
		if err == nil {
			err = x.addRows(at, joined, rows, lost)
		}
		if err != nil {
			panic("model: " + err.Error()) // every single id was possible
		}
		found = true
	}
	if !found {
		return m
	}
	var err error
	m.engines.use(func(engine *cpu.Backend) { err = x.computeSlices(engine) })
	if err != nil {
		return m // more combinations than an index can hold: the ids stay unknown
	}
	return &x.Model
}

// muchLarger reports whether the model has added more ids to a mode than the limit
// for kept ids. Such a model is not kept for the next batch.
func (m *Model) muchLarger(fitted *Model) bool {
	for at, d := range m.dicts {
		if added := d.Len() - fitted.dicts[at].Len(); added > 0 && added > fitted.keepLimit(at) {
			return true
		}
	}
	return false
}

// errNoStep says that an id of time is not written like the others.
var errNoStep = errors.New("model: an id without a step")

// joinIDs returns what is computed from ids of a mode, for its groups. Without groups the
// operator rows suffice.
func (m *Model) joinIDs(at int, ids []string) (*sideinfo.Joined, error) {
	g := m.groupsOf(at)
	switch {
	case g == nil:
		return &sideinfo.Joined{IDs: ids}, nil
	case m.side[at] == nil:
		return sideinfo.JoinIDColumns(g.Table, m.modes[at], ids)
	}
	return sideinfo.JoinIDColumns(m.side[at].Encoder.Spec(), m.modes[at], ids)
}

// errNeverMissing says that a covariate has no weights for a missing value.
var errNeverMissing = errors.New("no value of the covariate was missing in the fit")

// rowOfID returns the operator row of an id whose side information is computed from
// the id, and the prior variance that the row lacks. Both are nil if the mode has groups
// only.
func (m *Model) rowOfID(at int, id string) (row, lost []float32, err error) {
	s := m.side[at]
	if m.modes[at].Smooth() && (id == dataset.MissingID || id == dataset.NoRowID) {
		return nil, nil, errNeverMissing
	}
	if s == nil {
		if m.groupsOf(at) == nil {
			if _, ok := m.stepOf(at, id); !ok {
				return nil, nil, errNoStep
			}
		}
		_, err := m.joinIDs(at, []string{id})
		return nil, nil, err
	}
	features, err := s.Encoder.RowOfID(m.modes[at], id)
	if err != nil {
		return nil, nil, err
	}
	return s.Operator.NewRows(features)
}
