package model

import "github.com/kernel-fried-tensor/kft/blend"

// WithBlend returns the model with means of forecasts that are mixed with recent values of
// their series, nil for none.
func (m *Model) WithBlend(t *blend.Table) *Model {
	changed := m.copy()
	changed.blend = t
	return changed
}

// Blend returns what means of forecasts are mixed with, nil for nothing.
func (m *Model) Blend() *blend.Table { return m.blend }

// mixMean mixes the mean of row i, if it is a forecast.
func (d *Distributions) mixMean(i int) {
	if t := d.m.blend; t != nil {
		if h := d.rows.horizon(i); h > 0 {
			d.own.MixMean(t.Mean(d.own.Location(), d.rows.Codes, i, h))
		}
	}
}
