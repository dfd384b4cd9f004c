package kft

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/nearest"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/tune"
)

// A knob is a parameter of a search and what its value does to a specification.
type knob struct {
	tune.Param
	turn func(s *Spec, v tune.Values)
}

// SearchSpace is what a search varies about a specification: ranks, each from a
// quarter to four times the one given; scale and likelihood where they are auto;
// with side tables the variant, the kernel and its columns; for adam the rate.
// All else stays as it is. A penalty that is auto is no part of it, for every
// fit looks for its own, by short runs on the valid part, which takes less than
// more trials would.
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

// Candidate is the specification with the values of a trial.
func Candidate(spec Spec, v tune.Values) (Spec, error) {
	all, err := knobs(spec)
	if err != nil {
		return spec, err
	}
	spec.Terms, spec.Side.Kernels = slices.Clone(spec.Terms), slices.Clone(spec.Side.Kernels)
	for _, k := range all {
		k.turn(&spec, v)
	}
	return spec, spec.Validate()
}

// knobs lists them; where one depends on another it comes after it.
func knobs(spec Spec) ([]knob, error) {
	spec.Fill()
	terms, err := spec.ParseTerms()
	if err != nil {
		return nil, err
	}
	var all []knob
	for i, t := range terms {
		all = append(all, rankKnobs(i, t, spec.ModeNames())...)
	}
	if spec.Transform == "auto" {
		all = append(all, choiceKnob("transform", model.Transforms(), func(s *Spec, v string) { s.Transform = v }))
	}
	if spec.Uncertainty.Likelihood == "auto" {
		all = append(all, choiceKnob("likelihood", model.Likelihoods(), func(s *Spec, v string) { *s = withLikelihood(*s, v) }))
	}
	if len(spec.Side.Tables) > 0 {
		all = append(all, sideKnobs(spec.Side)...)
	}
	if spec.Fit.Solver == "adam" {
		r := spec.Fit.Rate
		all = append(all, knob{tune.Param{Name: "rate", Kind: tune.LogUniform, Low: r / 10, High: r * 10}, func(s *Spec, v tune.Values) { s.Fit.Rate = v.Float("rate") }})
	}
	return all, nil
}

func choiceKnob(name string, choices []string, turn func(s *Spec, v string)) knob {
	return knob{tune.Param{Name: name, Kind: tune.Choice, Choices: choices}, func(s *Spec, v tune.Values) { turn(s, v[name]) }}
}

// rankKnobs has one knob for a term of equal ranks, else one a rank.
func rankKnobs(i int, t model.Term, modes []string) []knob {
	if len(t.Ranks) == 0 {
		return nil
	}
	oneKnob := func(name string, rank int, which func(j int) bool) knob {
		p := tune.Param{Name: name, Kind: tune.LogInteger, Low: math.Max(1, math.Floor(float64(rank)/4)), High: 4 * float64(rank)}
		return knob{p, func(s *Spec, v tune.Values) {
			t, err := model.ParseTerm(s.Terms[i], modes)
			if err != nil {
				panic("kft: " + err.Error()) // it was parsed before
			}
			for j := range t.Ranks {
				if which(j) {
					t.Ranks[j] = v.Int(name)
				}
			}
			s.Terms[i] = t.String()
		}}
	}
	name := "rank." + strconv.Itoa(i+1)
	if slices.Min(t.Ranks) == slices.Max(t.Ranks) {
		return []knob{oneKnob(name, t.Ranks[0], func(int) bool { return true })}
	}
	var all []knob
	for j, r := range t.Ranks {
		all = append(all, oneKnob(name+"."+strconv.Itoa(j+1), r, func(other int) bool { return other == j }))
	}
	return all
}

// sideKnobs leaves kernels alone that belong to a mode or are composed: they say
// something about the data.
func sideKnobs(side model.SideSpec) []knob {
	all := []knob{choiceKnob("variant", model.Variants(), func(s *Spec, v string) { s.Side.Variant = v })}
	if side.Space == "primal" {
		return all
	}
	simple := []string{"rbf", "matern12", "matern32", "matern52"}
	if i := slices.IndexFunc(side.Kernels, func(k string) bool { return !strings.Contains(k, "=") }); i >= 0 && slices.Contains(simple, side.Kernels[i]) {
		all = append(all, choiceKnob("kernel", simple, func(s *Spec, v string) { s.Side.Kernels[i] = v }))
	}
	columns := tune.Param{Name: "columns", Kind: tune.LogInteger, Low: math.Max(1, math.Floor(float64(side.Columns)/4)), High: 2 * float64(side.Columns)}
	return append(all, knob{columns, func(s *Spec, v tune.Values) { s.Side.Columns = v.Int("columns") }})
}

// Objectives are the measures a search can go by: of the valid part, but for
// elbo, the evidence bound an observation, which is of the training part.
func Objectives() []string { return []string{"r2", "mae", "crps", "eta", "elbo"} }

// CheckObjective refuses a measure that does not suit the specification.
func CheckObjective(spec Spec, objective string) error {
	switch {
	case !slices.Contains(Objectives(), objective):
		return fmt.Errorf("%q is not known%s; use one of %s", objective, nearest.Hint(objective, Objectives()), strings.Join(Objectives(), ", "))
	case objective == "elbo" && !spec.Uncertainty.Bayesian():
		return errors.New("elbo is of a posterior; set --inference to mean-field, multivariate or rows")
	case objective == "elbo" && open(spec):
		return errors.New("elbo cannot be compared between scales or likelihoods; name them instead of auto, or use crps")
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
	case objective == "elbo" && len(r.History) > 0:
		best := math.Inf(-1)
		for _, p := range r.History {
			best = math.Max(best, p.Bound)
		}
		return best, nil
	}
	return 0, fmt.Errorf("the fit has no %s", objective)
}
