package tuning

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
	"github.com/kernel-fried-tensor/kft/search/automatic"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
	"github.com/kernel-fried-tensor/kft/tune"
)

// Objectives returns the measures that a search can optimise. They are measured on the
// validation set, except for elbo, the evidence bound per training observation.
func Objectives() []string { return []string{"r2", "mae", "crps", "eta", "elbo"} }

// CheckObjective returns an error for a measure that the specification does not allow.
func CheckObjective(s spec.Spec, objective string) error {
	switch {
	case !slices.Contains(Objectives(), objective):
		return fielderr.Errorf("objective", "unknown objective %q%s; use one of %s", objective, suggest.Hint(objective, Objectives()), strings.Join(Objectives(), ", "))
	case objective == "elbo":
		return checkBound(s)
	}
	return nil
}

// checkBound returns an error for a search in which some trials have no evidence
// bound, or bounds that cannot be compared.
func checkBound(s spec.Spec) error {
	s.Fill()
	values := func(name, given string) []string {
		if requested := s.Search[name]; len(requested) > 0 && !slices.Equal(requested, []string{"fixed"}) {
			return requested
		}
		return []string{given}
	}
	scales, likelihoods := values("transform", s.Transform), values("likelihood", s.Uncertainty.Likelihood)
	switch {
	case slices.Contains(values("inference", s.Uncertainty.Inference), "map"):
		return fielderr.Errorf("uncertainty.inference", "objective \"elbo\" requires a posterior; set uncertainty.inference to mean-field, multivariate or entity-covariance")
	case s.Fit.Solver == "adam":
		return fielderr.Errorf("fit.solver", "objective \"elbo\" requires the cavi solver; set fit.solver to cavi, or use crps")
	case len(scales) > 1 || scales[0] == "auto":
		return fielderr.Errorf("transform", "objective \"elbo\" cannot be compared between scales; set transform to one scale, or use crps")
	case len(likelihoods) > 1 || likelihoods[0] == "auto":
		return fielderr.Errorf("uncertainty.likelihood", "objective \"elbo\" cannot be compared between likelihoods; set uncertainty.likelihood to one, or use crps")
	}
	return nil
}

// goalOf reports whether a measure is maximised or minimised.
func goalOf(objective string) tune.Goal {
	if objective == "r2" || objective == "elbo" {
		return tune.Maximize
	}
	return tune.Minimize
}

// objectiveOf returns the value of one of the Objectives for a fit.
func objectiveOf(r *train.Report, objective string) (float64, error) {
	switch c := r.Valid.Calibration; {
	case objective == "r2":
		return r.Valid.R2, nil
	case objective == "mae":
		return r.Valid.MAE, nil
	case objective == "crps" && c != nil:
		return float64(c.CRPS), nil
	case objective == "eta" && c != nil:
		return float64(c.Eta), nil
	case objective == "elbo":
		if bound, ok := automatic.LargestBound(r); ok {
			return bound, nil
		}
	}
	return 0, fmt.Errorf("the fit has no %s", objective)
}
