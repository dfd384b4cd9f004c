package spec

import (
	"strings"
	"testing"
)

// Adam finds a posterior for Gaussian noise of one variance and leaves the rest
// to cavi.
func TestSolversOfPosteriors(t *testing.T) {
	for _, tc := range []struct {
		name string
		set  func(*Spec)
		want string // "" means valid
	}{
		{"adam", func(*Spec) {}, ""},
		{"adam for a point", func(s *Spec) { s.Uncertainty.Inference, s.Fit.Epochs = "map", 1 }, ""},
		{"als", func(s *Spec) { s.Fit.Solver = "als" }, "fit.solver: als finds a point; mean-field needs cavi or adam"},
		{"counts", func(s *Spec) { s.Uncertainty.Likelihood = "poisson" }, "fit.solver: adam is for the gaussian likelihood; poisson needs cavi"},
		{"chosen likelihood", func(s *Spec) { s.Uncertainty.Likelihood = "auto" }, "fit.solver: adam is for the gaussian likelihood; auto needs cavi"},
		{"weighing noise", func(s *Spec) { s.Uncertainty.NoiseUse = "fit" }, "fit.solver: adam fits with one noise variance; noise-use fit needs cavi"},
		{"one epoch", func(s *Spec) { s.Fit.Epochs = 1 }, "fit.epochs: adam needs 2 or more for a posterior"},
	} {
		s := Spec{Data: Data{Target: "y", Modes: []string{"a", "b"}}, Terms: []string{"a,b:2"}}
		s.Uncertainty.Inference, s.Fit.Solver = "mean-field", "adam"
		s.Fill()
		tc.set(&s)
		switch err := s.Validate(); {
		case tc.want == "" && err != nil:
			t.Errorf("%s: %v", tc.name, err)
		case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
			t.Errorf("%s: error %v, want %q", tc.name, err, tc.want)
		}
	}
}
