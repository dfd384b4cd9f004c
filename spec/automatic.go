package spec

import "slices"

// Auto is the value of a field that is chosen on the data.
const Auto = "auto"

// Automatic reports whether the terms are chosen on the data. A mode that is called
// auto is not an automatic choice.
func (s Spec) Automatic() bool {
	return slices.Equal(s.Terms, []string{Auto}) && !slices.Contains(s.ModeNames(), Auto)
}

// closeOpen replaces what is chosen only together with the terms: with given terms, an
// automatic inference is mean-field, and an automatic variant or use of the noise the default.
func (s *Spec) closeOpen() {
	if s.Uncertainty.Inference == Auto {
		s.Uncertainty.Inference = "mean-field"
	}
	if s.Side.Variant == Auto {
		s.Side.Variant = ""
	}
	if s.Uncertainty.NoiseUse == Auto {
		s.Uncertainty.NoiseUse = ""
	}
}

// leaveOpen changes the defaults of a specification with automatic terms: what is not
// given is chosen on the data too, unless another field that is given decides it.
func (s Spec) leaveOpen(d *Spec) {
	u := s.Uncertainty
	switch {
	case u.Inference != "":
		d.Uncertainty.Inference = u.Inference
	case s.Fit.Solver == "als", s.Fit.Solver == "adam": // point estimates
	default:
		d.Uncertainty.Inference = Auto
	}
	if s.Side.Regresses() {
		d.Side.Variant = Auto
	}
	d.Fit.Refit, d.Uncertainty.NoiseUse = Auto, Auto
	bayesian := d.Uncertainty.Bayesian() && s.Fit.Solver != "adam"
	if _, given := u.NoiseVariance.Value(); !given {
		d.Uncertainty.Noise = Auto
	}
	switch {
	case u.Links():
		d.Uncertainty.Noise = "constant" // the likelihood has its own
		return
	case u.OwnNoise():
		d.Uncertainty.Noise = "constant"
	case s.Data.Censored != "" && bayesian:
		d.Uncertainty.Noise = "constant"
	case s.Data.Exposure != "" && bayesian:
		d.Uncertainty.Likelihood, d.Uncertainty.Noise = "negative-binomial", "constant"
		return
	case bayesian && s.Transform == "" && u.Noise == "" && (u.NoiseUse == "" || u.NoiseUse == Auto):
		d.Uncertainty.Likelihood = Auto
	}
	d.Transform = Auto
}
