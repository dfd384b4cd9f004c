// Package power estimates the power of the scale on which the effects of modes on a target are additive.
package power

import (
	"context"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/predictive"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
	"github.com/kernel-fried-tensor/kft/train/fitdata"
)

const (
	sampleRows = 200_000 // training rows that a power is estimated from
	foldRows   = 40_000  // up to this many rows, each of them is held out once
	crpsRows   = 12_000  // held-out rows whose CRPS is computed
	steps      = 10      // distances between the powers that are tried
	// leastOutliers is the share of outliers from which Student noise is offered. Normal
	// errors have 2e-9 of them, Student errors of 3 degrees of freedom 2e-3.
	leastOutliers = 1e-3
	Margin        = 1.01 // factor on the smallest CRPS that counts as equally good
	// simpleRows is the number of rows from which a power is rounded to one whose predictions
	// cost less.
	simpleRows = 100_000
)

// Choose returns the specification with the estimated power in place of "power". A
// power of 1 is the identity.
func Choose(ctx context.Context, s spec.Spec, data *fitdata.Data, opt train.Options) (spec.Spec, *model.PowerEstimate, error) {
	if opt.Progress != nil {
		opt.Progress(train.Event{Stage: "choose", Note: "estimating the power of the scale"})
	}
	if err := data.CheckDomain(s); err != nil {
		return s, nil, err
	}
	rows := data.Sample(sampleRows, s.Seed)
	estimate, err := estimate(ctx, rows, s.Seed, opt.Threads)
	if err != nil {
		return s, nil, err
	}
	s.Transform = targetscale.Identity.String()
	if estimate.Power < 1 {
		s.Transform = targetscale.Power(estimate.Power, 1).Name()
	}
	return s, estimate, nil
}

// estimate compares powers by the CRPS of main and pair effects on held-out rows. Of
// all powers whose CRPS is within a hundredth of the smallest it takes the largest, the
// one nearest to the identity: CRPS changes little there, while the error of means
// transformed back grows with the curvature of the scale. A likelihood with the Jacobian
// is no better a criterion: it rewards a small power for describing many small values
// well, whatever that costs the large ones.
func estimate(ctx context.Context, rows solver.Observations, seed uint64, threads int) (*model.PowerEstimate, error) {
	if rows.Len() == 0 {
		return nil, fielderr.Errorf("split", "the training set is empty, so the power of the scale cannot be estimated; change split")
	}
	if first := rows.Target(0); !slices.ContainsFunc(targets(&rows), func(y float64) bool { return y != first }) {
		return nil, &targetscale.ConstantError{Value: first, N: rows.Len()}
	}
	c := newComparison(rows, seed)
	found := &model.PowerEstimate{Unit: c.unit, Rows: rows.Len(), Tried: make([]model.PowerScore, steps+1)}
	parallel.For(threads, len(found.Tried), func(i int) {
		if ctx.Err() == nil {
			p := float64(i) / steps
			found.Tried[i].Power = p
			crps, outliers := c.score(p)
			found.Tried[i].CRPS, found.Tried[i].Outliers = min(crps, math.MaxFloat64), outliers // a record holds no infinity
		}
	})
	found.Power = largestGood(found.Tried)
	if rows.Len() >= simpleRows {
		found.Power = targetscale.RoundPower(found.Power)
	}
	return found, ctx.Err()
}

// largestGood returns the largest power whose CRPS, linear between those that were tried,
// is within the margin, rounded down to hundredths.
func largestGood(tried []model.PowerScore) float64 {
	limit := math.Inf(1)
	for _, t := range tried {
		limit = min(limit, Margin*t.CRPS)
	}
	last := len(tried) - 1
	for last >= 0 && !(tried[last].CRPS <= limit) {
		last--
	}
	switch last {
	case -1, len(tried) - 1:
		return 1
	}
	a, b := tried[last], tried[last+1]
	p := a.Power + (b.Power-a.Power)*(limit-a.CRPS)/(b.CRPS-a.CRPS)
	return math.Floor(100*p+1e-9) / 100
}

// A powerComparison compares powers on rows.
type comparison struct {
	rows        solver.Observations
	unit        float64
	nonNegative bool
	effects     *effects
	fold        []int8 // by row: the fold that holds it out, -1 if none does
	folds       int8
	held        []int // rows that are held out
	scored      []int // those of them whose CRPS is computed
}

func newComparison(rows solver.Observations, seed uint64) *comparison {
	c := &comparison{rows: rows, unit: targetscale.TargetUnit(rows.Y, rows.W), nonNegative: slices.Min(rows.Y) >= 0,
		effects: newEffects(&rows), fold: make([]int8, rows.Len()), folds: 1}
	if rows.Len() <= foldRows {
		c.folds = 4
	}
	// Random folds of equal size, so that none is empty.
	for k, i := range randstream.New(seed, "folds of a power").Perm(rows.Len()) {
		if c.fold[i] = int8(k % 4); c.fold[i] >= c.folds {
			c.fold[i] = -1
		}
	}
	for i, f := range c.fold {
		if f >= 0 {
			c.held = append(c.held, i)
		}
	}
	stride := max(1, (len(c.held)+crpsRows-1)/crpsRows)
	for k := 0; k < len(c.held); k += stride {
		c.scored = append(c.scored, c.held[k])
	}
	return c
}

// targets returns the values of rows, also of those that float32 is too coarse for.
func targets(rows *solver.Observations) []float64 {
	out := make([]float64, rows.Len())
	for i := range out {
		out[i] = rows.Target(i)
	}
	return out
}

// outlierSD is the number of standard deviations from which an error is one of an outlier.
const outlierSD = 6

// score fits the effects on the scale of a power and returns the CRPS of held-out rows and
// the share of outliers among them.
func (c *comparison) score(p float64) (crps, outliers float64) {
	t := targetscale.Power(p, c.unit)
	z := targets(&c.rows)
	for i, y := range z {
		z[i] = t.Forward(y)
	}
	mean, variance := make([]float64, len(z)), make([]float64, len(z))
	fit := make([]bool, len(z))
	for f := range c.folds {
		for i, fold := range c.fold {
			fit[i] = fold != f
		}
		m, v := c.effects.predict(z, fit)
		for i, fold := range c.fold {
			if fold == f {
				mean[i], variance[i] = m[i], v[i]
			}
		}
	}
	squared := c.effects.mean(c.held, func(i int) float64 { return (z[i] - mean[i]) * (z[i] - mean[i]) })
	explained := c.effects.mean(c.held, func(i int) float64 { return variance[i] })
	noise := max(squared-explained, squared/10)
	outliers = c.effects.mean(c.held, func(i int) float64 {
		if e := z[i] - mean[i]; e*e > outlierSD*outlierSD*(variance[i]+noise) {
			return 1
		}
		return 0
	})
	return c.effects.mean(c.scored, func(i int) float64 {
		d := predictive.Gaussian(t, mean[i], variance[i], noise)
		if c.nonNegative {
			d = d.NonNegative()
		}
		return d.CRPS(c.rows.Target(i))
	}), outliers
}

// HasOutliers reports whether the errors on the scale nearest to the estimated one have
// many outliers.
func HasOutliers(e *model.PowerEstimate) bool {
	return e != nil && e.Tried[int(math.Round(e.Power*steps))].Outliers >= leastOutliers
}
