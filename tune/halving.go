package tune

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"time"
)

// reductionFactor is the inverse of the share of trials that continue after a rung.
const reductionFactor = 3

// evaluate evaluates the trial at each rung and at the full budget until it is
// pruned, and sets its final state. This is asynchronous successive halving in
// its stopping variant (Li and others 2020): a trial continues if its score is
// among the best third of the scores that any worker has recorded at the rung so
// far, including its own. Trial 0 is never pruned, because it is the reference
// for the others. The returned error comes from the store or reports a lost lease.
func (s *Study) evaluate(ctx context.Context, t *Trial, objective Objective) error {
	for i, budget := range s.def.Rungs {
		began := time.Now()
		score, ok := evaluateAt(ctx, t, budget, objective)
		if !ok || ctx.Err() != nil {
			return ctx.Err()
		}
		t.Rungs = append(t.Rungs, Rung{Budget: budget, Score: score, Seconds: time.Since(began).Seconds()})
		if err := s.store.RecordRungs(ctx, *t); err != nil {
			return err
		}
		all, err := s.store.Trials(ctx)
		if err != nil {
			return err
		}
		if t.Number > 0 && !s.def.continues(score, i, all) {
			t.State, t.Score = Pruned, &score
			return nil
		}
	}
	if score, ok := evaluateAt(ctx, t, 1, objective); ok {
		t.State, t.Score = Done, &score
	}
	return nil
}

// continues reports whether a score is among the best third, rounded up, of the
// scores at a rung.
func (d Definition) continues(score float64, rung int, all []Trial) bool {
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
	return better < (count+reductionFactor-1)/reductionFactor
}

// rungsReached returns the number of rungs at which a finished trial was evaluated,
// with the full budget as one more.
func (d Definition) rungsReached(t Trial) int {
	if t.State == Done {
		return len(d.Rungs) + 1
	}
	return len(t.Rungs)
}

// evaluateAt evaluates the objective at a budget. If that fails, it marks the trial
// as failed.
func evaluateAt(ctx context.Context, t *Trial, budget float64, objective Objective) (score float64, ok bool) {
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

// call evaluates the objective and converts a panic into an error, so that a bug
// triggered by some values does not end the study.
func call(ctx context.Context, t Trial, objective Objective) (score float64, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return objective(ctx, t)
}

// describeResult describes the final state of a trial.
func describeResult(t Trial) string {
	if t.Score != nil {
		return fmt.Sprintf("%s with score %v", t.State, *t.Score)
	}
	return fmt.Sprintf("%s (%s)", t.State, t.Problem)
}
