package automatic

import (
	"context"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
	"github.com/kernel-fried-tensor/kft/search/power"
	"github.com/kernel-fried-tensor/kft/spec"
)

// maxCountMean is the mean up to which a likelihood of counts is offered. A transform
// serves larger counts better: its noise may differ by entity, and values that occur more
// often than others have factors, both of which are chosen after the scale.
const maxCountMean = 3

// studentMargin is the share of the CRPS by which Student noise must be better than the
// default: it excludes noise by entity or by size, which is chosen later.
const studentMargin = 0.02

// margin returns the share of the CRPS by which a specification must be better, beyond
// chance, than the default.
func margin(s, first spec.Spec) float64 {
	if s.Uncertainty.Likelihood == "student" && first.Uncertainty.Likelihood != "student" {
		return studentMargin
	}
	return 0
}

// chooseScale chooses the scale and the likelihood with a model of effects, which is
// fast and close to the final model in what matters for the scale: how the spread grows
// with the mean.
func (c *chooser) chooseScale(ctx context.Context) error {
	effects := c.effects(nil)
	if len(effects) == 0 {
		effects = []spec.Term{{Cores: [][]string{c.names(c.bySize(1)...)}}}
	}
	start := c.withTerms(effects)
	if c.spec.Data.Censored != "" {
		c.spec.Uncertainty.Likelihood, start.Uncertainty.Likelihood = "gaussian", "gaussian"
	}
	if c.spec.Uncertainty.Likelihood == spec.Auto && c.data.ZeroOne() {
		return c.compare(ctx, "likelihood", []candidate{{"bernoulli", start.WithLikelihood("bernoulli")}})
	}
	if c.spec.Uncertainty.Likelihood == spec.Auto {
		start.Uncertainty.Likelihood = "gaussian"
	}
	if start.Transform == spec.Auto || start.Transform == "power" {
		var err error
		if start, c.power, err = power.Choose(ctx, start, c.data, c.opt); err != nil {
			return err
		}
	}
	candidates := []candidate{{start.Transform, start}}
	if c.spec.Uncertainty.Likelihood == spec.Auto {
		many := ManyZeros(c.data.Targets())
		if many || c.hasSmallCounts() {
			candidates = append(candidates, candidate{"negative binomial counts", start.WithLikelihood("negative-binomial")})
		}
		if many {
			candidates = append(candidates, candidate{"zero-inflated counts", start.WithLikelihood("zero-inflated")}, candidate{"counts with a hurdle", start.WithLikelihood("hurdle")})
		}
	}
	if c.spec.Uncertainty.Likelihood == spec.Auto && power.HasOutliers(c.power) && !mostlyOneValue(c.data.Targets()) {
		candidates = append(candidates, candidate{start.Transform + " with student noise", start.WithLikelihood("student")})
	}
	if c.spec.Uncertainty.Likelihood == spec.Auto {
		c.gaussian = &start
	}
	if err := c.compare(ctx, "scale", candidates); err != nil {
		return err
	}
	options := c.decisions[len(c.decisions)-1].Options
	if last := len(options) - 1; last > 0 && options[0].Taken && candidates[last].spec.Uncertainty.Likelihood == "student" {
		c.narrowly = options[last].CRPS != nil && options[0].CRPS != nil && *options[last].CRPS < *options[0].CRPS
	}
	return nil
}

// confirmScale compares a likelihood that was chosen with effects alone with Gaussian noise
// on the transformed scale once more, now with all terms: a series or a train may explain what
// seemed to be noise, and counts whose rates change by orders of magnitude are hard to fit. On a small table Student
// noise that was better by less than its margin is compared once more too.
func (c *chooser) confirmScale(ctx context.Context) error {
	chosen := c.spec.Uncertainty.Likelihood
	if c.quick() || c.gaussian == nil || chosen == "gaussian" && !(c.narrowly && c.rows <= c.effort.rows) {
		return nil
	}
	if chosen == "gaussian" {
		return c.compare(ctx, "scale, with all terms", []candidate{{c.spec.Transform, c.spec}, {c.spec.Transform + " with student noise", c.spec.WithLikelihood("student")}})
	}
	other := c.spec.Clone()
	other.Transform = c.gaussian.Transform
	other.Uncertainty.Likelihood, other.Uncertainty.Noise, other.Uncertainty.NoiseVariance = "gaussian", c.gaussian.Uncertainty.Noise, c.gaussian.Uncertainty.NoiseVariance
	candidates := []candidate{{chosen, c.spec}, {other.Transform, other}}
	if chosen == "hurdle" || chosen == "zero-inflated" {
		// One field drives both parts of these likelihoods. It first explains which counts are above 0, and in later sweeps, as
		// the bound still rises, how large these are, which may forget the first part: only a whole training shows it.
		candidates = append(candidates, candidate{"negative-binomial", c.spec.WithLikelihood("negative-binomial")})
		sweeps, scores := c.effort.sweeps, c.scores
		c.effort.sweeps, c.scores = c.effort.fitting, map[string]*score{}
		defer func() { c.effort.sweeps, c.scores = sweeps, scores }()
	}
	return c.compare(ctx, "scale, with all terms", candidates)
}

// confirmPower compares the power that effects suggested for forecasts of a small table with others
// once more, now with seasons and trends: effects of single periods do not tell how these grow with
// the level.
func (c *chooser) confirmPower(ctx context.Context) error {
	if c.quick() || c.power == nil || c.rows > c.effort.rows || c.spec.Uncertainty.Likelihood != "gaussian" {
		return nil
	}
	if y := c.data.Targets(); len(y) == 0 || slices.Min(y) <= 0 {
		return nil
	}
	candidates := []candidate{{c.spec.Transform, c.spec}}
	for _, p := range []float64{0, 0.5, 1} {
		if math.Abs(p-c.power.Power) < 0.2 {
			continue
		}
		s := c.spec.Clone()
		s.Transform = targetscale.Identity.String()
		if p < 1 {
			s.Transform = targetscale.Power(p, 1).Name()
		}
		candidates = append(candidates, candidate{s.Transform, s})
	}
	return c.compareBy(ctx, "scale, with seasons", power.Margin-1, candidates)
}

// leastZeros is the share of zeros from which likelihoods with a probability of 0 of its own
// are offered, and a negative binomial for counts of any size.
const leastZeros = 0.2

// ManyZeros reports whether all targets are counts, and so many of them zeros that likelihoods with a
// probability of 0 of its own are offered.
func ManyZeros(y []float32) bool {
	n := 0
	for _, v := range y {
		switch {
		case v < 0 || v != float32(math.Trunc(float64(v))):
			return false
		case v == 0:
			n++
		}
	}
	return float64(n)/float64(max(len(y), 1)) >= leastZeros
}

// mostlyOneValue reports whether more than half of the targets are equal, such as the amounts of
// claims, most of which are 0. The density of Student noise around this value is unbounded: the
// other values count as outliers, and the noise shrinks to nothing.
func mostlyOneValue(y []float32) bool {
	var value float32
	lead := 0 // of the rows with the value so far over all others, so that only a majority is left at the end
	for _, v := range y {
		switch {
		case lead == 0:
			value, lead = v, 1
		case v == value:
			lead++
		default:
			lead--
		}
	}
	n := 0
	for _, v := range y {
		if v == value {
			n++
		}
	}
	return 2*n > len(y)
}

// hasSmallCounts reports whether all targets are counts, with a small mean. Counts with
// rates that differ vary more than their mean. Ratings, which are not counts, vary less.
func (c *chooser) hasSmallCounts() bool {
	sum, squares := 0.0, 0.0
	y := c.data.Targets()
	for _, v := range y {
		if v < 0 || v != float32(math.Trunc(float64(v))) {
			return false
		}
		sum += float64(v)
		squares += float64(v) * float64(v)
	}
	mean := sum / float64(len(y))
	return mean <= maxCountMean && squares/float64(len(y))-mean*mean >= mean
}
