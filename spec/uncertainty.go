package spec

import (
	"cmp"
	"strings"

	"github.com/kernel-fried-tensor/kft/tt"
)

// An Uncertainty specifies how uncertainty is modelled.
type Uncertainty struct {
	Inference  string `yaml:"inference" json:"inference" doc:"map (a point estimate), mean-field, multivariate, entity-covariance, or auto with automatic terms"`
	Likelihood string `yaml:"likelihood" json:"likelihood" doc:"gaussian, poisson, negative-binomial, zero-inflated, hurdle, bernoulli (0/1 or yes/no), ordinal (few ordered values), student (outliers) or auto"`
	Noise      string `yaml:"noise" json:"noise" doc:"gaussian: constant, power (of the mean), entity:store,item, power:store,store*item or auto (by validation)"`
	NoiseUse   string `yaml:"noise-use" json:"noise-use" doc:"predict (noise model only in predictions), fit (also in training), or auto with automatic terms"`
	Conformal  string `yaml:"conformal" json:"conformal" doc:"none, split, group:mean, group:MODE, horizon or auto; uses half of the validation set"`
	Heaping    string `yaml:"heaping" json:"heaping" doc:"whole numbers that prefer some values, as sales by the case: auto (learned if it helps) or none"`
	Mixing     string `yaml:"mixing" json:"mixing" doc:"forecasts moved by and means mixed with recent values of their series: auto (if it helps) or none"`
	Covariance string `yaml:"covariance" json:"covariance" doc:"multivariate with adam: factor of a covariance, triangular or paper (ltri(B B') + D)"`
	Moments    string `yaml:"moments" json:"moments" doc:"variance of a prediction: exact or paper"`

	NoiseVariance Variance  `yaml:"noise-variance" json:"noise-variance" doc:"of a posterior, on the standardised scale: a number above 0, or auto (learned)"`
	PriorVariance Variance  `yaml:"prior-variance" json:"prior-variance" doc:"of a posterior, of the weights of all blocks: a number above 0, or auto (learned for each)"`
	PriorMean     PriorMean `yaml:"prior-mean" json:"prior-mean" doc:"of a posterior, of the weights V': a number, or auto (1 for wlr, 0 otherwise)"`
}

// Inferences returns the values of uncertainty.inference.
func Inferences() []string { return []string{"map", "mean-field", "multivariate", "entity-covariance"} }

// Likelihoods returns the values of uncertainty.likelihood, except auto.
func Likelihoods() []string {
	return []string{"gaussian", "poisson", "negative-binomial", "zero-inflated", "hurdle", "bernoulli", "ordinal", "student"}
}

// ComparedLikelihoods returns the likelihoods that an automatic choice compares. That of
// values 0 and 1 is not among them: it is the only one for such values.
func ComparedLikelihoods() []string {
	return []string{"gaussian", "poisson", "negative-binomial", "student"}
}

func (u *Uncertainty) fill(d Uncertainty) {
	fill(&u.Inference, d.Inference)
	fill(&u.Likelihood, d.Likelihood)
	fill(&u.Noise, d.Noise)
	fill(&u.NoiseUse, d.NoiseUse)
	fill(&u.Conformal, d.Conformal)
	fill(&u.Heaping, d.Heaping)
	fill(&u.Mixing, d.Mixing)
	fill(&u.Covariance, d.Covariance)
	fill(&u.Moments, d.Moments)
}

// Bayesian reports whether the weights have a posterior.
func (u Uncertainty) Bayesian() bool { return u.Inference != "map" }

// Counts reports whether the likelihood is one of counts.
func (u Uncertainty) Counts() bool {
	switch u.Likelihood {
	case "poisson", "negative-binomial", "zero-inflated", "hurdle":
		return true
	}
	return false
}

// Finite reports whether the likelihood is one of few possible values, for which
// intervals have no conformal correction.
func (u Uncertainty) Finite() bool {
	return u.Likelihood == "bernoulli" || u.Likelihood == "ordinal"
}

// Links reports whether the likelihood models the target itself through a link, and has
// its own noise: it leaves no choice of the scale.
func (u Uncertainty) Links() bool { return u.Counts() || u.Finite() }

// OwnNoise reports whether the likelihood has its own noise.
func (u Uncertainty) OwnNoise() bool { return u.Links() || u.Likelihood == "student" }

// Family returns the family of the posterior.
func (u Uncertainty) Family() tt.Family {
	if !u.Bayesian() {
		return tt.Point
	}
	return tt.Family(u.Inference)
}

// ConformalMode returns the mode whose entities group the conformal correction, "" for
// none.
func (u Uncertainty) ConformalMode() string {
	group, found := strings.CutPrefix(u.Conformal, "group:")
	if !found || group == "mean" {
		return ""
	}
	return group
}

func (s Spec) validateUncertainty(ps *Problems) {
	u, modes := s.Uncertainty, s.ModeNames()
	inferences := Inferences()
	if s.Automatic() {
		inferences = append(inferences, Auto)
	}
	knownInference := oneOf(ps, "uncertainty.inference", u.Inference, inferences...)
	knownLikelihood := oneOf(ps, "uncertainty.likelihood", u.Likelihood, append(Likelihoods(), "auto")...)
	oneOf(ps, "uncertainty.noise-use", u.NoiseUse, "predict", "fit", Auto) // auto is predict where terms are given
	oneOf(ps, "uncertainty.heaping", u.Heaping, "auto", "none")
	oneOf(ps, "uncertainty.mixing", u.Mixing, "auto", "none")
	oneOf(ps, "uncertainty.moments", u.Moments, "exact", "paper")
	if u.Covariance != "" { // models of earlier versions have none
		oneOf(ps, "uncertainty.covariance", u.Covariance, "triangular", "paper")
	}
	knownNoise := u.validateNoise(ps, modes)
	if mode := u.ConformalMode(); mode != "" {
		knownMode(ps, "uncertainty.conformal", mode, modes)
	} else {
		oneOf(ps, "uncertainty.conformal", u.Conformal, "auto", "none", "split", "group:mean", "group:MODE", "horizon")
	}
	if !knownInference || !knownLikelihood {
		return // the checks below depend on both
	}
	if u.OwnNoise() {
		switch {
		case !u.Bayesian():
			ps.Addf("uncertainty.likelihood", "%s requires a posterior; set uncertainty.inference to mean-field", u.Likelihood)
		case u.Links() && s.Transform != "identity" && s.validateTransform(new(Problems)):
			ps.Addf("uncertainty.likelihood", "%s models the target itself, through a link; set transform to identity", u.Likelihood)
		case u.Noise != "constant" && knownNoise:
			ps.Addf("uncertainty.noise", "%s requires the gaussian likelihood; %s has its own noise, so set uncertainty.noise to constant", u.Noise, u.Likelihood)
		}
	}
	if u.Finite() && u.Conformal != Auto && u.Conformal != "none" {
		ps.Addf("uncertainty.conformal", "%s requires a target of many values; set it to none for the %s likelihood, whose probabilities need no intervals", u.Conformal, u.Likelihood)
	}
	if u.Inference == string(tt.Multivariate) && s.Side.Space == "dual-unwhitened" && len(s.Side.Tables) > 0 {
		ps.Addf("side.space", "dual-unwhitened has independent prior weights V, and multivariate needs their prior covariance, the inverse of the kernel matrix; set side.space to dual, which is that model with W = L'V")
	}
	if s.Data.Exposure != "" && !u.Counts() {
		ps.Addf("data.exposure", "an exposure requires a likelihood of counts; set uncertainty.likelihood to poisson, negative-binomial, zero-inflated or hurdle, or divide the target by the exposure")
	}
	if s.Data.Censored != "" {
		switch {
		case !u.Bayesian() || s.Fit.Solver == "adam":
			ps.Addf("data.censored", "censored targets require a posterior of the solver cavi; set uncertainty.inference to mean-field")
		case u.Likelihood != "gaussian":
			ps.Addf("data.censored", "censored targets require the gaussian likelihood, but uncertainty.likelihood is %s", u.Likelihood)
		case u.Noise != "constant" || u.NoiseVariance != Variance{}:
			ps.Addf("data.censored", "censored targets have one noise variance, which is learned; set uncertainty.noise to constant and leave uncertainty.noise-variance auto")
		case u.Conformal != Auto && u.Conformal != "none":
			ps.Addf("uncertainty.conformal", "%s requires known errors, which censored targets do not have; set it to none", u.Conformal)
		}
	}
	if u.NoiseUse == "fit" && u.Noise == Auto {
		ps.Addf("uncertainty.noise-use", "fit requires a given noise model; set uncertainty.noise, as in power or entity:%s", cmp.Or(strings.Join(modes[:min(1, len(modes))], ""), "MODE"))
	}
	if u.NoiseUse == "fit" && !u.Bayesian() {
		ps.Addf("uncertainty.noise-use", "fit requires a posterior; set uncertainty.inference to mean-field")
	}
	if u.Likelihood == "auto" && !u.Bayesian() {
		ps.Addf("uncertainty.likelihood", "auto requires a posterior; set uncertainty.inference to mean-field")
	}
	if u.Covariance == "paper" && (u.Inference != string(tt.Multivariate) || s.Fit.Solver != "adam") {
		ps.Addf("uncertainty.covariance", "paper is a parametrisation for gradients; set uncertainty.inference to multivariate and fit.solver to adam, or leave it triangular")
	}
	s.validateSeveralTargets(ps)
	s.validateVariances(ps)
	s.validateSolver(ps)
}

// validateSolver reports a solver that does not support the inference or the
// likelihood, which are known values.
func (s Spec) validateSolver(ps *Problems) {
	u := s.Uncertainty
	switch {
	case u.Bayesian() && s.Fit.Solver == "als":
		ps.Addf("fit.solver", "als computes a point estimate, but uncertainty.inference is %s; set fit.solver to cavi or adam", u.Inference)
	case u.Bayesian() && s.Fit.Solver == "adam" && u.Likelihood != "gaussian":
		ps.Addf("fit.solver", "adam supports only the gaussian likelihood, but uncertainty.likelihood is %s; set fit.solver to cavi", u.Likelihood)
	case u.Bayesian() && s.Fit.Solver == "adam" && u.NoiseUse == "fit":
		ps.Addf("fit.solver", "adam supports only one noise variance, but uncertainty.noise-use is fit; set fit.solver to cavi")
	case u.Bayesian() && s.Fit.Solver == "adam" && s.Fit.Epochs == 1:
		ps.Addf("fit.epochs", "adam needs 2 or more for a posterior, for its means and its variances")
	case !u.Bayesian() && s.Fit.Solver == "cavi":
		ps.Addf("fit.solver", "cavi computes a posterior; set uncertainty.inference to mean-field, multivariate or entity-covariance")
	}
}
