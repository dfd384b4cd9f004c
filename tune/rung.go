package tune

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"time"
)

// keepOne is one over the share of trials that go on from a rung.
const keepOne = 3

// climb scores the trial at each rung and at the full budget, until it is among
// the worse, and sets how it ended. This is successive halving without waiting
// (Li and others 2020, in the form that stops): a trial goes on where its score
// is among the best third of those that any worker recorded at the rung so far,
// itself included. Trial 0 always goes on: it is what the others are compared
// with. An error is one of the store, or of a trial that is lost.
func (s *Study) climb(ctx context.Context, t *Trial, objective Objective) error {
	for i, budget := range s.def.Rungs {
		began := time.Now()
		score, ok := scored(ctx, t, budget, objective)
		if !ok || ctx.Err() != nil {
			return ctx.Err()
		}
		t.Rungs = append(t.Rungs, Rung{Budget: budget, Score: score, Seconds: time.Since(began).Seconds()})
		if err := s.store.Climb(ctx, *t); err != nil {
			return err
		}
		all, err := s.store.Trials(ctx)
		if err != nil {
			return err
		}
		if t.Number > 0 && !s.def.goesOn(score, i, all) {
			t.State, t.Score = Pruned, &score
			return nil
		}
	}
	if score, ok := scored(ctx, t, 1, objective); ok {
		t.State, t.Score = Done, &score
	}
	return nil
}

// goesOn tells whether a score is among the best third, rounded up, of those at a
// rung.
func (d Definition) goesOn(score float64, rung int, all []Trial) bool {
	count, better := 0, 0
	for _, o := range all {
		if len(o.Rungs) <= rung {
			continue
		}
		count++
		if d.lossOf(o.Rungs[rung].Score) < d.lossOf(score) {
			better++
		}
	}
	return better < (count+keepOne-1)/keepOne
}

// climbed is how far a finished trial got: the rungs it was scored at, and the
// full budget as one more.
func (d Definition) climbed(t Trial) int {
	if t.State == Done {
		return len(d.Rungs) + 1
	}
	return len(t.Rungs)
}

// scored is the objective at a budget. Where it fails the trial has failed.
func scored(ctx context.Context, t *Trial, budget float64, objective Objective) (score float64, ok bool) {
	at := *t
	at.Budget = budget
	score, err := call(ctx, at, objective)
	switch {
	case err != nil:
		t.State, t.Problem = Failed, err.Error()
	case math.IsNaN(score) || math.IsInf(score, 0):
		t.State, t.Problem = Failed, fmt.Sprintf("the score is %v", score)
	default:
		return score, true
	}
	return 0, false
}

// call is the objective, a panic of which is an error: a bug that some values
// bring out shall not end the study.
func call(ctx context.Context, t Trial, objective Objective) (score float64, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a bug: %v\n%s", p, debug.Stack())
		}
	}()
	return objective(ctx, t)
}

// result is how a trial ended, in words.
func result(t Trial) string {
	if t.Score != nil {
		return fmt.Sprintf("%s with score %v", t.State, *t.Score)
	}
	return fmt.Sprintf("%s (%s)", t.State, t.Problem)
}
