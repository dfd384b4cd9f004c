package kft

import (
	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/calibrate"
	"github.com/kernel-fried-tensor/kft/likelihood"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/tt"
)

// uncertainty is how the moments of the field at a cell become a distribution of
// the target: by a likelihood, and a conformal layer where there is one. Noise is
// on the transform's scale, one of three kinds.
type uncertainty struct {
	Constant *likelihood.Constant         `json:"constant,omitempty"`
	Entity   *likelihood.ByEntity         `json:"entity,omitempty"`
	Power    *likelihood.Power            `json:"power,omitempty"`
	Poisson  *likelihood.Poisson          `json:"poisson,omitempty"`
	Negative *likelihood.NegativeBinomial `json:"negative_binomial,omitempty"`

	noiseModes []int // of Entity
	layer      *calibrate.Layer
	layerMode  int // of a layer by entity
}

// count returns the law of counts, nil for the gaussian likelihood.
func (u *uncertainty) count() calibrate.CountLaw {
	switch {
	case u.Poisson != nil:
		return *u.Poisson
	case u.Negative != nil:
		return *u.Negative
	}
	return nil
}

// noise returns the noise variance of row i, whose level is given.
func (u *uncertainty) noise(level float64, codes [][]int32, i int) float64 {
	switch {
	case u.Entity != nil:
		own := make([][]int32, 0, 2)
		for _, mode := range u.noiseModes {
			own = append(own, codes[mode])
		}
		return u.Entity.At(own, i)
	case u.Power != nil:
		return u.Power.At(level)
	}
	return u.Constant.Variance
}

// predictive returns the distribution of row i.
func (m *Model) predictive(z tt.Moments, codes [][]int32, i int) calibrate.Predictive {
	p := m.bare(z, codes, i)
	if l := m.uncertain.layer; l != nil {
		entity := int32(tt.Unknown)
		if l.Grouping() == calibrate.ByEntity {
			entity = codes[m.uncertain.layerMode][i]
		}
		p = p.With(l.Law(p.Location(), entity))
	}
	return p
}

// bare returns the distribution of row i without the layer.
func (m *Model) bare(z tt.Moments, codes [][]int32, i int) calibrate.Predictive {
	level, variance := m.scale.Level(z.Mean[i]), 0.0
	if z.Var != nil {
		variance = m.scale.Spread * m.scale.Spread * float64(z.Var[i])
	}
	if law := m.uncertain.count(); law != nil {
		return calibrate.Count(law, level, variance)
	}
	return calibrate.Gaussian(m.transform, level, variance, m.uncertain.noise(level, codes, i))
}

// moments evaluates the field at cells.
func (m *Model) moments(b backend.Backend, codes [][]int32) tt.Moments {
	z := tt.Moments{Mean: make([]float32, len(codes[0]))}
	if !m.spec.Uncertainty.Bayesian() {
		m.field.Evaluate(b, z.Mean, codes)
		return z
	}
	z.Var = make([]float32, len(z.Mean))
	if m.spec.Uncertainty.Moments == "paper" {
		m.field.EvaluatePaper(b, z, codes)
	} else {
		m.field.EvaluateMoments(b, z, codes)
	}
	return z
}

// resolve completes what a model file does not spell out.
func (m *Model) resolve() (err error) {
	if !m.spec.Uncertainty.Counts() {
		if m.transform, err = calibrate.ParseTransform(m.scale.Transform); err != nil {
			return err
		}
	}
	names := m.spec.ModeNames()
	m.uncertain.noiseModes = model.Positions(m.spec.Uncertainty.NoiseModes(), names)
	if mode := m.spec.Uncertainty.ConformalMode(); mode != "" {
		m.uncertain.layerMode = model.Positions([]string{mode}, names)[0]
	}
	return nil
}
