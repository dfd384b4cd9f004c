package model

// A Refit describes a second training on the rows of all parts, with what the first one
// had chosen. The scores, the noise, the conformal correction and the correction of means
// are those of the first.
type Refit struct {
	Rows    int     `json:"rows"`
	Sweeps  int     `json:"sweeps"`   // or epochs
	R2Scale float64 `json:"r2_scale"` // on these rows and the modelling scale
}

// WithCorrectionsOf returns the model with the corrections of another model of the same
// specification: they depend on standardised scores and on predictions, not on weights.
func (m *Model) WithCorrectionsOf(measured *Model) *Model {
	changed := m.copy()
	changed.correction, changed.groupMode, changed.means = measured.correction, measured.groupMode, measured.means
	return changed
}
