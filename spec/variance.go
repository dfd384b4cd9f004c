package spec

import (
	"fmt"
	"math"
)

// Variance is a variance on the standardised scale: a finite number above 0, or auto,
// which means that it is learned. The zero value is auto. The text form is the number or
// auto.
type Variance struct{ autoNumber }

// VarianceOf returns a given variance. It panics if the number is not finite and above 0.
func VarianceOf(value float64) Variance {
	if !validVariance(value) {
		panic(fmt.Sprintf("spec: variance %v is not a finite number above 0", value))
	}
	return Variance{autoNumber{value, true}}
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (v *Variance) UnmarshalText(text []byte) error {
	return v.unmarshal(text, validVariance, "a finite number above 0")
}

// UnmarshalJSON reads what MarshalJSON returns.
func (v *Variance) UnmarshalJSON(data []byte) error { return v.UnmarshalText(unquoted(data)) }

// validVariance reports whether the solvers, which compute in float32, can use a
// variance.
func validVariance(v float64) bool { return v > 0 && float32(v) > 0 && v <= math.MaxFloat32 }

// validateVariances reports given variances that the rest of the specification does not
// allow.
func (s Spec) validateVariances(ps *Problems) {
	u := s.Uncertainty
	for _, c := range []struct {
		path  string
		value Variance
	}{{"uncertainty.noise-variance", u.NoiseVariance}, {"uncertainty.prior-variance", u.PriorVariance}} {
		if _, given := c.value.Value(); given && !u.Bayesian() {
			ps.Addf(c.path, "%v requires a posterior; set uncertainty.inference to mean-field, or leave it auto", c.value)
		}
	}
	if _, given := u.PriorMean.Value(); given && !u.Bayesian() {
		ps.Addf("uncertainty.prior-mean", "%v requires a posterior; set uncertainty.inference to mean-field, or leave it auto", u.PriorMean)
	}
	if _, given := u.NoiseVariance.Value(); given && u.Bayesian() {
		switch {
		case u.OwnNoise():
			ps.Addf("uncertainty.noise-variance", "%v requires the gaussian likelihood; %s has its own noise", u.NoiseVariance, u.Likelihood)
		case u.Noise != "constant":
			ps.Addf("uncertainty.noise-variance", "%v is one variance for all rows; set uncertainty.noise to constant", u.NoiseVariance)
		}
	}
}
