package automatic

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/fitrecord"
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
	scores := c.scoresOf(ctx, subject, candidates, tolerance)
	for i, one := range candidates[:len(scores)] {
		option := model.Candidate{Value: one.value}
		crps, err := scores[i].crps, scores[i].err
		switch {
		case err == nil:
			option.CRPS = fitrecord.Finite(crps)
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
	c.keepModel()
	return nil
}

// A score is the CRPS of a candidate, or why it has none.
type score struct {
	crps      float64
	err       error
	divisions []float64    // CRPS by division, as far as they are known
	model     *model.Model // of the given division, if residuals may be asked for; only of the specification that was taken
}

// Comparisons on several divisions begin with the first ones. Candidates that are worse there than the best by
// givenUp, and more where these have few validation rows, are not fitted on the others. Behind on the given division alone
// they may be by twice as much.
const (
	givenUp       = 0.01
	givenUpByRows = 0.3 // divided by the root of the number of rows
)

// leastShown is the number of divisions one of which must show that a candidate is better.
const leastShown = 3

// slack returns the share of the CRPS by which a candidate may be behind on some validation rows.
func slack(rows int) float64 { return givenUp + givenUpByRows/math.Sqrt(float64(max(rows, 1))) }

// firstDivisions are the numbers of divisions after which candidates may be given up.
var firstDivisions = []int{1, 3, 6}

// scoresOf returns the scores of candidates: all of them, or the first ones if the time for
// comparisons is over. Another one than the first must be better by the tolerance.
func (c *chooser) scoresOf(ctx context.Context, subject string, candidates []candidate, tolerance float64) []score {
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
	if c.deadline.IsZero() {
		return c.score(ctx, specs, tolerance, notes(0))
	}
	var scores []score
	for i := range specs {
		scores = append(scores, c.score(ctx, specs[i:i+1], tolerance, notes(i))...)
		if err := scores[i].err; err != nil && !c.skips(err) || ctx.Err() != nil || c.late() {
			break
		}
	}
	return scores
}

// score returns the mean CRPS on validation rows of short fits on samples of rows, for each
// specification. began is called when the first fit of one begins.
func (c *chooser) score(ctx context.Context, specs []spec.Spec, tolerance float64, began func(i int)) []score {
	scores := make([]score, len(specs))
	informed, err := c.informedModes()
	if err != nil {
		for i := range scores {
			scores[i].err = err
		}
		return scores
	}
	var known []*score // each specification once
	var open []spec.Spec
	var places []int // of them among the specifications
	at := make([]int, len(specs))
	byKey := map[string]int{}
	for i, s := range specs {
		s, key := compared(s, informed)
		k, found := byKey[key]
		if !found {
			k = len(known)
			byKey[key] = k
			known, open, places = append(known, c.scoreOf(key)), append(open, s), append(places, i)
		}
		at[i] = k
	}
	contenders := make([]int, len(known))
	for k := range contenders {
		contenders[k] = k
	}
	best, count := -1, 0
	for _, count = range c.stages(len(known)) {
		c.measureAll(ctx, known, open, contenders, count, func(k int) { began(places[k]) })
		if best, contenders = c.contenders(known, contenders, count, tolerance); len(contenders) < 2 {
			break
		}
	}
	if best >= 0 && len(known[best].divisions) == len(c.folds) {
		count = len(c.folds)
	}
	for i, k := range at {
		scores[i] = *known[k]
		if known[k].err != nil {
			continue
		}
		n := min(count, len(known[k].divisions))
		scores[i].crps = c.mean(known[k].divisions[:n])
		if n < count && best >= 0 && c.mean(known[best].divisions[:n]) > 0 { // given up
			scores[i].crps *= c.mean(known[best].divisions[:count]) / c.mean(known[best].divisions[:n])
		}
	}
	return scores
}

// stages returns the numbers of divisions on which candidates are compared one after the other.
func (c *chooser) stages(candidates int) []int {
	all := len(c.folds)
	if c.future() || candidates == 1 {
		return []int{all} // origins are few, and one is compared with those of other steps
	}
	few := slices.DeleteFunc(slices.Clone(firstDivisions), func(n int) bool { return n >= all })
	return append(few, all)
}

// compared returns a specification as it is fitted in comparisons, and the key of its score.
func compared(s spec.Spec, informed []string) (spec.Spec, string) {
	if s.Uncertainty.Noise == spec.Auto {
		s.Uncertainty.Noise = "constant"
	}
	if len(informed) > 0 && s.Side.Variant != "plain" { // a step before the choice of the variant
		s = withVariant(s, informed, s.Side.Variant)
	}
	return s, string(s.YAML())
}

// scoreOf returns the score of a key as far as it is known.
func (c *chooser) scoreOf(key string) *score {
	if c.scores[key] == nil || c.scores[key].err != nil {
		c.scores[key] = &score{}
	}
	return c.scores[key]
}

// contenders returns which of some scores are close to the best on the first divisions, and the best, or -1. Of several divisions, one
// must show the tolerance by which another than the first is to be better.
func (c *chooser) contenders(known []*score, among []int, first int, tolerance float64) (best int, close []int) {
	best, rows := -1, 0
	for _, d := range c.folds[:first] {
		rows += d.Count(dataset.Valid)
	}
	lowest := math.Inf(1)
	for _, k := range among {
		if one := known[k]; one.err == nil && c.mean(one.divisions[:first]) < lowest {
			best, lowest = k, c.mean(one.divisions[:first])
		}
	}
	allowed := slack(rows)
	if first == 1 {
		allowed *= 2
	}
	limit := lowest * (1 + allowed)
	for _, k := range among {
		if best >= 0 && known[k].err == nil && c.mean(known[k].divisions[:first]) <= limit && (k == 0 || first < leastShown || shows(known[0], known[k], first, tolerance)) {
			close = append(close, k)
		}
	}
	return best, close
}

// shows reports whether a score is better than the first by the tolerance on one of the first divisions.
func shows(first, one *score, divisions int, tolerance float64) bool {
	for i, crps := range one.divisions[:divisions] {
		if first.err != nil || len(first.divisions) <= i || crps < first.divisions[i]*(1-tolerance) {
			return true
		}
	}
	return false
}

// mean returns the mean CRPS of some divisions. With folds, the given division has half of
// the weight: the final fit starts as the fit on it and finds the same optimum, which may be
// a bad one by chance. The origins of a forecast have equal weights.
func (c *chooser) mean(divisions []float64) float64 {
	n := float64(len(divisions))
	given := 1.0
	switch {
	case c.future(): // origins are alike
		given = 1 / n
	case n > 1:
		given = 0.5
	}
	mean := 0.0
	for i, crps := range divisions {
		weight := given
		if i > 0 {
			weight = (1 - given) / (n - 1)
		}
		mean += weight * crps
	}
	return mean
}

// measure is score for one specification, without what is known already.
func (c *chooser) measure(ctx context.Context, s spec.Spec) (float64, error) {
	found := &score{}
	c.measureAll(ctx, []*score{found}, []spec.Spec{s}, []int{0}, len(c.folds), func(int) {})
	return c.mean(found.divisions), found.err
}

// measureAll fits some of the specifications on the first divisions, as far as their scores are not
// known. began is called before the first fit of one.
func (c *chooser) measureAll(ctx context.Context, known []*score, specs []spec.Spec, which []int, first int, began func(k int)) {
	type fit struct {
		k, division int
		score
	}
	keeps := c.needsResiduals()
	var fits []fit
	for _, k := range which {
		for division := len(known[k].divisions); division < first && known[k].err == nil; division++ {
			fits = append(fits, fit{k: k, division: division})
		}
	}
	workers, threads := c.workers(len(fits))
	var progress sync.Mutex
	parallel.For(workers, len(fits), func(i int) {
		f := &fits[i]
		if f.division == 0 {
			progress.Lock()
			began(f.k)
			progress.Unlock()
		}
		if workers == 1 && i > 0 && fits[i-1].err != nil && (fits[i-1].k == f.k || !c.skips(fits[i-1].err)) {
			f.err = fits[i-1].err
			return
		}
		m, r, err := c.fitModel(ctx, specs[f.k], c.folds[f.division], threads)
		if f.err = err; err != nil {
			return
		}
		f.crps = validCRPS(r)
		if f.division == 0 && keeps {
			f.model = m
		}
	})
	for _, f := range fits {
		one := known[f.k]
		one.err = cmp.Or(one.err, f.err)
		one.divisions = append(one.divisions, f.crps)
		if f.model != nil {
			one.model = f.model
		}
	}
}
