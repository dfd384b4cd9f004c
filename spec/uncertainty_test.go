package spec

import (
	"errors"
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
		{"als", func(s *Spec) { s.Fit.Solver = "als" }, "fit.solver: als computes a point estimate, but uncertainty.inference is mean-field; set fit.solver to cavi or adam"},
		{"counts", func(s *Spec) { s.Uncertainty.Likelihood = "poisson" }, "fit.solver: adam supports only the gaussian likelihood, but uncertainty.likelihood is poisson; set fit.solver to cavi"},
		{"automatic likelihood", func(s *Spec) { s.Uncertainty.Likelihood = "auto" }, "fit.solver: adam supports only the gaussian likelihood, but uncertainty.likelihood is auto; set fit.solver to cavi"},
		{"noise in training", func(s *Spec) { s.Uncertainty.NoiseUse = "fit" }, "fit.solver: adam supports only one noise variance, but uncertainty.noise-use is fit; set fit.solver to cavi"},
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

// An unknown value is one problem. Checks that depend on it are skipped.
func TestUnknownValueIsOneProblem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		set  func(*Spec)
		path string
	}{
		{"inference", func(s *Spec) { s.Uncertainty.Inference, s.Fit.Solver = "rowz", "als" }, "uncertainty.inference"},
		{"inference with adam and one epoch", func(s *Spec) { s.Uncertainty.Inference, s.Fit.Solver, s.Fit.Epochs = "rowz", "adam", 1 }, "uncertainty.inference"},
		{"likelihood with adam", func(s *Spec) { s.Uncertainty.Likelihood, s.Fit.Solver = "gausian", "adam" }, "uncertainty.likelihood"},
		{"transform of counts", func(s *Spec) { s.Uncertainty.Likelihood, s.Transform = "poisson", "log" }, "transform"},
		{"noise of counts", func(s *Spec) { s.Uncertainty.Likelihood, s.Uncertainty.Noise = "poisson", "constnt" }, "uncertainty.noise"},
		{"solver", func(s *Spec) { s.Fit.Solver = "alz" }, "fit.solver"},
		{"no epochs", func(s *Spec) { s.Fit.Solver, s.Fit.Epochs = "adam", 0 }, "fit.epochs"},
		{"variant", func(s *Spec) { s.Side.Variant = "wrl" }, "side.variant"},
	} {
		s := Spec{Data: Data{Target: "y", Modes: []string{"a", "b"}}, Terms: []string{"a,b:2"}}
		s.Uncertainty.Inference = "mean-field"
		s.Fill()
		s.Transform = "identity"
		c.set(&s)
		err := s.Validate()
		var problems Problems
		if !errors.As(err, &problems) || len(problems) != 1 || problems[0].Path != c.path {
			t.Errorf("%s: got error %v, want one problem of %s", c.name, err, c.path)
		}
	}
}
