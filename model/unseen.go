package model

import (
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/tt"
)

// An Origin is the source of the weights of an id.
type Origin uint8

const (
	FromTraining Origin = iota // the id has training rows
	FromSide                   // the id has no training rows, but a side row
	FromPrior                  // the id has neither: it gets the prior, which is the average id
)

// findTrained finds the ids that the field has weights for, and the modes whose
// side information it uses. A mode that no term uses needs neither.
func (m *Model) findTrained() {
	m.trained, m.informed = make([][]bool, len(m.modes)), make([]bool, len(m.modes))
	names := m.spec.ModeNames()
	for _, t := range m.field.Terms {
		for _, c := range t.Cores {
			width := len(c.Modes)
			combos := c.Index.Combinations()[:c.TrainedEntities()*width]
			for i, at := range spec.Positions(c.Modes, names) {
				if m.trained[at] == nil {
					m.trained[at] = make([]bool, m.dicts[at].Len())
				}
				m.informed[at] = m.informed[at] || c.Map != nil && m.side[at] != nil
				for e := i; e < len(combos); e += width {
					m.trained[at][combos[e]] = true
				}
			}
		}
	}
}

// Origin returns where the weights of a code come from.
func (m *Model) Origin(mode int, code int32) Origin {
	switch {
	case code < 0:
		return FromPrior
	case m.trained[mode] == nil || m.trained[mode][code]:
		return FromTraining
	case m.informed[mode] && m.side[mode].Has[code]:
		return FromSide
	}
	return FromPrior
}

// ForgetUntrained sets codes to tt.Unknown for ids that have neither training rows
// nor side information, although they may occur in other rows of the fitted table.
// They are then predicted by the prior, like any other unseen id.
func (m *Model) ForgetUntrained(codes [][]int32) {
	for mode, column := range codes {
		for i, c := range column {
			if m.Origin(mode, c) == FromPrior {
				column[i] = tt.Unknown
			}
		}
	}
}
