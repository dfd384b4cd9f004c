package kft

import (
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/tt"
)

// source says what a prediction takes an id's weights from.
type source uint8

const (
	fromTraining source = iota // rows of the id in the training data
	fromSide                   // the id's side row alone
	fromPrior                  // the average id: nothing is known of it
)

// markTrained notes which ids the field has weights for, and of which modes it
// uses side information. An id of a mode that no term uses needs neither.
func (m *Model) markTrained() {
	m.trained, m.informed = make([][]bool, len(m.modes)), make([]bool, len(m.modes))
	names := m.spec.ModeNames()
	for _, t := range m.field.Terms {
		for _, c := range t.Cores {
			width := len(c.Modes)
			combos := c.Index.Combinations()[:c.TrainedEntities()*width]
			for i, at := range model.Positions(c.Modes, names) {
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

// source returns where the weights of a code come from.
func (m *Model) source(mode int, code int32) source {
	switch {
	case code < 0:
		return fromPrior
	case m.trained[mode] == nil || m.trained[mode][code]:
		return fromTraining
	case m.informed[mode] && m.side[mode].has[code]:
		return fromSide
	}
	return fromPrior
}

// forgetUntrained sets the codes of ids that are neither in the training data
// nor have side information, though they may be in other rows of the fitted
// table, to unknown.
func (m *Model) forgetUntrained(codes [][]int32) {
	for mode, column := range codes {
		for i, c := range column {
			if m.source(mode, c) == fromPrior {
				column[i] = tt.Unknown
			}
		}
	}
}
