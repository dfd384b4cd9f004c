package search

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
	"github.com/kernel-fried-tensor/kft/tune"
)

// Space is what a search varies about a specification: ranks, each from a
// quarter to four times the one given, and which terms beside the first there
// are; scale and likelihood where they are auto;
// with side tables the variant, the kernel, its columns, and which tables are
// used; the weight of the penalty where it is given; for adam the rate. What the
// section search of the specification says comes before that. All else stays as
// it is. A penalty that is auto is no part of it, for every fit looks for its
// own, by short runs on the valid part, which takes less than more trials would.
func Space(s spec.Spec) (tune.Space, error) {
	all, err := parametersOf(s)
	if err != nil {
		return nil, err
	}
	var space tune.Space
	for _, k := range all {
		space = append(space, k.Param)
	}
	return space, space.Validate()
}

// GivenValues returns the values of the specification itself, or the nearest ones if
// it lies outside of the space or leaves them open.
func GivenValues(s spec.Spec) (tune.Values, error) {
	all, err := parametersOf(s)
	v := tune.Values{}
	for _, k := range all {
		v[k.Name] = k.Nearest(k.current)
	}
	return v, err
}

// Candidate returns the specification with the values of a trial.
func Candidate(s spec.Spec, v tune.Values) (spec.Spec, error) {
	all, err := parametersOf(s)
	if err != nil {
		return s, err
	}
	s = apply(s, all, v)
	return s, s.Validate()
}

// Objectives lists the measures that a search can optimise. They are measured on the
// validation set, except for elbo, the evidence bound per training observation.
func Objectives() []string { return []string{"r2", "mae", "crps", "eta", "elbo"} }

// CheckObjective returns an error for a measure that the specification does not allow.
func CheckObjective(s spec.Spec, objective string) error {
	switch {
	case !slices.Contains(Objectives(), objective):
		return fmt.Errorf("unknown objective %q%s; use one of %s", objective, suggest.Hint(objective, Objectives()), strings.Join(Objectives(), ", "))
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
	scales, laws := values("transform", s.Transform), values("likelihood", s.Uncertainty.Likelihood)
	switch {
	case slices.Contains(values("inference", s.Uncertainty.Inference), "map"):
		return fielderr.Errorf("uncertainty.inference", "objective \"elbo\" requires a posterior; set uncertainty.inference to mean-field, multivariate or entity-covariance")
	case s.Fit.Solver == "adam":
		return fielderr.Errorf("fit.solver", "objective \"elbo\" requires the cavi solver; set fit.solver to cavi, or use crps")
	case len(scales) > 1 || len(laws) > 1 || scales[0] == "auto" || laws[0] == "auto":
		return errors.New("objective \"elbo\" cannot be compared between scales or likelihoods; set one of each, or use crps")
	}
	return nil
}

// ObjectiveGoal returns whether a measure is maximised or minimised.
func ObjectiveGoal(objective string) tune.Goal {
	if objective == "r2" || objective == "elbo" {
		return tune.Maximize
	}
	return tune.Minimize
}

// Objective returns one of the Objectives of a fit.
func Objective(r *train.Report, objective string) (float64, error) {
	switch c := r.Valid.Calibration; {
	case objective == "r2":
		return r.Valid.R2, nil
	case objective == "mae":
		return r.Valid.MAE, nil
	case objective == "crps" && c != nil:
		return float64(c.CRPS), nil
	case objective == "eta" && c != nil:
		return float64(c.Eta), nil
	case objective == "elbo" && r.Spec.Fit.Solver == "cavi" && len(r.History) > 0:
		best := math.Inf(-1)
		for _, p := range r.History {
			best = math.Max(best, p.Bound)
		}
		return best, nil
	}
	return 0, fmt.Errorf("the fit has no %s", objective)
}
