package train

import (
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/tt"
)

// setPenalties gives the cores the forms and weights of their penalties that the
// specification names. Posteriors have priors instead.
func (r *run) setPenalties() {
	if r.spec.Uncertainty.Bayesian() {
		return
	}
	rest, _ := r.spec.Fit.Lambda.Value()
	own := map[string]float64{}
	for _, c := range r.spec.Fit.Lambda.Cores() {
		own[c.Core] = c.Value / rest
	}
	for _, t := range r.field.Terms {
		for _, c := range t.Cores {
			c.Penalty = own[c.Name()] // 0 for a core without one
			c.Separate = r.spec.Fit.Ridge == string(solver.Paper) && c.Variant == tt.WLR && !c.Coupled
		}
	}
}
