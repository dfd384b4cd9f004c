package spec

// ChangeTerm changes the text of term i of a specification whose terms are valid.
func (s *Spec) ChangeTerm(i int, change func(t *Term)) {
	t, err := ParseTerm(s.Terms[i], s.ModeNames())
	if err != nil {
		panic("spec: " + err.Error()) // the terms were parsed before
	}
	change(&t)
	s.Terms[i] = t.String()
}

// WithLikelihood returns the specification with a likelihood. One that models the
// target itself has its own link and noise.
func (s Spec) WithLikelihood(likelihood string) Spec {
	s.Uncertainty.Likelihood = likelihood
	if s.Uncertainty.OwnNoise() {
		s.Uncertainty.Noise, s.Uncertainty.NoiseVariance = "constant", Variance{}
	}
	if s.Uncertainty.Links() {
		s.Transform = "identity"
	}
	return s
}
