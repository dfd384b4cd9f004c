package model

import (
	"github.com/kernel-fried-tensor/kft/heaping"
	"github.com/kernel-fried-tensor/kft/predictive/noisemodel"
)

// WithHeaping returns the model with factors of values of the target, nil for none.
func (m *Model) WithHeaping(t *heaping.Table) *Model {
	changed := m.copy()
	changed.heaping = t
	return changed
}

// Heaping returns the factors of values of the target, nil if there are none.
func (m *Model) Heaping() *heaping.Table { return m.heaping }

// EntitiesOf returns the index of the entities of modes: the codes of one mode, or the
// combinations of a term; nil if there is no such term.
func (m *Model) EntitiesOf(modes []int) noisemodel.EntityIndex {
	for _, mode := range modes {
		if mode < 0 || mode >= len(m.modes) {
			return nil
		}
	}
	if len(modes) == 1 {
		return noisemodel.ModeCode(modes[0])
	}
	if x := m.CombinationsOf(modes); x != nil {
		return x
	}
	return nil
}

// HeapedBy returns the names of the entities that have factors of values, "all" for all
// rows.
func (m *Model) HeapedBy() (names []string) {
	if m.heaping == nil {
		return nil
	}
	for _, l := range m.heaping.Levels() {
		name := "all"
		for i, mode := range l.Modes {
			if i == 0 {
				name = m.modes[mode].Name
			} else {
				name += "*" + m.modes[mode].Name
			}
		}
		names = append(names, name)
	}
	return names
}
