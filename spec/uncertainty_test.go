package spec

import (
	"strings"
	"testing"
)

// Adam supports posteriors with Gaussian noise of one variance. Other posteriors require
// cavi.
func TestSolverOfPosterior(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		set  func(*Spec)
		want string // "" means valid
	}{
		{"adam", func(*Spec) {}, ""},
		{"adam for a point estimate", func(s *Spec) { s.Uncertainty.Inference, s.Fit.Epochs = "map", 1 }, ""},
		{"als", func(s *Spec) { s.Fit.Solver = "als" }, "fit.solver: als computes a point estimate; mean-field requires cavi or adam"},
		{"counts", func(s *Spec) { s.Uncertainty.Likelihood = "poisson" }, "fit.solver: adam supports only the gaussian likelihood; poisson requires cavi"},
		{"automatic likelihood", func(s *Spec) { s.Uncertainty.Likelihood = "auto" }, "fit.solver: adam supports only the gaussian likelihood; auto requires cavi"},
		{"noise in training", func(s *Spec) { s.Uncertainty.NoiseUse = "fit" }, "fit.solver: adam supports only one noise variance; noise-use fit requires cavi"},
		{"one epoch", func(s *Spec) { s.Fit.Epochs = 1 }, "fit.epochs: adam needs 2 or more for a posterior"},
	} {
		s := Spec{Data: Data{Target: "y", Modes: []string{"a", "b"}}, Terms: []string{"a,b:2"}}
		s.Uncertainty.Inference, s.Fit.Solver = "mean-field", "adam"
		s.Fill()
		tc.set(&s)
		switch err := s.Validate(); {
		case tc.want == "" && err != nil:
			t.Errorf("%s: got error %v, want none", tc.name, err)
		case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
			t.Errorf("%s: got error %v, want %q", tc.name, err, tc.want)
		}
	}
}
