package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// A candidate is a specification that is compared with others.
type candidate struct {
	value string // what distinguishes it, for the user
	spec  spec.Spec
}

// compare sets the specification to the candidate with the least CRPS on the validation
// set. The first is the default: another one must be better by more than chance. A
// candidate that the data does not allow is left out.
func (c *chooser) compare(ctx context.Context, subject string, candidates []candidate) error {
	return c.compareBy(ctx, subject, 0, candidates)
}

// compareBy is compare, except that another candidate than the first must be better by a
// share of the CRPS.
func (c *chooser) compareBy(ctx context.Context, subject string, least float64, candidates []candidate) error {
	decision := model.Decision{Subject: subject}
	if len(candidates) == 1 || c.data.Count(dataset.Valid) == 0 || c.late() {
		decision.Options = []model.Candidate{{Value: candidates[0].value, Taken: true}}
		c.decisions = append(c.decisions, decision)
		c.spec = candidates[0].spec
		return nil
	}
	compared := 0
	for _, d := range c.folds {
		compared += d.Count(dataset.Valid)
	}
	tolerance := max(least, 0.001+0.05/math.Sqrt(float64(compared)))
	best, lowest := -1, math.Inf(1)
	scores := c.scoresOf(ctx, subject, candidates)
	for i, one := range candidates[:len(scores)] {
		option := model.Candidate{Value: one.value}
		crps, err := scores[i].crps, scores[i].err
		switch {
		case err == nil:
			option.CRPS = finite(crps)
		case !c.skips(err):
			return err
		}
		decision.Options = append(decision.Options, option)
		if option.CRPS != nil && (best < 0 || crps < lowest*(1-tolerance-margin(one.spec, candidates[0].spec))) {
			best, lowest = i, crps
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if best < 0 {
		best = 0 // the final fit reports what is wrong
	}
	decision.Options[best].Taken = true
	c.decisions = append(c.decisions, decision)
	c.spec = candidates[best].spec
	return nil
}

// finite returns a CRPS for the record, nil for a model whose distributions have no finite mean, which is none to take.
func finite(crps float64) *float64 {
	if math.IsInf(crps, 0) || math.IsNaN(crps) {
		return nil
	}
	return &crps
}

// A score is the CRPS of a candidate, or why it has none.
type score struct {
	crps float64
	err  error
}

// scoresOf returns the scores of candidates: all of them, or the first ones if the time for
// comparisons is over.
func (c *chooser) scoresOf(ctx context.Context, subject string, candidates []candidate) []score {
	notes := func(from int) func(i int) {
		return func(i int) {
			if c.opt.Progress != nil {
				c.opt.Progress(train.Event{Stage: "choose", Note: fmt.Sprintf("%s: %s, %d of %d", subject, candidates[from+i].value, from+i+1, len(candidates))})
			}
		}
	}
	specs := make([]spec.Spec, len(candidates))
	for i, one := range candidates {
		specs[i] = one.spec
	}
	if c.deadline.IsZero() && c.workers(len(specs)*len(c.folds)) > 1 {
		return c.score(ctx, specs, notes(0))
	}
	var scores []score
	for i := range specs {
		scores = append(scores, c.score(ctx, specs[i:i+1], notes(i))...)
		if err := scores[i].err; err != nil && !c.skips(err) || ctx.Err() != nil || c.late() {
			break
		}
	}
	return scores
}

// score returns the mean CRPS on validation rows of short fits on samples of rows, for each
// specification. began is called when the first fit of one begins.
func (c *chooser) score(ctx context.Context, specs []spec.Spec, began func(i int)) []score {
	scores := make([]score, len(specs))
	informed, err := c.informedModes()
	if err != nil {
		for i := range scores {
			scores[i].err = err
		}
		return scores
	}
	var open []spec.Spec // that are not known yet, each once
	var places []int     // of the open ones among the specifications
	keys := make([]string, len(specs))
	for i, s := range specs {
		if s.Uncertainty.Noise == spec.Auto {
			s.Uncertainty.Noise = "constant"
		}
		if len(informed) > 0 && s.Side.Variant != "plain" { // a step before the choice of the variant
			s = withVariant(s, informed, s.Side.Variant)
		}
		keys[i] = string(s.YAML())
		if _, known := c.scores[keys[i]]; !known {
			c.scores[keys[i]] = score{}
			open, places = append(open, s), append(places, i)
		}
	}
	for k, found := range c.measureAll(ctx, open, func(k int) { began(places[k]) }) {
		c.scores[keys[places[k]]] = found
	}
	for i, key := range keys {
		scores[i] = c.scores[key]
	}
	for _, i := range places {
		if scores[i].err != nil {
			delete(c.scores, keys[i])
		}
	}
	return scores
}

// measure is score for one specification, without what is known already.
func (c *chooser) measure(ctx context.Context, s spec.Spec) (float64, error) {
	found := c.measureAll(ctx, []spec.Spec{s}, func(int) {})[0]
	return found.crps, found.err
}

// measureAll fits specifications on all folds. With folds, the given division has half of
// the weight: the final fit starts as the fit on it and finds the same optimum, which may be
// a bad one by chance. The origins of a forecast have equal weights.
func (c *chooser) measureAll(ctx context.Context, specs []spec.Spec, began func(i int)) []score {
	folds := len(c.folds)
	fits := make([]score, len(specs)*folds)
	workers := c.workers(len(fits))
	var progress sync.Mutex
	parallel.For(workers, len(fits), func(i int) {
		at, fold := i/folds, i%folds
		if fold == 0 {
			progress.Lock()
			began(at)
			progress.Unlock()
		} else if workers == 1 && fits[i-1].err != nil {
			fits[i].err = fits[i-1].err
			return
		}
		fits[i].crps, _, fits[i].err = c.fitWith(ctx, specs[at], c.folds[fold], c.threads()/workers)
	})
	given := 1.0
	switch {
	case c.future(): // origins are alike
		given = 1 / float64(folds)
	case folds > 1:
		given = 0.5
	}
	scores := make([]score, len(specs))
	for i := range scores {
		for fold, one := range fits[i*folds:][:folds] {
			weight := given
			if fold > 0 {
				weight = (1 - given) / float64(folds-1)
			}
			scores[i].crps += weight * one.crps
			scores[i].err = cmp.Or(scores[i].err, one.err)
		}
	}
	return scores
}

// threadsOfSample is the number of threads that a fit on a sample uses well. With more, its loops wait longer than they work.
const threadsOfSample = 4

// workers returns how many of n fits run at the same time. The loops of a fit of few rows are
// too short for several threads.
func (c *chooser) workers(n int) int {
	each := 1
	switch {
	case c.opt.Ranks != nil || c.opt.Memory > 0:
		return 1
	case c.rows > c.effort.rows:
		each = threadsOfSample
	}
	return max(1, min(n, c.threads()/each))
}

// threads returns the number of threads of all fits together.
func (c *chooser) threads() int {
	if c.opt.Threads < 1 {
		return runtime.GOMAXPROCS(0)
	}
	return c.opt.Threads
}

// fit is a short fit on a sample of rows. It returns the CRPS on the validation set.
func (c *chooser) fit(ctx context.Context, s spec.Spec, data *train.Data) (float64, *train.Report, error) {
	return c.fitWith(ctx, s, data, c.threads())
}

// fitWith is fit with some threads.
func (c *chooser) fitWith(ctx context.Context, s spec.Spec, data *train.Data, threads int) (float64, *train.Report, error) {
	_, r, err := c.fitModel(ctx, s, data, threads)
	if err != nil {
		return 0, nil, err
	}
	if r.Valid.Calibration == nil {
		return r.Valid.MAE, r, nil // a point estimate has no distribution
	}
	return float64(r.Valid.Calibration.CRPS), r, nil
}

// fitModel is a short fit on a sample of rows, with some threads.
func (c *chooser) fitModel(ctx context.Context, s spec.Spec, data *train.Data, threads int) (*model.Model, *train.Report, error) {
	if len(c.folds) == 1 || c.future() { // other fits of a small table are fast
		s.Fit.Sweeps = min(s.Fit.Sweeps, c.effort.sweeps)
	}
	s = s.Clone()
	s.Fill()
	opt := c.opt
	opt.Threads = threads
	opt.TimeBudget = time.Duration(comparisonBudget / comparisonFits * float64(opt.TimeBudget))
	if opt.Checkpoint != "" {
		opt.TimeBudget = 0 // a fit that is resumed must choose the same
	}
	opt.Checkpoint, opt.Resume, opt.Progress, opt.Compare = "", false, nil, true
	// The final fit must find the optimum that was compared, so a fit on its division leaves out the same rows.
	opt.HoldOut = train.HasCorrection(c.spec.Uncertainty, c.data.Count(dataset.Valid)) || data == c.data && c.splits() && !c.future()
	if c.rows > c.effort.rows {
		opt.Share = cmp.Or(opt.Share, 1) * float64(c.effort.rows) / float64(c.rows)
	}
	return train.Fit(ctx, s, data, opt)
}
