package search

import (
	"context"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/predictive"
	"github.com/kernel-fried-tensor/kft/spec"
)

// Counts with a larger mean are close to continuous, so that a transform serves them as
// well as a likelihood of counts, at less cost.
const maxCountMean = 20

// chooseScale chooses the scale and the likelihood with a model of effects, which is
// fast and close to the final model in what matters for the scale: how the spread grows
// with the mean.
func (c *chooser) chooseScale(ctx context.Context) error {
	effects := c.effects(nil)
	if len(effects) == 0 {
		effects = []spec.Term{{Cores: [][]string{c.names(c.bySize(1)...)}}}
	}
	start := c.withTerms(effects)
	if c.spec.Uncertainty.Likelihood == spec.Auto {
		start.Uncertainty.Likelihood = "gaussian"
	}
	var candidates []candidate
	if start.Transform == spec.Auto {
		for _, t := range predictive.Transforms() {
			s := start.Clone()
			s.Transform = t
			if c.data.CheckDomain(s) == nil {
				candidates = append(candidates, candidate{t, s})
			}
		}
	} else {
		candidates = []candidate{{start.Transform, start}}
	}
	if c.spec.Uncertainty.Likelihood == spec.Auto && c.hasSmallCounts() {
		s := withLikelihood(start, "negative-binomial")
		candidates = append(candidates, candidate{"negative binomial counts", s})
	}
	if c.data.Count(dataset.Valid) == 0 && len(candidates) > 1 {
		candidates = []candidate{candidates[c.skewedScale(candidates)]}
	}
	return c.compare(ctx, "scale", candidates)
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

// skewedScale returns the candidate for a table without a validation set: the cube root
// for a target whose mean is far above its median, otherwise the first.
func (c *chooser) skewedScale(candidates []candidate) int {
	y := c.data.Targets()
	mean := 0.0
	for _, v := range y {
		mean += float64(v) / float64(len(y))
	}
	slices.Sort(y)
	median := float64(y[len(y)/2])
	i := slices.IndexFunc(candidates, func(one candidate) bool { return one.spec.Transform == predictive.Cbrt1p.String() })
	if i >= 0 && mean > 1.3*median {
		return i
	}
	return 0
}
