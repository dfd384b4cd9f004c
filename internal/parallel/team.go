package parallel

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// A call of For starts goroutines, and waking the threads that run them takes longer than
// many pieces of work. A goroutine that has finished therefore waits for a moment, as
// a spare, for the next call before it ends. At rest there are no spares.
//
// Pieces are divided into one run per worker, and a spare stays the same worker: loops over
// the same arrays find their pieces in the caches of the cores that had them before. A
// worker that has finished its run takes pieces of the others.

// patience is how long a goroutine waits for work before it ends.
const patience = 150 * time.Microsecond

// job is one call of For.
type job struct {
	work    func(worker, i int)
	runs    []run                 // by worker
	crowded bool                  // there are more workers than can run at a time
	_       [64]byte              // what follows changes all the time: not in the cache line of what all read
	pending atomic.Int64          // helpers that have not finished
	done    chan struct{}         // receives a value when the last helper has finished
	failed  atomic.Pointer[error] // the first panic of a helper that the caller gets
}

// run is what is left of the pieces of a worker, in a cache line of its own.
type run struct {
	next atomic.Int64
	end  int64
	_    [48]byte
}

func newJob(threads, n int, work func(worker, i int)) *job {
	j := &job{work: work, runs: make([]run, threads), crowded: threads > runtime.GOMAXPROCS(0)}
	for w := range j.runs {
		j.runs[w].next.Store(int64(n * w / threads))
		j.runs[w].end = int64(n * (w + 1) / threads)
	}
	return j
}

// run does the pieces of a worker, then those that are left of the others.
func (j *job) run(worker int) {
	for k := range j.runs {
		r := &j.runs[(worker+k)%len(j.runs)]
		for r.next.Load() < r.end {
			i := r.next.Add(1) - 1
			if i >= r.end {
				break
			}
			j.work(worker, int(i))
		}
	}
}

// stop leaves the pieces that nobody has begun.
func (j *job) stop() {
	for w := range j.runs {
		j.runs[w].next.Store(j.runs[w].end)
	}
}

// help runs a job as one of its helpers.
func (j *job) help(worker int) {
	defer func() {
		j.keep(recover())
		if j.pending.Add(-1) == 0 {
			j.done <- struct{}{}
		}
	}()
	j.run(worker)
}

// keep keeps a panic with an error for the caller, who may recover from it: one that the
// program made, or the fault of an address. Others end the program where they arise.
func (j *job) keep(cause any) {
	if cause == nil {
		return
	}
	failed, ok := cause.(error)
	_, bug := cause.(runtime.Error)
	if _, fault := cause.(interface{ Addr() uintptr }); !ok || bug && !fault {
		panic(cause)
	}
	j.failed.CompareAndSwap(nil, &failed)
	j.stop()
}

// wait returns when all helpers have finished, also after a panic of the caller. It panics
// if one of them did.
func (j *job) wait() {
	j.stop()
	spin(j.crowded, func() bool { return j.pending.Load() == 0 })
	<-j.done
	if failed := j.failed.Load(); failed != nil {
		panic(*failed)
	}
}

// spare is a goroutine that waits for a job.
type spare struct{ job atomic.Pointer[job] }

// spares are the goroutines that wait, by worker.
var spares [64]atomic.Pointer[spare]

// start runs a job, with the caller as worker 0, and waits for its end.
func (j *job) start() {
	j.pending.Store(int64(len(j.runs) - 1))
	j.done = make(chan struct{}, 1)
	for w := 1; w < len(j.runs); w++ {
		if w < len(spares) {
			if s := spares[w].Swap(nil); s != nil {
				s.job.Store(j)
				continue
			}
		}
		go serve(j, w)
	}
	defer j.wait()
	j.run(0)
}

// serve helps with a job, and then with others that come soon enough.
func serve(j *job, worker int) {
	debug.SetPanicOnFault(true) // see keep
	s := &spare{}
	for {
		crowded := j.crowded
		s.job.Store(nil)
		j.help(worker)
		if worker >= len(spares) || !spares[worker].CompareAndSwap(nil, s) {
			return
		}
		spin(crowded, func() bool { return s.job.Load() != nil })
		if spares[worker].CompareAndSwap(s, nil) {
			return
		}
		for s.job.Load() == nil { // it has been taken
			runtime.Gosched()
		}
		j = s.job.Load()
	}
}

// spin returns when the condition holds or the patience ends. A goroutine that yields may
// go on on another core, and many that yield often would wait for each other's turn.
func spin(crowded bool, condition func() bool) {
	checks := 1 << 14
	if crowded {
		checks = 1 << 11
	}
	for range 64 {
		if condition() {
			return
		}
	}
	began := time.Now()
	for time.Since(began) < patience {
		for range checks {
			if condition() {
				return
			}
		}
		runtime.Gosched()
	}
}
