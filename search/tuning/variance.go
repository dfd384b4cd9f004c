package tuning

import (
	"math"

	"github.com/kernel-fried-tensor/kft/spec"
)

// varianceParameters returns the noise variance and the prior variance of a posterior.
// They are varied only on request, because a posterior learns them. The ranges are those
// of the paper's search.
func varianceParameters(given spec.Spec) []parameter {
	u := given.Uncertainty
	if _, varied := given.Search["inference"]; !u.Bayesian() && !varied {
		return nil
	}
	noise := number("noise-variance", 0, false, 1e-3, 100, func(s *spec.Spec, v float64) {
		if s.Uncertainty.Bayesian() && !s.Uncertainty.OwnNoise() {
			s.Uncertainty.NoiseVariance = spec.VarianceOf(v)
		}
	})
	prior := number("prior-variance", 0, false, math.Exp(-1), math.Exp(3), func(s *spec.Spec, v float64) {
		if s.Uncertainty.Bayesian() {
			s.Uncertainty.PriorVariance = spec.VarianceOf(v)
		}
	})
	for _, p := range []*parameter{&noise, &prior} {
		p.positive = true
	}
	noise.current, prior.current = u.NoiseVariance.String(), u.PriorVariance.String()
	return []parameter{noise, prior}
}
