package train

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/footprint"
	"github.com/kernel-fried-tensor/kft/internal/garbage"
	"github.com/kernel-fried-tensor/kft/internal/paged"
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

	Sweeps       int     `json:"sweeps"`        // at most
	SweepSeconds float64 `json:"sweep_seconds"` // measured; 0 if no sweep was made
	Threads      int     `json:"threads"`

	heap int64 // after the plan
}

// A MemoryError reports a fit that does not fit into the memory it may use.
type MemoryError struct{ Least, Limit int64 }

func (e *MemoryError) Error() string {
	return "the fit " + e.needs() + "; allow more memory, or use lower ranks, fewer terms or fewer rows"
}

func (e *MemoryError) needs() string {
	const mib = 1 << 20
	return fmt.Sprintf("needs at least %d MiB of memory, and its limit is %d MiB", (e.Least+mib-1)/mib, e.Limit/mib)
}

// EstimateFit plans a fit of a specification that leaves nothing to choose, estimates its
// memory and measures one sweep. If the memory exceeds opt.Memory, it measures no sweep
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
	if e, err = r.checkMemory(); err != nil {
		return e, err
	}
	e.SweepSeconds, err = r.measureSweep(ctx)
	return e, err
}

// runtimeBytes is what the program takes beside its data.
const runtimeBytes = 48 << 20

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
	e.heap = int64(stats.HeapAlloc)
	f := r.footprint()
	e.Least = r.least(e.heap, f, r.pages != nil, r.measured != nil)
	if r.pages != nil {
		e.Disk = f.Rows() + r.pages.Size()
		r.heap = r.opt.Memory - runtimeBytes - f.Gradients() - r.pagesInUse(f)
		e.Memory = max(e.Least, r.opt.Memory)
		return e
	}
	// The allocator takes a tenth more than it was asked for.
	live := e.heap + max(f.Training(), f.Evaluation())
	e.Memory = max(live/100*int64(100+garbage.Percent(live))/10*11+runtimeBytes, sysmemory.Peak())
	return e
}

// footprint returns what the memory of a planned fit depends on.
func (r *run) footprint() footprint.Fit {
	learned := r.law() != nil || r.noiseModel() != nil
	return footprint.Fit{Field: r.field, Train: r.size(dataset.Train), Valid: r.size(dataset.Valid), Held: r.held.Len(), Threads: r.engine.Threads(),
		Weighted: r.ownTrain().W != nil || learned, Variances: learned || r.field.Group != nil, Point: !r.spec.Uncertainty.Bayesian()}
}

// least returns the memory that a fit cannot do without, beside what is on the heap when it is planned.
func (r *run) least(heap int64, f footprint.Fit, inPages, again bool) int64 {
	if !inPages {
		return withSlack(heap + max(f.Training(), f.Evaluation()) + runtimeBytes)
	}
	least := withSlack(heap + max(f.Training()-f.Rows()+r.pagesInUse(f), r.formulaBytes()) + runtimeBytes)
	if again { // formulas are measured again beside two models
		return withSlack(least)
	}
	return least
}

// pagesInUse returns the bytes of the pages that have to be in memory: two arrays are accessed in any order. Gradients stay in
// memory, so beside large ones pages have no room but that which is left for them.
func (r *run) pagesInUse(f footprint.Fit) int64 {
	return min(max(2*4*int64(f.Train), f.Gradients()), f.Rows()+r.pages.Size(), r.opt.Memory/4)
}

// withSlack adds what exceeds a limit before the collector and the pages give it back: 2 to 5 % were
// measured.
func withSlack(bytes int64) int64 { return bytes + bytes/16 }

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
	if r.opt.Memory == 0 || r.opt.Compare || r.measured != nil || r.spec.Fit.Refit != spec.RefitAll && r.spec.Fit.Refit != spec.RefitValid {
		return
	}
	f := r.footprint()
	f.Train, f.Valid, f.Held = f.Train+f.Valid+f.Held, 0, 0
	heap := e.heap
	for _, a := range r.field.Arrays() {
		heap += 4 * int64(len(a)) // of the first model
	}
	for _, which := range []string{spec.RefitValid, spec.RefitAll} {
		rows := "more rows"
		if which == spec.RefitAll {
			f.Train, rows = f.Train+e.Rows[dataset.Test], "all rows"
		}
		least := r.least(heap, f, r.pages != nil, true)
		if r.pages == nil && paged.Supported && r.opt.Ranks == nil {
			least = min(least, r.least(heap, f, true, true)) // it opens pages if it needs them
		}
		if r.anyRank(least > r.opt.Memory) {
			r.refused = which
			if r.opt.Progress != nil {
				exceeds := MemoryError{Least: least, Limit: r.opt.Memory}
				r.opt.Progress(Event{Stage: "plan", Note: "note: there will be no refit on " + rows + ", which " + exceeds.needs()})
			}
			return
		}
		if which == r.spec.Fit.Refit {
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
