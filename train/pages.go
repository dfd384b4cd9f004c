package train

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/footprint"
	"github.com/kernel-fried-tensor/kft/internal/paged"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train/fitdata"
)

// newRun prepares a fit.
func newRun(s spec.Spec, data *fitdata.Data, opt Options, release bool) (*run, error) {
	path, err := cpu.ChoosePath()
	if err != nil {
		return nil, err
	}
	if data, err = data.WithPoints(s); err != nil {
		return nil, err
	}
	engine := cpu.New(path, opt.Threads)
	r := &run{spec: data.Resolved(s), opt: opt, engine: engine, data: data, release: release, seconds: map[string]float64{"read": data.Seconds()}, began: time.Now()}
	if err := r.openPages(); err != nil {
		return nil, err
	}
	engine.SetPages(r.pages)
	if r.pages == nil && opt.Ranks != nil {
		r.reserved = paged.Reserve()
		engine.SetPages(r.reserved)
	}
	return r, nil
}

// rowBytes returns an estimate from above of the memory of arrays with one entry per row: the
// parts of the table, targets, and per term its values and two plans.
func (r *run) rowBytes() int64 {
	const word = 4
	terms := max(len(r.spec.Terms), 1)
	return word * int64(r.data.Table().Len()) * int64(2*len(r.data.Table().Modes)+12+8*terms)
}

// openPages opens a store for the rows, if they may not fit into the memory that the fit may have: they may
// take a quarter of it, together with what is in memory already. The rest is for weights, gradients, operators
// and garbage, which are not known yet. If no limit was given, they may take three quarters, because pages cost time: checkMemory opens
// them for the solver if that does not suffice.
func (r *run) openPages() (err error) {
	limit := r.memory()
	if !paged.Supported || limit == 0 {
		return nil
	}
	room, given := limit/4, r.opt.Memory > 0
	if !given {
		room *= 3
	}
	var stats runtime.MemStats
	if runtime.ReadMemStats(&stats); r.rowBytes()+int64(stats.HeapAlloc)+footprint.Runtime <= room {
		return nil
	}
	if r.pages, err = paged.Open(r.opt.Scratch, r.rowBytes(), limit); err != nil && !given {
		return nil // checkMemory knows whether there is no other way
	}
	r.limitTo(limit)
	return err
}

// memory returns the memory that the fit may have, 0 if that is not known.
func (r *run) memory() int64 {
	if r.opt.Memory > 0 || r.opt.Ranks != nil { // several processes may share a machine
		return r.opt.Memory
	}
	return cmp.Or(r.opt.machine, footprint.Machine())
}

// limitTo limits the fit, if there is no limit yet.
func (r *run) limitTo(machine int64) {
	if r.opt.Memory == 0 && r.opt.Progress != nil && !r.opt.Compare {
		r.opt.Progress(Event{Stage: "plan", Note: footprint.MachineNote(machine)})
	}
	r.opt.Memory = machine
}

// nearsLimit reports whether a planned fit may exceed the memory that it may have, and limits it to that.
func (r *run) nearsLimit() bool {
	if limit := r.memory(); limit > 0 && (r.opt.Memory > 0 || r.footprint().MayExceed(limit)) {
		r.limitTo(limit)
	}
	return r.opt.Memory > 0
}

// recoverPages is [paged.Store.Recover] of a store that may be opened later. It is deferred.
func (r *run) recoverPages(err *error) {
	if r.pages != nil {
		r.pages.Recovered(recover(), err)
	}
}

// checkMemory estimates the memory of a planned fit. If it exceeds the limit and there are no pages, those of the solver may
// suffice: sums of large cores by shards, for one.
func (r *run) checkMemory() (e *Estimate, err error) {
	e = r.estimate()
	if err = r.exceeds(e); err != nil && r.pages == nil && paged.Supported && r.opt.Ranks == nil {
		var failed error
		if r.pages, failed = paged.Open(r.opt.Scratch, r.rowBytes(), r.opt.Memory); failed != nil {
			return e, fmt.Errorf("%w; pages on disk are not possible: %w", err, failed)
		}
		r.engine.(*cpu.Backend).SetPages(r.pages)
		e = r.estimate()
		err = r.exceeds(e)
	}
	if err == nil {
		r.refuseRefit(e)
	}
	return e, err
}

// boundGarbage lowers the limit of the collector of garbage, which does not see gradients and pages, and returns a function
// that restores it.
func (r *run) boundGarbage() (restore func()) {
	before := debug.SetMemoryLimit(-1)
	if r.garbage > 0 && r.garbage < before {
		debug.SetMemoryLimit(r.garbage)
	}
	return func() { debug.SetMemoryLimit(before) }
}

// leavePages releases the plans and copies what the model has in pages.
func (r *run) leavePages(err *error) {
	*err = errors.Join(*err, r.releasePlanned())
	if r.model != nil && r.model.Series() != nil {
		r.model.Series().Keep(r.pages)
	}
}

// closePages closes the stores.
func (r *run) closePages(err *error) { *err = errors.Join(*err, r.pages.Close(), r.reserved.Close()) }

// maxScoredRows is the largest number of validation rows that score the sweeps of a solver.
const maxScoredRows = 1 << 20
