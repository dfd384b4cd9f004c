package parallel

import (
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A call of For starts goroutines, and waking the threads that run them takes longer than
// many pieces of work. A goroutine that has finished therefore waits for a moment, as
// a spare, for the next call before it ends. At rest there are no spares.

// patience is how long a goroutine waits for work before it ends.
const patience = 150 * time.Microsecond

// job is one call of For.
type job struct {
	n       int64
	work    func(worker, i int)
	_       [64]byte // what follows changes all the time: not in the cache line of what all read
	next    atomic.Int64
	_       [64]byte
	workers atomic.Int64
	pending atomic.Int64          // helpers that have not finished
	done    chan struct{}         // receives a value when the last helper has finished
	failed  atomic.Pointer[error] // the first panic of a helper that the caller gets
}

// run claims pieces of work until there are none.
func (j *job) run() {
	worker := int(j.workers.Add(1)) - 1
	for i := j.next.Add(1) - 1; i < j.n; i = j.next.Add(1) - 1 {
		j.work(worker, int(i))
	}
}

// help runs a job as one of its helpers.
func (j *job) help() {
	defer func() {
		j.keep(recover())
		if j.pending.Add(-1) == 0 {
			j.done <- struct{}{}
		}
	}()
	j.run()
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
	j.next.Store(j.n)
}

// wait returns when all helpers have finished, also after a panic of the caller. It panics
// if one of them did.
func (j *job) wait() {
	j.next.Store(j.n)
	spin(func() bool { return j.pending.Load() == 0 })
	<-j.done
	if failed := j.failed.Load(); failed != nil {
		panic(*failed)
	}
}

// spare is a goroutine that waits for a job.
type spare struct{ job atomic.Pointer[job] }

// spares are the goroutines that wait.
var spares struct {
	sync.Mutex
	waiting []*spare
}

// take removes up to n spares from the list.
func take(n int) []*spare {
	spares.Lock()
	defer spares.Unlock()
	rest := max(0, len(spares.waiting)-n)
	taken := append([]*spare(nil), spares.waiting[rest:]...)
	clear(spares.waiting[rest:])
	spares.waiting = spares.waiting[:rest]
	return taken
}

// start runs a job with the given number of helpers and waits for its end.
func (j *job) start(helpers int) {
	j.pending.Store(int64(helpers))
	j.done = make(chan struct{}, 1)
	ready := take(helpers)
	for _, s := range ready {
		s.job.Store(j)
	}
	for range helpers - len(ready) {
		go serve(j)
	}
	defer j.wait()
	j.run()
}

// serve helps with a job, and then with others that come soon enough.
func serve(j *job) {
	debug.SetPanicOnFault(true) // see keep
	s := &spare{}
	for j != nil {
		s.job.Store(nil)
		j.help()
		spares.Lock()
		spares.waiting = append(spares.waiting, s)
		spares.Unlock()
		spin(func() bool { return s.job.Load() != nil })
		j = s.leave()
	}
}

// leave takes the spare off the list, unless it has been taken for a job, which it returns.
func (s *spare) leave() *job {
	spares.Lock()
	at := slices.Index(spares.waiting, s)
	if at >= 0 {
		spares.waiting = slices.Delete(spares.waiting, at, at+1)
	}
	spares.Unlock()
	if at >= 0 {
		return nil
	}
	for s.job.Load() == nil {
		runtime.Gosched()
	}
	return s.job.Load()
}

// spin returns when the condition holds or the patience ends.
func spin(condition func() bool) {
	for range 64 {
		if condition() {
			return
		}
	}
	began := time.Now()
	for time.Since(began) < patience {
		for range 2048 { // many that yield often would wait for each other's turn
			if condition() {
				return
			}
		}
		runtime.Gosched()
	}
}
