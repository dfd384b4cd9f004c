package tuning

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
	"github.com/kernel-fried-tensor/kft/sideinfo"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/tune"
)

// A parameter is one parameter of a search and its effect on a specification.
type parameter struct {
	tune.Param                                  // range or choices, unless the section search requests others
	current    string                           // value in the specification
	varied     bool                             // varied without a request
	closed     bool                             // a request cannot have other choices; otherwise the specification validates them
	positive   bool                             // a number above 0; otherwise 0 is allowed
	set        func(s *spec.Spec, value string) // changes the specification
}

// allParameters returns everything that a search of a specification can vary. A
// parameter whose effect depends on another comes after it.
func allParameters(given spec.Spec) ([]parameter, error) {
	var terms []spec.Term
	if !given.Automatic() { // otherwise they are chosen before the search starts
		var err error
		if terms, err = given.ParseTerms(); err != nil {
			return nil, err
		}
	}
	u, f := given.Uncertainty, given.Fit
	var all []parameter
	for i, t := range terms {
		all = append(all, rankParameters(i, t)...)
		all = append(all, orderParameters(i, t, given.Order == "auto")...)
	}
	if given.Side.Regresses() {
		side, err := sideParameters(given)
		if err != nil {
			return nil, err
		}
		all = append(all, side...)
	}
	all = append(all,
		choices("inference", u.Inference, false, spec.Inferences(), setInference),
		choices("noise", u.Noise, false, []string{"constant", "power"}, func(s *spec.Spec, v string) { s.Uncertainty.Noise = v }),
		choices("noise-use", u.NoiseUse, false, []string{"predict", "fit"}, func(s *spec.Spec, v string) { s.Uncertainty.NoiseUse = v }),
		choices("conformal", u.Conformal, false, []string{"none", "split", "group:mean"}, func(s *spec.Spec, v string) { s.Uncertainty.Conformal = v }),
		choices("transform", given.Transform, given.Transform == "auto", transformChoices(given.Transform), func(s *spec.Spec, v string) { s.Transform = v }),
		choices("likelihood", u.Likelihood, u.Likelihood == "auto", spec.ComparedLikelihoods(), func(s *spec.Spec, v string) { *s = s.WithLikelihood(v) }),
		whole("patience", f.Patience, false, 1, 4*f.Patience, func(s *spec.Spec, v int) { s.Fit.Patience = v }),
	)
	all = append(all, varianceParameters(given)...)
	if f.Solver == "adam" {
		all = append(all,
			number("learning-rate", f.LearningRate, true, f.LearningRate/10, f.LearningRate*10, func(s *spec.Spec, v float64) { s.Fit.LearningRate = v }),
			number("batch", f.Batch, false, 0.01, 1, func(s *spec.Spec, v float64) { s.Fit.Batch = v }),
			whole("epochs", f.Epochs, false, 2, 4*f.Epochs, func(s *spec.Spec, v int) { s.Fit.Epochs = v }),
			choices("schedule", f.Schedule, false, []string{"joint", "block"}, func(s *spec.Spec, v string) { s.Fit.Schedule = v }))
	} else {
		all = append(all,
			whole("sweeps", f.Sweeps, false, max(1, f.Sweeps/4), 4*f.Sweeps, func(s *spec.Spec, v int) { s.Fit.Sweeps = v }),
			whole("cg-steps", f.CGSteps, false, 1, 4*f.CGSteps, func(s *spec.Spec, v int) { s.Fit.CGSteps = v }))
	}
	if !u.Bayesian() {
		lambda, given := f.Lambda.Value()
		learned := !given || lambda == 0 || f.Ridge == "auto" || len(f.Lambda.Cores()) > 0
		weight := number("lambda", lambda, !learned, lambda/100, lambda*100, func(s *spec.Spec, v float64) { s.Fit.Lambda = spec.LambdaOf(v) })
		weight.current = f.Lambda.String()
		all = append(all, weight,
			choices("ridge", f.Ridge, false, []string{"frequency", "uniform"}, func(s *spec.Spec, v string) { s.Fit.Ridge = v }))
	}
	return append(all, termParameters(given)...), nil
}

// transformChoices returns the scales of a search: the named ones and a given power.
func transformChoices(given string) []string {
	if strings.HasPrefix(given, "power") {
		return append(targetscale.Transforms(), given)
	}
	return targetscale.Transforms()
}

// termParameters returns one parameter per term after the first, which can remove the
// term. They start with the last term, so that the numbers of the others stay valid, and
// come after all other parameters that change terms.
func termParameters(given spec.Spec) []parameter {
	var all []parameter
	for i := len(given.Terms) - 1; i > 0; i-- {
		all = append(all, either("term."+strconv.Itoa(i+1), "use", true, "use", "none", func(s *spec.Spec, v string) {
			if v == "none" {
				s.Terms = slices.Delete(s.Terms, i, i+1)
			}
		}))
	}
	return all
}

// choices returns a parameter with a list of choices.
func choices(name, given string, varied bool, list []string, set func(s *spec.Spec, v string)) parameter {
	return parameter{Param: tune.Param{Name: name, Kind: tune.Choice, Choices: list}, current: given, varied: varied, set: set}
}

// either returns a parameter with exactly two choices.
func either(name, given string, varied bool, one, other string, set func(s *spec.Spec, v string)) parameter {
	p := choices(name, given, varied, []string{one, other}, set)
	p.closed = true
	return p
}

// whole returns a parameter that is a whole number, on the logarithmic scale.
func whole(name string, given int, varied bool, low, high int, set func(s *spec.Spec, v int)) parameter {
	p := tune.Param{Name: name, Kind: tune.LogInteger, Low: float64(low), High: float64(high)}
	return parameter{Param: p, current: strconv.Itoa(given), varied: varied, set: func(s *spec.Spec, v string) { set(s, tune.Values{name: v}.Int(name)) }}
}

// number returns a parameter that is a number, on the logarithmic scale.
func number(name string, given float64, varied bool, low, high float64, set func(s *spec.Spec, v float64)) parameter {
	p := tune.Param{Name: name, Kind: tune.LogUniform, Low: low, High: high}
	return parameter{Param: p, current: strconv.FormatFloat(given, 'g', -1, 64), varied: varied, set: func(s *spec.Spec, v string) { set(s, tune.Values{name: v}.Float(name)) }}
}

// rankParameters returns one parameter for term i if its ranks are equal, otherwise one
// per rank.
func rankParameters(i int, t spec.Term) []parameter {
	if len(t.Ranks) == 0 {
		return nil
	}
	newParameter := func(name string, rank int, which func(j int) bool) parameter {
		return whole(name, rank, true, max(1, rank/4), min(4*rank, spec.MaxRank), func(s *spec.Spec, v int) {
			s.ChangeTerm(i, func(t *spec.Term) {
				for j := range t.Ranks {
					if which(j) {
						t.Ranks[j] = v
					}
				}
			})
		})
	}
	name := "rank." + strconv.Itoa(i+1)
	if slices.Min(t.Ranks) == slices.Max(t.Ranks) {
		return []parameter{newParameter(name, t.Ranks[0], func(int) bool { return true })}
	}
	var all []parameter
	for j, r := range t.Ranks {
		all = append(all, newParameter(name+"."+strconv.Itoa(j+1), r, func(other int) bool { return other == j }))
	}
	return all
}

// setInference also changes the solver if it does not support the inference.
func setInference(s *spec.Spec, v string) {
	s.Uncertainty.Inference = v
	switch {
	case s.Uncertainty.Bayesian() && s.Fit.Solver == "als":
		s.Fit.Solver = "cavi"
	case !s.Uncertainty.Bayesian() && s.Fit.Solver == "cavi":
		s.Fit.Solver = "als"
	}
	if v != "multivariate" {
		s.Uncertainty.Covariance = "triangular"
	}
	if !s.Uncertainty.Bayesian() {
		s.Uncertainty.NoiseVariance, s.Uncertainty.PriorVariance, s.Uncertainty.PriorMean = spec.Variance{}, spec.Variance{}, spec.PriorMean{}
	}
}

// simpleKernels are the kernels that a search exchanges for each other.
var simpleKernels = []string{"rbf", "matern12", "matern32", "matern52"}

// sideParameters returns the parameters of the side information. Kernels of one mode and
// composed kernels are not varied without a request, because they express knowledge
// about the data. The parameter ard (one length-scale per column) is varied only if
// length-scales are learned, because otherwise it has no effect.
func sideParameters(given spec.Spec) ([]parameter, error) {
	side := given.Side
	all := []parameter{choices("variant", side.Variant, true, spec.Variants(), func(s *spec.Spec, v string) { s.Side.Variant = v }),
		choices("space", side.Space, false, sideinfo.Spaces(), func(s *spec.Spec, v string) { s.Side.Space = v }),
		choices("intercept", side.Intercept, false, []string{"yes", "no"}, func(s *spec.Spec, v string) { s.Side.Intercept = v })}
	if side.Space != "primal" {
		if i := slices.IndexFunc(side.Kernels, func(k string) bool { return !strings.Contains(k, "=") }); i >= 0 {
			base, isARD := strings.CutSuffix(side.Kernels[i], ":ard")
			simple := slices.Contains(simpleKernels, base)
			all = append(all,
				choices("kernel", base, simple, simpleKernels, func(s *spec.Spec, v string) {
					s.Side.Kernels[i] = v
					if isARD && slices.Contains(simpleKernels, v) {
						s.Side.Kernels[i] += ":ard"
					}
				}),
				choices("length-scales", side.LengthScales, false, []string{"fixed", "learn"}, func(s *spec.Spec, v string) { s.Side.LengthScales = v }),
				either("ard", yesNo(isARD), simple && side.LengthScales == "learn", "no", "yes", func(s *spec.Spec, v string) {
					name, _ := strings.CutSuffix(s.Side.Kernels[i], ":ard")
					if v == "yes" && slices.Contains(simpleKernels, name) {
						name += ":ard"
					}
					s.Side.Kernels[i] = name
				}))
		}
		all = append(all, whole("columns", side.Columns, true, max(1, side.Columns/4), 2*side.Columns, func(s *spec.Spec, v int) { s.Side.Columns = v }))
	}
	tables, err := given.SideTables()
	if err != nil {
		return nil, err
	}
	tables = slices.DeleteFunc(tables, sideinfo.Spec.OnlyGroups)
	for _, t := range tables {
		all = append(all, either("side."+t.Mode, "use", len(tables) > 1, "use", "none", func(s *spec.Spec, v string) {
			if v == "none" {
				removeSide(s, t.Mode)
			}
		}))
	}
	return all, nil
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

// removeSide removes the side table of a mode, except for the columns whose groups terms
// use. If it was the last one, all terms become plain.
func removeSide(s *spec.Spec, mode string) {
	var groups []string
	for _, g := range s.Groups() {
		if g.Mode == mode {
			groups = append(groups, g.Column)
		}
	}
	s.Side.Tables = slices.DeleteFunc(s.Side.Tables, func(text string) bool {
		t, err := sideinfo.ParseSpec(text)
		return err == nil && t.Mode == mode && len(groups) == 0
	})
	for i, text := range s.Side.Tables {
		if t, err := sideinfo.ParseSpec(text); err == nil && t.Mode == mode {
			t.Columns = nil
			for _, name := range groups {
				t.Columns = append(t.Columns, sideinfo.ColumnSpec{Name: name, Type: sideinfo.Group})
			}
			s.Side.Tables[i] = t.String()
		}
	}
	s.Side.Kernels = slices.DeleteFunc(s.Side.Kernels, func(k string) bool { return strings.HasPrefix(k, mode+"=") })
	if strings.HasSuffix(s.Side.Placebo, ":"+mode) {
		s.Side.Placebo = ""
	}
	if s.Side.Regresses() {
		return
	}
	s.Side.Variant, s.Side.Placebo = "plain", ""
	for i := range s.Terms {
		s.ChangeTerm(i, func(t *spec.Term) {
			if t.Variant != "" {
				*t = spec.Term{Cores: t.Cores, Ranks: t.Ranks, Variant: "plain", Along: t.Along}
			}
		})
	}
}

// orderParameters returns the parameter that sets the order of the cores of term i, if
// the term has several.
func orderParameters(i int, t spec.Term, varied bool) []parameter {
	orders := t.Orders()
	if len(orders) < 2 {
		return nil
	}
	var texts []string
	for _, o := range orders {
		texts = append(texts, o.Order())
	}
	p := choices("order."+strconv.Itoa(i+1), t.Order(), varied, texts, func(s *spec.Spec, v string) {
		s.Order = "given"
		s.ChangeTerm(i, func(t *spec.Term) { t.Reorder(v) })
	})
	p.closed = true
	return []parameter{p}
}
