package conformal

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/predictive"
)

// MaxHorizon is the largest number of horizons that have a factor of their own.
const MaxHorizon = 1000

// factorLevel is the level of the central interval whose width defines the factor of a
// horizon.
const factorLevel = 0.9

// NewByHorizon returns a correction of forecasts: groups by bins of the location, as
// [NewByMean], and one factor per horizon by which intervals are wider or narrower than
// the model says. The horizon of a row is the number of periods from the last training
// period, 1 for the next one. The factor of a horizon is the 0.9 quantile of |z| of its
// rows divided by that of all rows, with its logarithm shrunk to 0 by the share of the
// variation between horizons that chance explains. A horizon of fewer than [MinGroupRows]
// rows has the factor before it, and horizons beyond [MaxHorizon] count as MaxHorizon. The
// distributions are those of z divided by the factor.
//
// A factor, rather than a distribution of its own, because rows of one period share
// shocks: their mean score says more about that period than about its horizon. These shocks
// are taken out of the scores first ([withoutShocks]).
func NewByHorizon(threads int, scores, location []float64, horizon []int32, bins int) (*Correction, error) {
	mustMatch(len(scores), len(horizon))
	horizon = slices.Clone(horizon)
	last := int32(0)
	for i, h := range horizon {
		horizon[i] = min(h, MaxHorizon)
		last = max(last, horizon[i])
	}
	if last < 1 {
		return nil, errors.New("a correction by horizon needs calibration rows of periods after the training rows, but there are none; use rows of later periods")
	}
	scores = withoutShocks(scores, horizon, int(last))
	groups := make([][]float64, last)
	var all []float64
	for i, h := range horizon {
		if size := math.Abs(scores[i]); h >= 1 && !math.IsNaN(size) && !math.IsInf(size, 0) {
			groups[h-1] = append(groups[h-1], size)
			all = append(all, size)
		}
	}
	factors := shrunkFactors(groups, quantileOf(all, factorLevel))
	divided := make([]float64, len(scores))
	for i, z := range scores {
		divided[i] = z
		if h := horizon[i]; h >= 1 {
			divided[i] = z / factors[h-1]
		}
	}
	c, err := NewByMean(threads, divided, location, bins)
	if err != nil {
		return nil, err
	}
	return c.withFactors(factors), nil
}

// sizedScores is the number of scores of [NewBySize].
const sizedScores = 999

// NewBySize returns a correction of forecasts up to a horizon of which so few rows have known values, that
// they say only how large errors are: the scores of Student's t with some degrees of freedom, times a size.
func NewBySize(size, freedom float64, rows int, last int32) (*Correction, error) {
	scores := make([]float64, sizedScores)
	for i := range scores {
		scores[i] = size * student(math.Sqrt2*math.Erfinv(2*float64(i+1)/(sizedScores+1)-1), freedom)
	}
	c, err := NewSplit(1, scores)
	if err != nil {
		return nil, err
	}
	factors := make([]float64, min(last, MaxHorizon))
	for h := range factors {
		factors[h] = 1
	}
	c = c.withFactors(factors)
	c.sized = rows
	return c, nil
}

// student returns the quantile of Student's t whose level is that of the normal quantile z, by the first terms of
// its expansion. The quantile of .95 has an error below .01 from 5 degrees of freedom on.
func student(z, freedom float64) float64 {
	square := z * z
	return z * (1 + (square+1)/(4*freedom) + (5*square*square+16*square+3)/(96*freedom*freedom))
}

// Symmetric returns scores of the same sizes, of which every second one in order of size is
// negative. It is for forecasts from a few origins: what the rows of a period have in common, and
// those of origins that overlap, says little about the next one, and would move medians and
// intervals, but not means, to one side. It costs O(n log n).
func Symmetric(scores []float64) []float64 {
	order, out := make([]int, len(scores)), make([]float64, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(math.Abs(scores[a]), math.Abs(scores[b])) })
	for k, i := range order {
		out[i] = math.Abs(scores[i])
		if k%2 == 0 {
			out[i] *= -1
		}
	}
	return out
}

// withoutShocks returns scores without the shocks of the periods in which they were measured, and as large as with them: the
// periods to come have shocks of their own. The
// mean scores of n rows of one horizon vary by t^2 + w/n, the variance t^2 of the shocks and
// that of the mean of n rows; the share t^2 / (t^2 + w/n) of what a horizon differs from the mean m
// over the H horizons is its shock. Of m itself, the share max(0, 1 - s^2 / (H m^2)) is left, an error of
// the model, with the variance s^2 between horizons. The scores of one horizon, and those of horizons of
// one row each, which do not tell shocks from noise, stay as they are.
func withoutShocks(scores []float64, horizon []int32, last int) []float64 {
	sum, squares, rows := make([]float64, last), make([]float64, last), make([]float64, last)
	counts := func(i int) bool {
		return horizon[i] >= 1 && !math.IsNaN(scores[i]) && !math.IsInf(scores[i], 0)
	}
	for i, h := range horizon {
		if counts(i) {
			sum[h-1] += scores[i]
			rows[h-1]++
		}
	}
	mean, square, periods, all, inverse := 0.0, 0.0, 0.0, 0.0, 0.0
	for h, n := range rows {
		if n > 0 {
			sum[h] /= n
			periods++
			all += n
			inverse += 1 / n
			d := sum[h] - mean
			mean += d / periods
			square += d * (sum[h] - mean)
		}
	}
	if periods < 2 || all == periods {
		return scores
	}
	for i, h := range horizon {
		if counts(i) {
			squares[h-1] += (scores[i] - sum[h-1]) * (scores[i] - sum[h-1])
		}
	}
	within := 0.0
	for _, s := range squares {
		within += s / (all - periods)
	}
	between := square / (periods - 1)
	shocks := max(0, between-within*inverse/periods)
	kept := 0.0
	if mean*mean > within {
		shocks += mean * mean // which horizons share
	} else if variance := between / periods; mean*mean > variance {
		kept = mean - variance/mean
	}
	larger := 1.0 // by the variance that is subtracted
	if within > 0 {
		larger = math.Sqrt(1 + shocks/within)
	}
	centred := slices.Clone(scores)
	for i, h := range horizon {
		if h < 1 || rows[h-1] == 0 {
			continue
		}
		centred[i] -= mean
		if shocks > 0 {
			centred[i] -= (sum[h-1] - mean) * shocks / (shocks + within/rows[h-1])
		}
		centred[i] = kept + larger*centred[i]
	}
	return centred
}

// quantileError is the standard error of the logarithm of the 0.9 quantile of |z|, for
// normal z, times the root of the number of rows: sqrt(0.9 0.1) / (2 phi(q) q), q = 1.645.
const quantileError = 0.885

// shrunkFactors returns the factors of horizons whose rows have the sizes |z|, given the
// quantile of all.
func shrunkFactors(sizes [][]float64, whole float64) []float64 {
	logs := make([]float64, len(sizes))
	variation, chance := 0.0, 0.0
	for h := range sizes {
		own, n := quantileOf(sizes[h], factorLevel), len(sizes[h])
		switch {
		case n >= MinGroupRows && own > 0 && whole > 0:
			logs[h] = math.Log(own / whole)
			variation += logs[h] * logs[h]
			chance += quantileError * quantileError / float64(n)
		case h > 0:
			logs[h] = logs[h-1]
		}
	}
	keep := 0.0
	if variation > chance {
		keep = 1 - chance/variation
	}
	factors := make([]float64, len(sizes))
	for h := range factors {
		factors[h] = math.Exp(keep * logs[h])
	}
	return factors
}

// quantileOf sorts values and returns their quantile, 0 for none.
func quantileOf(values []float64, level float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[min(int(level*float64(len(values)+1)), len(values)-1)]
}

// withFactors returns the correction with factors by horizon.
func (c *Correction) withFactors(factors []float64) *Correction {
	changed := *c
	changed.factors = factors
	changed.byHorizon = make([]*Correction, len(factors))
	for h, f := range factors {
		own := &Correction{grouping: c.grouping, edges: c.edges, pool: c.pool.Scaled(f), groups: make([]*predictive.ScoreDistribution, len(c.groups))}
		for g, scores := range c.groups {
			if scores != nil {
				own.groups[g] = scores.Scaled(f)
			}
		}
		changed.byHorizon[h] = own
	}
	return &changed
}

// Factors returns the factors by which forecasts one, two, ... periods ahead have wider
// intervals; nil for a correction that does not depend on the horizon.
func (c *Correction) Factors() []float64 { return slices.Clone(c.factors) }

// at returns the correction of a horizon. Horizons beyond the last with a factor have its
// factor, and rows that are no forecasts, with a horizon below 1, have none.
func (c *Correction) at(horizon int32) *Correction {
	if n := len(c.byHorizon); n > 0 && horizon > 0 {
		return c.byHorizon[min(int(horizon), n)-1]
	}
	return c
}

// checkFactors returns an error unless factors are possible.
func checkFactors(factors []float64) error {
	if len(factors) > MaxHorizon {
		return fmt.Errorf("there are factors for %d horizons, at most %d are possible", len(factors), MaxHorizon)
	}
	for h, f := range factors {
		if !(f > 0) || math.IsInf(f, 0) {
			return fmt.Errorf("the factor of horizon %d is %g, expected a finite number above 0", h+1, f)
		}
	}
	return nil
}
