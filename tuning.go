package kft

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/nearest"
	"github.com/kernel-fried-tensor/kft/tune"
)

// SearchSpace is what a search varies about a specification: ranks, each from a
// quarter to four times the one given, and which terms beside the first there
// are; scale and likelihood where they are auto;
// with side tables the variant, the kernel, its columns, and which tables are
// used; the weight of the penalty where it is given; for adam the rate. What the
// section search of the specification says comes before that. All else stays as
// it is. A penalty that is auto is no part of it, for every fit looks for its
// own, by short runs on the valid part, which takes less than more trials would.
func SearchSpace(spec Spec) (tune.Space, error) {
	all, err := knobs(spec)
	if err != nil {
		return nil, err
	}
	var space tune.Space
	for _, k := range all {
		space = append(space, k.Param)
	}
	return space, space.Validate()
}

// GivenValues are the values that are the specification itself, or next to it
// where it lies outside of what is varied, or leaves them open.
func GivenValues(spec Spec) (tune.Values, error) {
	all, err := knobs(spec)
	v := tune.Values{}
	for _, k := range all {
		v[k.Name] = k.Nearest(k.given)
	}
	return v, err
}

// Candidate is the specification with the values of a trial.
func Candidate(spec Spec, v tune.Values) (Spec, error) {
	all, err := knobs(spec)
	if err != nil {
		return spec, err
	}
	spec = turned(spec, all, v)
	return spec, spec.Validate()
}

// Objectives are the measures a search can go by: of the valid part, but for
// elbo, the evidence bound an observation, which is of the training part.
func Objectives() []string { return []string{"r2", "mae", "crps", "eta", "elbo"} }

// CheckObjective refuses a measure that does not suit the specification.
func CheckObjective(spec Spec, objective string) error {
	switch {
	case !slices.Contains(Objectives(), objective):
		return fmt.Errorf("%q is not known%s; use one of %s", objective, nearest.Hint(objective, Objectives()), strings.Join(Objectives(), ", "))
	case objective == "elbo":
		return checkBound(spec)
	}
	return nil
}

// checkBound refuses a search in which some trials have no evidence bound, or
// bounds that cannot be compared.
func checkBound(spec Spec) error {
	spec.Fill()
	values := func(name, given string) []string {
		if told := spec.Search[name]; len(told) > 0 && !slices.Equal(told, []string{"fixed"}) {
			return told
		}
		return []string{given}
	}
	scales, laws := values("transform", spec.Transform), values("likelihood", spec.Uncertainty.Likelihood)
	switch {
	case slices.Contains(values("inference", spec.Uncertainty.Inference), "map"):
		return errors.New("elbo is of a posterior; set --inference to mean-field, multivariate or rows")
	case spec.Fit.Solver == "adam":
		return errors.New("elbo is what the solver cavi tells, and adam does not; set --solver to cavi, or use crps")
	case len(scales) > 1 || len(laws) > 1 || scales[0] == "auto" || laws[0] == "auto":
		return errors.New("elbo cannot be compared between scales or likelihoods; name one of each, or use crps")
	}
	return nil
}

// ObjectiveGoal tells whether more or less of a measure is better.
func ObjectiveGoal(objective string) tune.Goal {
	if objective == "r2" || objective == "elbo" {
		return tune.Maximize
	}
	return tune.Minimize
}

// Objective is one of the Objectives.
func (r *Report) Objective(objective string) (float64, error) {
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
