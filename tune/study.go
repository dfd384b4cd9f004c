package tune

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// A Study is a search persisted in a store. Several goroutines may use it
// concurrently, each as one worker.
type Study struct {
	store   Store
	def     Definition
	sampler Sampler
}

// An Objective scores the values of a trial. Its context is cancelled when the
// trial is lost to another worker. If it returns an error, the trial is recorded
// as failed and the study continues.
type Objective func(ctx context.Context, t Trial) (score float64, err error)

// A Worker configures one worker of a study.
type Worker struct {
	Name      string        // shown to users; need not be unique
	Lease     time.Duration // a worker without a heartbeat for this long is considered dead; 0 means one minute
	Objective Objective
	// Key returns a text that is equal for values whose trials are equal, if values that
	// differ can lead to equal trials; nil compares the values. A trial that equals an
	// earlier one gets its result without being run.
	Key     func(Values) string
	OnStart func(Trial)  // called before the objective; may be nil
	OnEnd   func(Report) // called after each trial; may be nil
	OnWait  func(int)    // called with the number of trials held by other workers when only those remain and the wait is long; may be nil
}

// A Report describes how a trial ended and the progress of the study.
type Report struct {
	Trial    Trial
	Same     *Trial // the earlier trial whose result this one repeats; nil if it was run
	Lost     bool   // the lease was lost to another worker; nothing was recorded
	Best     *Trial // best trial so far of all workers; nil if none is done
	Finished int
	Trials   int
}

// Open creates the study in the store or joins the existing one. It returns a
// *DefinitionError if the store holds a different study. It does not take
// ownership of the store.
func Open(ctx context.Context, store Store, def Definition) (*Study, error) {
	if err := def.Validate(); err != nil {
		return nil, err
	}
	sampler, err := NewSampler(def.Sampler, def.Seed)
	if err != nil {
		return nil, err
	}
	recorded, err := store.Define(ctx, def.String())
	if err != nil {
		return nil, err
	}
	if err := compare(recorded, def.String()); err != nil {
		return nil, err
	}
	return &Study{store: store, def: def, sampler: sampler}, nil
}

// Best returns the best completed trial, the earliest one in case of ties, or nil.
func (d Definition) Best(trials []Trial) *Trial {
	var best *Trial
	for i, t := range trials {
		if t.State == Done && (best == nil || d.loss(t) < d.loss(*best)) {
			best = &trials[i]
		}
	}
	return best
}

// loss returns a value that is smaller for better trials.
func (d Definition) loss(t Trial) float64 {
	if t.State == Failed || t.Score == nil {
		return math.Inf(1)
	}
	return d.lossOf(*t.Score)
}

func (d Definition) lossOf(score float64) float64 {
	if d.Goal == Maximize {
		return -score
	}
	return score
}

// Work runs trials until the study has the given number of finished trials.
// While other workers hold the last trials it waits, because they may die. When
// ctx is cancelled, Work releases the current trial and returns the error of ctx.
func (s *Study) Work(ctx context.Context, trials int, w Worker) error {
	if w.Lease <= 0 {
		w.Lease = time.Minute
	}
	if err := s.store.Grow(ctx, trials); err != nil {
		return err
	}
	pause := w.Lease / 600
	for {
		t, unfinished, err := s.store.Claim(ctx, w.Name, trials, w.Lease)
		switch {
		case err != nil:
			return err
		case t.Attempt > 0:
			err = s.attempt(ctx, t, w)
			pause = w.Lease / 600
		case unfinished == 0:
			return nil
		case !wait(ctx, pause):
			err = ctx.Err()
		default: // other workers hold the remaining trials
			longest := w.Lease / 8
			if pause < longest && 2*pause >= longest && w.OnWait != nil {
				w.OnWait(unfinished)
			}
			pause = min(2*pause, longest)
		}
		if err != nil {
			return err
		}
	}
}

// attempt runs a claimed trial to its end.
func (s *Study) attempt(ctx context.Context, t Trial, w Worker) error {
	if t.Values == nil {
		err := s.propose(ctx, &t, w)
		if errors.Is(err, ErrLeaseLost) {
			return s.report(ctx, t, nil, true, w)
		}
		if err != nil {
			return err
		}
	}
	same, err := s.sameTrial(ctx, t, w)
	if err != nil {
		return err
	}
	if same != nil {
		t.State, t.Score = same.State, same.Score
		return s.finish(ctx, t, same, w)
	}
	if w.OnStart != nil {
		w.OnStart(t)
	}
	held, stop := s.hold(ctx, t, w.Lease)
	err = s.evaluate(held, &t, w.Objective)
	lost := held.Err() != nil || errors.Is(err, ErrLeaseLost)
	stop()
	if ctx.Err() != nil {
		if err := s.store.Release(context.WithoutCancel(ctx), t); err != nil && !errors.Is(err, ErrLeaseLost) {
			return fmt.Errorf("trial %d was interrupted and could not be released (it becomes available when its lease expires): %w", t.Number+1, err)
		}
		return ctx.Err()
	}
	switch {
	case lost:
		return s.report(ctx, t, nil, true, w)
	case err != nil:
		return err
	}
	return s.finish(ctx, t, nil, w)
}

// finish records the result of a trial, which may be that of an earlier one, and reports it.
func (s *Study) finish(ctx context.Context, t Trial, same *Trial, w Worker) error {
	err := s.store.Finish(context.WithoutCancel(ctx), t)
	if err != nil && !errors.Is(err, ErrLeaseLost) {
		return fmt.Errorf("trial %d ended as %s but could not be recorded: %w", t.Number+1, describeResult(t), err)
	}
	return s.report(ctx, t, same, err != nil, w)
}

// propose assigns values to the trial and records them.
func (s *Study) propose(ctx context.Context, t *Trial, w Worker) error {
	all, err := s.store.Trials(ctx)
	if err != nil {
		return err
	}
	var history []Observation
	for _, o := range all {
		if !o.Finished() || o.Values == nil {
			continue
		}
		point, err := s.def.Space.point(o.Values)
		if err != nil {
			return fmt.Errorf("trial %d of the study: %w", o.Number+1, err)
		}
		history = append(history, Observation{Point: point, Loss: s.def.loss(o), Rung: s.def.rungsReached(o)})
	}
	if t.Number == 0 && s.def.First != nil {
		t.Values = s.def.First
	} else {
		t.Values = s.proposeNew(t.Number, all, history, w)
	}
	return s.store.Assign(ctx, *t)
}

// hold renews the lease until stop is called. The returned context is cancelled
// when the lease is lost.
func (s *Study) hold(ctx context.Context, t Trial, lease time.Duration) (held context.Context, stop func()) {
	held, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for wait(held, lease/4) {
			// Other errors are transient, or Finish will report them.
			if errors.Is(s.store.RenewLease(held, t, lease), ErrLeaseLost) {
				cancel()
			}
		}
	}()
	return held, func() { cancel(); <-ended }
}

// report calls the worker's OnEnd.
func (s *Study) report(ctx context.Context, t Trial, same *Trial, lost bool, w Worker) error {
	if w.OnEnd == nil {
		return nil
	}
	all, err := s.store.Trials(ctx)
	if err != nil {
		return err
	}
	r := Report{Trial: t, Same: same, Lost: lost, Best: s.def.Best(all), Trials: len(all)}
	for _, o := range all {
		if o.Finished() {
			r.Finished++
		}
	}
	w.OnEnd(r)
	return nil
}
