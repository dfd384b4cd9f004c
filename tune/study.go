package tune

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// A Study is a search that is kept in a store. It is safe for use by several
// goroutines, each a worker.
type Study struct {
	store   Store
	def     Definition
	sampler Sampler
}

// An Objective scores the values of a trial. Its context ends when the trial is
// lost to another worker. An error is a result too: the trial is recorded as
// failed, and the study goes on.
type Objective func(ctx context.Context, t Trial) (score float64, err error)

// A Worker says how to work on a study.
type Worker struct {
	Name      string        // for people; need not differ between workers
	Lease     time.Duration // a worker not heard of for so long has died; 0 is a minute
	Objective Objective
	Begun     func(Trial)  // told before the objective is called; nil says nothing
	Ended     func(Report) // told after each trial; nil says nothing
	Waits     func(int)    // told how many trials others hold, when there is nothing else to do for long; nil says nothing
}

// A Report tells how a trial ended and how far the study is.
type Report struct {
	Trial    Trial
	Lost     bool   // to another worker; nothing was recorded
	Best     *Trial // so far, of all workers; nil where none is done
	Finished int
	Trials   int
}

// Open begins the study in the store, or joins the one that is there; that it
// is another one is a *DefinitionError. The study does not close the store.
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

// Best is the best of the trials that are done, the first among equals, or nil.
func (d Definition) Best(trials []Trial) *Trial {
	var best *Trial
	for i, t := range trials {
		if t.State == Done && (best == nil || d.loss(t) < d.loss(*best)) {
			best = &trials[i]
		}
	}
	return best
}

// loss is less for better trials.
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

// Work takes trials until the study has so many finished ones.
// While others hold the last ones it waits, for they may die. When ctx ends,
// the trial in work is given back and ctx's error is returned.
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
		default: // others hold the rest, for a moment or for long
			longest := w.Lease / 8
			if pause < longest && 2*pause >= longest && w.Waits != nil {
				w.Waits(unfinished)
			}
			pause = min(2*pause, longest)
		}
		if err != nil {
			return err
		}
	}
}

// attempt brings a claimed trial to its end.
func (s *Study) attempt(ctx context.Context, t Trial, w Worker) error {
	if t.Values == nil {
		err := s.propose(ctx, &t)
		if errors.Is(err, ErrLost) {
			return s.report(ctx, t, true, w)
		}
		if err != nil {
			return err
		}
	}
	if w.Begun != nil {
		w.Begun(t)
	}
	held, stop := s.hold(ctx, t, w.Lease)
	err := s.climb(held, &t, w.Objective)
	lost := held.Err() != nil || errors.Is(err, ErrLost)
	stop()
	if ctx.Err() != nil {
		if err := s.store.Release(context.WithoutCancel(ctx), t); err != nil && !errors.Is(err, ErrLost) {
			return fmt.Errorf("trial %d was interrupted and could not be given back (it will be, when its lease ends): %w", t.Number+1, err)
		}
		return ctx.Err()
	}
	switch {
	case lost:
		return s.report(ctx, t, true, w)
	case err != nil:
		return err
	}
	err = s.store.Finish(context.WithoutCancel(ctx), t)
	if err != nil && !errors.Is(err, ErrLost) {
		return fmt.Errorf("trial %d ended as %s and could not be recorded: %w", t.Number+1, result(t), err)
	}
	return s.report(ctx, t, err != nil, w)
}

// propose gives the trial its values.
func (s *Study) propose(ctx context.Context, t *Trial) error {
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
		history = append(history, Observation{Point: point, Loss: s.def.loss(o), Rung: s.def.climbed(o)})
	}
	if t.Values = s.sampler.Propose(s.def.Space, t.Number, history); t.Number == 0 && s.def.First != nil {
		t.Values = s.def.First
	}
	return s.store.Assign(ctx, *t)
}

// hold renews the lease until stop is called. Its context ends with the lease.
func (s *Study) hold(ctx context.Context, t Trial, lease time.Duration) (held context.Context, stop func()) {
	held, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for wait(held, lease/4) {
			// Another error passes, or Finish will tell of it.
			if errors.Is(s.store.Beat(held, t, lease), ErrLost) {
				cancel()
			}
		}
	}()
	return held, func() { cancel(); <-ended }
}

// report tells the worker's listener.
func (s *Study) report(ctx context.Context, t Trial, lost bool, w Worker) error {
	if w.Ended == nil {
		return nil
	}
	all, err := s.store.Trials(ctx)
	if err != nil {
		return err
	}
	r := Report{Trial: t, Lost: lost, Best: s.def.Best(all), Trials: len(all)}
	for _, o := range all {
		if o.Finished() {
			r.Finished++
		}
	}
	w.Ended(r)
	return nil
}
