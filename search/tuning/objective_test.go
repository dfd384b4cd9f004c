package tuning

import (
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// Evidence bounds can be compared only if every trial has one, on the same scale and
// with the same likelihood.
func TestCheckObjective(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*spec.Spec)
		path   string // of the error; "" for none
	}{
		"point estimate":         {func(s *spec.Spec) { s.Uncertainty.Inference = "map" }, "uncertainty.inference"},
		"sometimes a point":      {func(s *spec.Spec) { s.Search = spec.Search{"inference": {"entity-covariance", "map"}} }, "uncertainty.inference"},
		"adam":                   {func(s *spec.Spec) { s.Fit.Solver = "adam" }, "fit.solver"},
		"automatic scale":        {func(s *spec.Spec) { s.Transform = "auto" }, "transform"},
		"several scales":         {func(s *spec.Spec) { s.Search = spec.Search{"transform": {"log1p", "sqrt"}} }, "transform"},
		"several likelihoods":    {func(s *spec.Spec) { s.Search = spec.Search{"likelihood": {"gaussian", "poisson"}} }, "uncertainty.likelihood"},
		"automatic likelihood":   {func(s *spec.Spec) { s.Uncertainty.Likelihood = "auto" }, "uncertainty.likelihood"},
		"one scale":              {func(s *spec.Spec) { s.Transform, s.Search = "auto", spec.Search{"transform": {"sqrt"}} }, ""},
		"the given scale":        {func(s *spec.Spec) { s.Search = spec.Search{"transform": {"fixed"}} }, ""},
		"posterior, one of each": {func(*spec.Spec) {}, ""},
	} {
		s := filledSpec(func(s *spec.Spec) { s.Uncertainty.Inference = "mean-field"; c.change(s) })
		err := CheckObjective(s, "elbo")
		if (err == nil) != (c.path == "") || fielderr.Path(err) != c.path || err != nil && !strings.Contains(err.Error(), `objective "elbo"`) {
			t.Errorf("%s: got error %v of field %q, want one of field %q", name, err, fielderr.Path(err), c.path)
		}
	}
	if err := CheckObjective(spec.Default(), "crsp"); fielderr.Path(err) != "objective" || !strings.Contains(err.Error(), `did you mean "crps"?`) {
		t.Errorf("got error %v of field %q, want one of field objective with a suggestion", err, fielderr.Path(err))
	}
}

func TestAdamHasNoBound(t *testing.T) {
	t.Parallel()
	s := syntheticSpec(t)
	s.Uncertainty.Inference, s.Fit = "mean-field", spec.Fit{Solver: "adam", Epochs: 2}
	_, report := mustFit(t, s, train.Options{Threads: 2})
	if bound, err := objectiveOf(report, "elbo"); err == nil {
		t.Errorf("got the bound %v, want an error", bound)
	}
	for _, objective := range []string{"r2", "mae", "crps", "eta"} {
		if _, err := objectiveOf(report, objective); err != nil {
			t.Errorf("%s: %v", objective, err)
		}
	}
}
