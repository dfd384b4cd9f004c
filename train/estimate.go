package train

import (
	"context"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/footprint"
	"github.com/kernel-fried-tensor/kft/internal/sysmemory"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train/fitdata"
)

// An Estimate tells in advance what a fit needs.
type Estimate struct {
	Rows    [3]int `json:"rows"` // by dataset.Part
	Weights int    `json:"weights"`

	// Least is the memory in bytes that the fit cannot do without, Memory what it takes
	// if it is not limited: package garbage says when garbage is collected.
	Least  int64 `json:"least_bytes"`
	Memory int64 `json:"memory_bytes"`

	// Disk is the size of the pages on disk, if the memory is limited and does not suffice
	// for the rows; Least is then what the fit needs beside them.
	Disk int64 `json:"disk_bytes,omitempty"`

	Limit int64 `json:"limit_bytes,omitempty"` // of the memory, 0 if there is none

	Sweeps       int     `json:"sweeps"`        // at most
	SweepSeconds float64 `json:"sweep_seconds"` // measured; 0 if no sweep was made
	Threads      int     `json:"threads"`

	process footprint.Process
}

// A MemoryError reports a fit that does not fit into the memory it may use.
type MemoryError = footprint.LimitError

// EstimateFit plans a fit of a specification that leaves nothing to choose, estimates its
// memory and measures one sweep. If that exceeds the limit, it measures no sweep
// and returns a *MemoryError with the estimate. The data cannot be used again.
func EstimateFit(ctx context.Context, s spec.Spec, data *fitdata.Data, opt Options) (e *Estimate, err error) {
	opt.Checkpoint = ""
	r, err := newRun(s, data, opt, true)
	if err != nil {
		return nil, err
	}
	defer r.closePages(&err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // for Recover
	defer r.recoverPages(&err)
	if err := r.stage("plan", func() error { return r.plan(ctx) }); err != nil {
		return nil, err
	}
	r.nearsLimit()
	if e, err = r.checkMemory(); err != nil {
		return e, err
	}
	e.SweepSeconds, err = r.measureSweep(ctx)
	return e, err
}

// estimate returns the needs of a planned fit. The memory of the table and of the field is
// measured; that of the solver and of the evaluation is computed.
func (r *run) estimate() *Estimate {
	e := &Estimate{Weights: r.field.Weights(), Sweeps: solverOptions(r.spec, r.opt).Sweeps, Threads: r.engine.Threads()}
	for p := range e.Rows {
		e.Rows[p] = r.size(dataset.Part(p))
	}
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	f := r.footprint()
	e.Limit = r.opt.Memory
	e.process = footprint.Process{Heap: int64(stats.HeapAlloc), Limit: r.opt.Memory, Paged: r.pages != nil, Stored: r.pages.Size(), Formulas: r.formulaBytes(), Again: r.measured != nil}
	e.Least, e.Memory = e.process.Least(f), max(e.process.Memory(f), sysmemory.Peak())
	if r.pages != nil {
		e.Disk, r.garbage = f.Rows()+r.pages.Size(), e.process.Garbage(f)
		e.Memory = max(e.Least, r.opt.Memory)
	}
	return e
}

// footprint returns what the memory of a planned fit depends on.
func (r *run) footprint() footprint.Fit {
	learned := r.law() != nil || r.noiseModel() != nil
	return footprint.Fit{Field: r.field, Train: r.size(dataset.Train), Valid: r.size(dataset.Valid), Held: r.held.Len(), Threads: r.engine.Threads(),
		Weighted: r.ownTrain().W != nil || learned, Variances: learned || r.field.Group != nil, Point: !r.spec.Uncertainty.Bayesian()}
}

// exceeds returns an error if an estimate exceeds the limit of the options.
func (r *run) exceeds(e *Estimate) error {
	if r.opt.Memory > 0 && e.Least > r.opt.Memory {
		return &MemoryError{Least: e.Least, Limit: r.opt.Memory}
	}
	return nil
}

// refuseRefit finds out whether the second training will exceed the limit, and says at the start that it will not be made: that on all
// rows, or also that on the training and validation rows, which may come before it.
func (r *run) refuseRefit(e *Estimate) {
	if r.opt.Memory == 0 || r.opt.Compare || r.measured != nil {
		return
	}
	f, added := r.footprint(), 0
	for _, which := range []string{spec.RefitValid, spec.RefitAll} {
		if which == spec.RefitAll {
			added = e.Rows[dataset.Test]
		}
		least := e.process.Refit(f, f.Train+f.Valid+f.Held+added)
		if asked := r.spec.Fit.Refit; (asked == which || asked == spec.RefitAll) && r.anyRank(least > r.opt.Memory) {
			r.refused = which
			if r.opt.Progress != nil {
				limit := MemoryError{Least: least, Limit: r.opt.Memory}
				r.opt.Progress(Event{Stage: "plan", Note: "note: there will be no refit on more rows, which " + limit.Needs()})
			}
			return
		}
	}
}

// measureSweep returns the seconds of the second sweep, or of all training if it ends
// before.
func (r *run) measureSweep(ctx context.Context) (seconds float64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var first time.Time // when the first sweep ended
	r.opt.Progress = func(e Event) {
		switch {
		case e.Fit == nil || e.Fit.Point == nil:
		case first.IsZero():
			first = time.Now()
		case seconds == 0:
			seconds = time.Since(first).Seconds()
			cancel()
		}
	}
	err = r.stage("fit", func() error { _, err := r.solve(ctx); return err })
	if seconds == 0 && ctx.Err() == nil {
		seconds = r.seconds["fit"]
	}
	return seconds, err
}
