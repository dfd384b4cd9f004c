package model

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/sideinfo"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/tt/entity"
)

// An Origin is the source of the weights of an id.
type Origin uint8

const (
	FromTraining Origin = iota // the id has training rows
	FromSide                   // the id has no training rows, but a side row: its side information, or its groups
	FromPrior                  // the id has neither: it gets the prior, which is the average id
)

// findTrained finds the ids that the field has weights for, and the modes whose
// side information it uses. A mode that no term uses needs neither.
func (m *Model) findTrained() {
	m.trained, m.informed = make([][]bool, len(m.modes)), make([]bool, len(m.modes))
	groups := map[*sideinfo.GroupColumn][]bool{}
	names := m.spec.ModeNames()
	for _, t := range m.field.Terms {
		for _, c := range t.Cores {
			if c.Along != nil {
				continue // see findSeries
			}
			width := len(c.Modes)
			combos := c.Index.Combinations()[:c.TrainedEntities()*width]
			for i, name := range c.Modes {
				at, column := spec.CutGroup(name, names)
				var seen []bool
				if column == "" {
					if m.trained[at] == nil {
						m.trained[at] = make([]bool, m.dicts[at].Len())
					}
					m.informed[at] = m.informed[at] || c.Map != nil && m.side[at] != nil
					seen = m.trained[at]
				} else {
					g := m.groups[at].Column(column)
					if groups[g] == nil {
						groups[g] = make([]bool, len(g.Levels))
					}
					seen = groups[g]
				}
				for e := i; e < len(combos); e += width {
					seen[combos[e]] = true
				}
				if width == 1 || !c.Curve() || column != "" || m.modes[at].Smooth() {
					continue
				}
				for code, rows := range m.rows[at] { // a curve per id: rows after the fit gave it weights
					seen[code] = seen[code] || rows > 0
				}
			}
		}
	}
	for at, trained := range m.trained {
		for code := range trained { // between the fitted numbers of a covariate the curve is known
			trained[code] = trained[code] || m.covariates.Within(at, m.dicts[at].ID(int32(code)))
		}
	}
	m.findGrouped(groups)
	m.findSeries()
}

// isTrained reports whether a code has training rows, so that its Origin is FromTraining;
// for most rows of a table that is all there is to know.
func (m *Model) isTrained(mode int, code int32) bool {
	return code >= 0 && m.trained[mode] != nil && m.trained[mode][code]
}

// Origin returns where the weights of a code come from.
func (m *Model) Origin(mode int, code int32) Origin {
	code = entity.CodeOf(code)
	switch {
	case m.trained[mode] == nil && m.modes[mode].Covariate():
		return FromTraining // no term uses it
	case code < 0:
		return FromPrior
	case m.trained[mode] == nil || m.trained[mode][code]:
		return FromTraining
	case m.hasSideRow(mode, code), m.grouped[mode] != nil && m.grouped[mode][code]:
		return FromSide
	}
	return FromPrior
}

// sideModes returns the modes that a row predicted from the side information of a mode is named after: that mode, and for
// a point the numbers that lie beyond the range of the fit, unless the row is named after them already.
func (m *Model) sideModes(mode int, codes [][]int32, row int) []int {
	numbers := m.numbersBeyond(mode, codes, row)
	if len(numbers) == 0 {
		return []int{mode}
	}
	return slices.DeleteFunc(numbers, func(at int) bool {
		for before := range mode {
			if slices.Contains(m.numbersBeyond(before, codes, row), at) {
				return true
			}
		}
		return m.Origin(at, codes[at][row]) == FromSide
	})
}

// numbersBeyond returns the modes whose number in the point of a row lies beyond the range of the fit.
func (m *Model) numbersBeyond(mode int, codes [][]int32, row int) []int {
	code := codes[mode][row]
	if !m.modes[mode].Joint() || m.Origin(mode, code) != FromSide {
		return nil
	}
	return m.covariates.Beyond(mode, m.dicts[mode].ID(code))
}

// hasSideRow reports whether cores use the side information of an id.
func (m *Model) hasSideRow(mode int, code int32) bool {
	return m.informed[mode] && m.side[mode].Has[code]
}

// ForgetUntrained sets codes to entity.Unknown for ids that have neither training rows
// nor side information, although they may occur in other rows of the fitted table.
// They are then predicted by the prior, like any other unseen id. An id of which only
// the groups are known keeps these; see entity.OnlyGroups.
func (m *Model) ForgetUntrained(codes [][]int32) {
	for mode, column := range codes {
		for i, c := range column {
			if m.isTrained(mode, c) {
				continue
			}
			switch m.Origin(mode, c) {
			case FromPrior:
				column[i] = entity.Unknown
			case FromSide:
				if code := entity.CodeOf(c); !m.hasSideRow(mode, code) {
					column[i] = entity.OnlyGroups(code)
				}
			}
		}
	}
}
