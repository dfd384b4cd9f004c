package tuning

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
	"github.com/kernel-fried-tensor/kft/train/fitdata"
)

// restrict removes the scales and likelihoods that a target of the table forbids from
// the space. It returns the specification whose section search has the others, and one
// notice per parameter that lost choices.
func restrict(s spec.Spec, data *fitdata.Data) (spec.Spec, []string, error) {
	parameters, err := parametersOf(s)
	if err != nil {
		return s, nil, err
	}
	var notices []string
	for _, p := range parameters {
		if p.Name != "transform" && p.Name != "likelihood" {
			continue
		}
		var allowed, removed []string
		var problem *targetscale.DomainError
		for _, choice := range p.Choices {
			err := data.CheckDomain(apply(s, []parameter{p}, map[string]string{p.Name: choice}))
			switch {
			case err == nil:
				allowed = append(allowed, choice)
			case errors.As(err, &problem):
				removed = append(removed, choice)
			default:
				return s, nil, err
			}
		}
		if len(removed) == 0 {
			continue
		}
		if len(allowed) == 0 {
			return s, nil, fielderr.Errorf("search."+p.Name, "no value of the parameter suits the target: %w; list others, or change column %s", problem, s.Data.Target)
		}
		s = s.Clone()
		if s.Search == nil {
			s.Search = spec.Search{}
		}
		s.Search[p.Name] = allowed
		notices = append(notices, fmt.Sprintf("the search leaves out %s %s: the target has the value %s", p.Name, strings.Join(removed, ", "), targetscale.TargetText(problem.Value)))
	}
	return s, notices, nil
}

// differInCorrection reports whether some trials have a conformal correction and
// others do not.
func differInCorrection(s spec.Spec, data *fitdata.Data) (bool, error) {
	parameters, err := parametersOf(s)
	if err != nil {
		return false, err
	}
	values := func(name, given string) []string {
		if i := slices.IndexFunc(parameters, func(p parameter) bool { return p.Name == name }); i >= 0 {
			return parameters[i].Choices
		}
		return []string{given}
	}
	with, without := false, false
	for _, c := range values("conformal", s.Uncertainty.Conformal) {
		for _, inference := range values("inference", s.Uncertainty.Inference) {
			u := s.Uncertainty
			u.Conformal, u.Inference = c, inference
			if train.HasCorrection(u, data.Count(dataset.Valid)) {
				with = true
			} else {
				without = true
			}
		}
	}
	return with && without, nil
}
