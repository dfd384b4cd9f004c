package model

// WithCorrectionsOf returns the model with the corrections of another model of the same
// specification: they depend on standardised scores and on predictions, not on weights.
func (m *Model) WithCorrectionsOf(measured *Model) *Model {
	changed := m.copy()
	changed.correction, changed.groupMode, changed.means, changed.copula = measured.correction, measured.groupMode, measured.means, measured.copula
	return changed
}
