package kft

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/sideinfo"
	"github.com/kernel-fried-tensor/kft/tune"
)

// A knob is a parameter of a search and what its value does to a specification.
type knob struct {
	tune.Param        // what is varied where the specification does not say
	given      string // its value in the specification
	derived    bool   // varied without being asked for
	closed     bool   // there are no choices beside its own; else the specification knows
	turn       func(s *Spec, value string)
}

// knobTable lists all that a search of a specification can vary; where the effect
// of one depends on another it comes after it.
func knobTable(spec Spec) ([]knob, error) {
	terms, err := spec.ParseTerms()
	if err != nil {
		return nil, err
	}
	u, f := spec.Uncertainty, spec.Fit
	var all []knob
	for i, t := range terms {
		all = append(all, rankKnobs(i, t)...)
	}
	if len(spec.Side.Tables) > 0 {
		side, err := sideKnobs(spec)
		if err != nil {
			return nil, err
		}
		all = append(all, side...)
	}
	all = append(all,
		choices("inference", u.Inference, false, model.Inferences(), setInference),
		choices("noise", u.Noise, false, []string{"constant", "power"}, func(s *Spec, v string) { s.Uncertainty.Noise = v }),
		choices("noiseuse", u.NoiseUse, false, []string{"predict", "fit"}, func(s *Spec, v string) { s.Uncertainty.NoiseUse = v }),
		choices("conformal", u.Conformal, false, []string{"none", "split", "group:mean"}, func(s *Spec, v string) { s.Uncertainty.Conformal = v }),
		choices("transform", spec.Transform, spec.Transform == "auto", model.Transforms(), func(s *Spec, v string) { s.Transform = v }),
		choices("likelihood", u.Likelihood, u.Likelihood == "auto", model.Likelihoods(), func(s *Spec, v string) { *s = withLikelihood(*s, v) }),
		whole("patience", f.Patience, false, 1, 4*f.Patience, func(s *Spec, v int) { s.Fit.Patience = v }),
	)
	if f.Solver == "adam" {
		all = append(all,
			number("rate", f.Rate, true, f.Rate/10, f.Rate*10, func(s *Spec, v float64) { s.Fit.Rate = v }),
			number("batch", f.Batch, false, 0.01, 1, func(s *Spec, v float64) { s.Fit.Batch = v }),
			whole("epochs", f.Epochs, false, 2, 4*f.Epochs, func(s *Spec, v int) { s.Fit.Epochs = v }),
			choices("schedule", f.Schedule, false, []string{"joint", "block"}, func(s *Spec, v string) { s.Fit.Schedule = v }))
	} else {
		all = append(all,
			whole("sweeps", f.Sweeps, false, max(1, f.Sweeps/4), 4*f.Sweeps, func(s *Spec, v int) { s.Fit.Sweeps = v }),
			whole("cgsteps", f.CGSteps, false, 1, 4*f.CGSteps, func(s *Spec, v int) { s.Fit.CGSteps = v }))
	}
	if !u.Bayesian() {
		lambda, given := f.Lambda.Value()
		learned := !given || lambda == 0 || f.Ridge == "auto"
		weight := number("lambda", lambda, !learned, lambda/100, lambda*100, func(s *Spec, v float64) { s.Fit.Lambda = model.LambdaOf(v) })
		weight.given = f.Lambda.String()
		all = append(all, weight,
			choices("ridge", f.Ridge, false, []string{"frequency", "uniform"}, func(s *Spec, v string) { s.Fit.Ridge = v }))
	}
	return append(all, termKnobs(spec)...), nil
}

// termKnobs leave terms out, but for the first. The last comes first, so that
// the numbers of those before it hold, and all come after what else changes terms.
func termKnobs(spec Spec) []knob {
	var all []knob
	for i := len(spec.Terms) - 1; i > 0; i-- {
		all = append(all, either("term."+strconv.Itoa(i+1), "use", true, "use", "none", func(s *Spec, v string) {
			if v == "none" {
				s.Terms = slices.Delete(s.Terms, i, i+1)
			}
		}))
	}
	return all
}

func choices(name, given string, derived bool, list []string, set func(s *Spec, v string)) knob {
	return knob{Param: tune.Param{Name: name, Kind: tune.Choice, Choices: list}, given: given, derived: derived, turn: set}
}

// either has two choices and no others.
func either(name, given string, derived bool, one, other string, set func(s *Spec, v string)) knob {
	k := choices(name, given, derived, []string{one, other}, set)
	k.closed = true
	return k
}

// whole varies a whole number by its logarithm.
func whole(name string, given int, derived bool, low, high int, set func(s *Spec, v int)) knob {
	p := tune.Param{Name: name, Kind: tune.LogInteger, Low: float64(low), High: float64(high)}
	return knob{Param: p, given: strconv.Itoa(given), derived: derived, turn: func(s *Spec, v string) { set(s, tune.Values{name: v}.Int(name)) }}
}

// number varies a number by its logarithm.
func number(name string, given float64, derived bool, low, high float64, set func(s *Spec, v float64)) knob {
	p := tune.Param{Name: name, Kind: tune.LogUniform, Low: low, High: high}
	return knob{Param: p, given: strconv.FormatFloat(given, 'g', -1, 64), derived: derived, turn: func(s *Spec, v string) { set(s, tune.Values{name: v}.Float(name)) }}
}

// rankKnobs has one knob for a term of equal ranks, else one a rank.
func rankKnobs(i int, t model.Term) []knob {
	if len(t.Ranks) == 0 {
		return nil
	}
	oneKnob := func(name string, rank int, which func(j int) bool) knob {
		return whole(name, rank, true, max(1, rank/4), min(4*rank, model.MaxRank), func(s *Spec, v int) {
			changeTerm(s, i, func(t *model.Term) {
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
		return []knob{oneKnob(name, t.Ranks[0], func(int) bool { return true })}
	}
	var all []knob
	for j, r := range t.Ranks {
		all = append(all, oneKnob(name+"."+strconv.Itoa(j+1), r, func(other int) bool { return other == j }))
	}
	return all
}

func changeTerm(s *Spec, i int, change func(t *model.Term)) {
	t, err := model.ParseTerm(s.Terms[i], s.ModeNames())
	if err != nil {
		panic("kft: " + err.Error()) // it was parsed before
	}
	change(&t)
	s.Terms[i] = t.String()
}

// setInference gives a posterior a solver that finds one, and a point likewise.
func setInference(s *Spec, v string) {
	s.Uncertainty.Inference = v
	switch {
	case s.Uncertainty.Bayesian() && s.Fit.Solver == "als":
		s.Fit.Solver = "cavi"
	case !s.Uncertainty.Bayesian() && s.Fit.Solver == "cavi":
		s.Fit.Solver = "als"
	}
}

// simpleKernels may take each other's place.
var simpleKernels = []string{"rbf", "matern12", "matern32", "matern52"}

// sideKnobs leaves kernels alone that belong to a mode or are composed: they say
// something about the data. A length-scale a column differs from one for all
// only where they are learned.
func sideKnobs(spec Spec) ([]knob, error) {
	side := spec.Side
	all := []knob{choices("variant", side.Variant, true, model.Variants(), func(s *Spec, v string) { s.Side.Variant = v }),
		choices("space", side.Space, false, sideinfo.Spaces(), func(s *Spec, v string) { s.Side.Space = v }),
		choices("intercept", side.Intercept, false, []string{"yes", "no"}, func(s *Spec, v string) { s.Side.Intercept = v })}
	if side.Space != "primal" {
		if i := slices.IndexFunc(side.Kernels, func(k string) bool { return !strings.Contains(k, "=") }); i >= 0 {
			given, isARD := strings.CutSuffix(side.Kernels[i], ":ard")
			simple := slices.Contains(simpleKernels, given)
			all = append(all,
				choices("kernel", given, simple, simpleKernels, func(s *Spec, v string) {
					s.Side.Kernels[i] = v
					if isARD && slices.Contains(simpleKernels, v) {
						s.Side.Kernels[i] += ":ard"
					}
				}),
				choices("lengthscales", side.LengthScales, false, []string{"fixed", "learn"}, func(s *Spec, v string) { s.Side.LengthScales = v }),
				either("ard", yesNo(isARD), simple && side.LengthScales == "learn", "no", "yes", func(s *Spec, v string) {
					name, _ := strings.CutSuffix(s.Side.Kernels[i], ":ard")
					if v == "yes" && slices.Contains(simpleKernels, name) {
						name += ":ard"
					}
					s.Side.Kernels[i] = name
				}))
		}
		all = append(all, whole("columns", side.Columns, true, max(1, side.Columns/4), 2*side.Columns, func(s *Spec, v int) { s.Side.Columns = v }))
	}
	tables, err := spec.SideTables()
	if err != nil {
		return nil, err
	}
	for _, t := range tables {
		all = append(all, either("side."+t.Mode, "use", len(tables) > 1, "use", "none", func(s *Spec, v string) {
			if v == "none" {
				dropSide(s, t.Mode)
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

// dropSide takes the side table of a mode out, and without any makes all plain.
func dropSide(s *Spec, mode string) {
	s.Side.Tables = slices.DeleteFunc(s.Side.Tables, func(text string) bool {
		t, err := sideinfo.ParseSide(text)
		return err == nil && t.Mode == mode
	})
	s.Side.Kernels = slices.DeleteFunc(s.Side.Kernels, func(k string) bool { return strings.HasPrefix(k, mode+"=") })
	if strings.HasSuffix(s.Side.Replace, ":"+mode) {
		s.Side.Replace = ""
	}
	if len(s.Side.Tables) > 0 {
		return
	}
	s.Side.Variant, s.Side.Replace = "plain", ""
	for i := range s.Terms {
		changeTerm(s, i, func(t *model.Term) {
			if t.Variant != "" {
				*t = model.Term{Cores: t.Cores, Ranks: t.Ranks, Variant: "plain"}
			}
		})
	}
}
