package spec

import (
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/tt"
)

// An Uncertainty says how what is not known is modelled.
type Uncertainty struct {
	Inference  string `yaml:"inference" json:"inference" doc:"map (a point), mean-field, multivariate or entity-covariance"`
	Likelihood string `yaml:"likelihood" json:"likelihood" doc:"gaussian, poisson, negative-binomial or auto"`
	Noise      string `yaml:"noise" json:"noise" doc:"gaussian: constant, entity:item, entity:store,item or power (of the mean)"`
	NoiseUse   string `yaml:"noise-use" json:"noise-use" doc:"the noise model serves to predict, or to fit as well"`
	Conformal  string `yaml:"conformal" json:"conformal" doc:"none, split, group:mean, group:MODE or auto; takes half of the valid part"`
	Moments    string `yaml:"moments" json:"moments" doc:"variance of a prediction: exact, or as in the paper"`
}

// Inferences, Likelihoods and their like are the values the fields take.
func Inferences() []string { return []string{"map", "mean-field", "multivariate", "entity-covariance"} }

// Likelihoods are the laws of a target given the field.
func Likelihoods() []string { return []string{"gaussian", "poisson", "negative-binomial"} }

func (u *Uncertainty) fill(d Uncertainty) {
	fill(&u.Inference, d.Inference)
	fill(&u.Likelihood, d.Likelihood)
	fill(&u.Noise, d.Noise)
	fill(&u.NoiseUse, d.NoiseUse)
	fill(&u.Conformal, d.Conformal)
	fill(&u.Moments, d.Moments)
}

// Bayesian tells whether weights have posteriors.
func (u Uncertainty) Bayesian() bool { return u.Inference != "map" }

// Counts tells whether the target is a count.
func (u Uncertainty) Counts() bool {
	return u.Likelihood == "poisson" || u.Likelihood == "negative-binomial"
}

// Family returns the form of the posterior.
func (u Uncertainty) Family() tt.Family {
	if !u.Bayesian() {
		return tt.Point
	}
	return tt.Family(u.Inference)
}

// NoiseModes returns the modes whose entities have noise of their own, nil for
// none.
func (u Uncertainty) NoiseModes() []string {
	list, found := strings.CutPrefix(u.Noise, "entity:")
	if !found {
		return nil
	}
	return strings.Split(list, ",")
}

// ConformalMode returns the mode by whose entities the conformal layer is
// grouped, "" for none.
func (u Uncertainty) ConformalMode() string {
	group, found := strings.CutPrefix(u.Conformal, "group:")
	if !found || group == "mean" {
		return ""
	}
	return group
}

func (s Spec) validateUncertainty(ps *Problems) {
	u, modes := s.Uncertainty, s.ModeNames()
	oneOf(ps, "uncertainty.inference", u.Inference, Inferences()...)
	oneOf(ps, "uncertainty.likelihood", u.Likelihood, append(Likelihoods(), "auto")...)
	oneOf(ps, "uncertainty.noise-use", u.NoiseUse, "predict", "fit")
	oneOf(ps, "uncertainty.moments", u.Moments, "exact", "paper")
	known := func(path, mode string) {
		if !slices.Contains(modes, mode) {
			ps.Addf(path, "mode %q is not among the modes%s", mode, hintOrList(mode, modes))
		}
	}
	switch noise := u.NoiseModes(); {
	case noise == nil:
		oneOf(ps, "uncertainty.noise", u.Noise, "constant", "entity:MODE", "power")
	case len(noise) > 2:
		ps.Addf("uncertainty.noise", "%d modes; noise depends on one or two", len(noise))
	default:
		for i, m := range noise {
			known("uncertainty.noise", m)
			if i > 0 && m == noise[0] {
				ps.Addf("uncertainty.noise", "mode %q twice", m)
			}
		}
	}
	if mode := u.ConformalMode(); mode != "" {
		known("uncertainty.conformal", mode)
	} else {
		oneOf(ps, "uncertainty.conformal", u.Conformal, "auto", "none", "split", "group:mean", "group:MODE")
	}
	if u.Counts() {
		switch {
		case !u.Bayesian():
			ps.Addf("uncertainty.likelihood", "%s needs a posterior; set inference to mean-field", u.Likelihood)
		case s.Transform != "identity":
			ps.Addf("uncertainty.likelihood", "%s models the counts themselves, with a logarithmic link; set transform to identity", u.Likelihood)
		case u.Noise != "constant":
			ps.Addf("uncertainty.noise", "%s is for the gaussian likelihood; counts have noise of their own", u.Noise)
		}
	}
	if u.NoiseUse == "fit" && !u.Bayesian() {
		ps.Addf("uncertainty.noise-use", "fit needs a posterior; set inference to mean-field")
	}
	if u.Likelihood == "auto" && !u.Bayesian() {
		ps.Addf("uncertainty.likelihood", "auto needs a posterior; set inference to mean-field")
	}
	switch {
	case u.Bayesian() && s.Fit.Solver == "als":
		ps.Addf("fit.solver", "als finds a point; %s needs cavi or adam", u.Inference)
	case u.Bayesian() && s.Fit.Solver == "adam" && u.Likelihood != "gaussian":
		ps.Addf("fit.solver", "adam is for the gaussian likelihood; %s needs cavi", u.Likelihood)
	case u.Bayesian() && s.Fit.Solver == "adam" && u.NoiseUse == "fit":
		ps.Addf("fit.solver", "adam fits with one noise variance; noise-use fit needs cavi")
	case u.Bayesian() && s.Fit.Solver == "adam" && s.Fit.Epochs < 2:
		ps.Addf("fit.epochs", "adam needs 2 or more for a posterior: for its means and its variances")
	case !u.Bayesian() && s.Fit.Solver == "cavi":
		ps.Addf("fit.solver", "cavi finds a posterior; set inference to mean-field, multivariate or entity-covariance")
	}
}
