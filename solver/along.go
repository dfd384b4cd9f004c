package solver

import (
	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/series/dynamics"
)

// solveAlong updates a core along time, see package dynamics: one pass gives the normal
// equations of all slices, as for [solveExpectedSlices], and a smoother along time solves
// them with the prior. Every rank smoothes all of the core.
func solveAlong(p *blockProblem, learn bool) {
	c := p.train.Cores[p.core]
	r, shape := c.Slices.Slice(), c.Slices.Shape
	g := p.sliceEquations()
	runs := backend.EntityRuns(p.d.b, p.plan, p.core)
	runs.Share(g.Mean, r)
	runs.Share(g.Cov, r*r)
	e := dynamics.Equations{Mean: p.block.Value[:(shape.N-1)*r], Gradient: g.Mean, Noise: p.noise, Curvature: func(e, i, j int) float64 {
		return -2 * float64(g.Cov[(e*r+i)*r+j]) // the adjoint of the variance is -w/2
	}}
	if p.hasPosterior() {
		e.Variance = p.block.Posterior.Var
	}
	p.block.Along.Update(e, learn)
}

// pointNoise returns the noise that a prior along time takes beside point estimates: the
// mean squared error.
func (a *residuals) pointNoise() float64 {
	if a.d.sites != nil {
		return 1
	}
	return max(a.loss()/float64(len(a.d.y)), leastStartNoise)
}
