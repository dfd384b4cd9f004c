package design

import (
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/tt"
)

// SetPenalties gives the cores of a field the forms and weights of their penalties that the
// specification names. Posteriors have priors instead.
func SetPenalties(f *tt.Field, s *spec.Spec) {
	if s.Uncertainty.Bayesian() {
		return
	}
	rest, _ := s.Fit.Lambda.Value()
	own := map[string]float64{}
	for _, c := range s.Fit.Lambda.Cores() {
		own[c.Core] = c.Value / rest
	}
	for _, t := range f.Terms {
		for _, c := range t.Cores {
			c.Penalty = own[c.Name()] // 0 for a core without one
			c.Separate = s.Fit.Ridge == string(solver.Paper) && c.Variant == tt.WLR && !c.Coupled
		}
	}
}
