package parallel

import (
	"math/bits"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// A call of For starts goroutines, and waking the threads that run them takes longer than
// many pieces of work. A goroutine that has finished therefore waits for a moment for the
// next call before it ends. At rest there are none.

// How long it waits grows with every job and halves whenever none came, so that the goroutines of a
// fit outlast the code between its loops, and those of short requests hardly use the processors.
const (
	leastPatience = 150 * time.Microsecond
	morePatience  = 20 * time.Microsecond // after every job
	mostPatience  = 10 * time.Millisecond
)

// job is one call of For.
type job struct {
	n       int64
	most    int64 // helpers at most
	work    func(worker, i int)
	_       [64]byte // what follows changes all the time: not in the cache line of what all read
	next    atomic.Int64
	_       [64]byte
	workers atomic.Int64
	joined  atomic.Int64          // helpers that asked to join
	helpers atomic.Int64          // those at work, plus closed when no more may join
	done    chan struct{}         // receives a value when the last helper has finished after the end
	failed  atomic.Pointer[error] // the first panic of a helper that the caller gets
}

const closed = 1 << 32

// run claims pieces of work until there are none.
func (j *job) run() {
	worker := int(j.workers.Add(1)) - 1
	for i := j.next.Add(1) - 1; i < j.n; i = j.next.Add(1) - 1 {
		j.work(worker, int(i))
	}
}

// help runs a job as one of its helpers, unless it has ended. ready is called before the caller can go on.
func (j *job) help(ready func()) {
	if !j.join() {
		ready()
		return
	}
	defer func() {
		j.keep(recover())
		ready()
		if j.helpers.Add(-1) == closed {
			j.done <- struct{}{}
		}
	}()
	j.run()
}

// join counts a helper, unless the job has ended or has all that it may have.
func (j *job) join() bool {
	if j.joined.Add(1) > j.most {
		return false
	}
	for {
		n := j.helpers.Load()
		if n >= closed {
			return false
		}
		if j.helpers.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// keep keeps a panic for the caller, who may recover from it.
func (j *job) keep(cause any) {
	if cause == nil {
		return
	}
	failed := Caught(cause)
	j.failed.CompareAndSwap(nil, &failed)
	j.next.Store(j.n)
}

// end returns when all helpers at work have finished, also after a panic of the caller. It takes back the
// job from the given places whose goroutines have not begun it: they may not run for a while. It panics if a helper did.
func (j *job) end(given uint64, opened int) {
	j.next.Store(j.n)
	if opened >= 0 {
		open[opened].Store(nil)
		opens.Add(-1)
	}
	for ; given != 0; given &= given - 1 {
		places[bits.TrailingZeros64(given)].job.CompareAndSwap(j, &idle)
	}
	if j.helpers.Add(closed) > closed {
		spin(mostPatience, func() bool { return j.helpers.Load() == closed })
		<-j.done
	}
	if failed := j.failed.Load(); failed != nil {
		panic(*failed)
	}
}

// A place is where one goroutine waits. Places are a cache line apart, and no lock is shared, because
// all goroutines come back at the same time.
type place struct {
	job      atomic.Pointer[job] // nil: not used; busy: its goroutine works; idle: it waits; others: its next job
	patience time.Duration       // of the goroutine that uses it
	_        [112]byte
}

var (
	places     [64]place    // more goroutines than these end after their job
	alive      atomic.Int32 // goroutines of helpers
	idle, busy job
)

// Jobs that found fewer goroutines waiting than they may have are open: one that finishes another job joins.
// Without this, two loops at the same time would take as long as if the later had one thread.
var (
	open  [16]atomic.Pointer[job]
	opens atomic.Int32
)

// offer makes a job open. It returns where, or -1 if there are too many.
func (j *job) offer() int {
	for i := range open {
		if open[i].Load() == nil && open[i].CompareAndSwap(nil, j) {
			opens.Add(1)
			return i
		}
	}
	return -1
}

// opened returns the open job with pieces left that has fewest helpers at work, or nil.
func opened() (found *job) {
	if opens.Load() == 0 {
		return nil
	}
	fewest := int64(closed)
	for i := range open {
		j := open[i].Load()
		if j == nil || j.next.Load() >= j.n || j.joined.Load() >= j.most {
			continue
		}
		if helpers := j.helpers.Load(); helpers < fewest {
			found, fewest = j, helpers
		}
	}
	return found
}

// start runs a job with the given number of helpers and waits for its end.
func (j *job) start(helpers int) {
	j.done, j.most = make(chan struct{}, 1), int64(helpers)
	given := uint64(0)
	for i := range places {
		if p := &places[i]; helpers > 0 && p.job.Load() == &idle && p.job.CompareAndSwap(&idle, j) {
			given |= 1 << i
			helpers--
		}
	}
	at := -1
	if helpers > 0 {
		at = j.offer()
	}
	for range min(helpers, max(runtime.GOMAXPROCS(0)-1, int(j.most))-int(alive.Load())) { // more would take turns
		alive.Add(1)
		go serve(j)
	}
	defer func() { j.end(given, at) }()
	j.run()
}

// serve helps with a job, and then with others that come soon enough.
func serve(j *job) {
	defer alive.Add(-1)
	debug.SetPanicOnFault(true) // see keep
	p := claim()
	if p == nil {
		j.help(func() {})
		return
	}
	for {
		j.help(func() { p.job.Store(&idle) })
		p.patience = min(p.patience+morePatience, mostPatience)
		if j = p.wait(); j == nil {
			return
		}
	}
}

// claim returns an unused place, or nil if there is none.
func claim() *place {
	for i := range places {
		if p := &places[i]; p.job.Load() == nil && p.job.CompareAndSwap(nil, &busy) {
			return p
		}
	}
	return nil
}

// wait returns the next job, or nil if none came; then the place is free.
func (p *place) wait() *job {
	patience := max(p.patience, leastPatience)
	var next *job
	take := func() bool {
		if next = p.job.Load(); next == &idle || !p.job.CompareAndSwap(next, &busy) {
			next = nil // there is none, or it was taken back
		}
		if next == nil {
			if other := opened(); other != nil && p.job.CompareAndSwap(&idle, &busy) {
				next = other
			}
		}
		return next != nil
	}
	spin(patience, take)
	for next == nil && !p.job.CompareAndSwap(&idle, &busy) { // no caller gives it a job from now on, unless one just did
		take()
	}
	if next == nil {
		p.patience = patience / 2
		p.job.Store(nil)
	}
	return next
}

// spin returns when the condition holds or the patience ends.
func spin(patience time.Duration, condition func() bool) {
	began := time.Now()
	for time.Since(began) < patience {
		for range 4096 { // many that yield often would wait for each other's turn
			if condition() {
				return
			}
		}
		yield()
		runtime.Gosched()
	}
}
