package tableio

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset/delimited"
)

// flow passes chunks from the goroutine that reads to the workers, and their results to a sink in
// the order of the source. The workers do all of it: one that has finished a chunk also calls the
// sink, for this chunk and for those that wait behind it, so that no goroutine has to be woken for
// a chunk. Of a text that is divided each worker reads its own block.
type flow struct {
	workers int

	mu       sync.Mutex
	work     sync.Cond // there is something to do, or nothing any more
	released sync.Cond // there is a free buffer
	free     []*buffer
	todo     []*chunk
	divided  *division // of which blocks can be taken
	loading  []*chunk  // blocks in their order, from the first whose position is not known
	cutting  bool      // a worker cuts blocks
	position int64     // of the first of them; -1 if they must not be read
	lastTo   chan int64
	order    []*chunk // those that the sink has not received
	at       place    // of the first of them
	sinking  bool     // a worker calls the sink
	tails    []*chunk // whose result must be finished
	ended    bool     // there are no more chunks

	// Workers that look for work without the lock, those of them that will find some, and the
	// number of times that there was some.
	looking, expected int
	events            atomic.Int64

	cancel context.CancelFunc
	err    error // the first in the order of the source
}

// division is a divided text, of which the workers take blocks.
type division struct {
	*delimited.Division
	next  int // block
	index int // of its chunk
	table *openTable

	before, last chan place // of the next chunk, and after the last one; nil if chunks do not know their places
}

// finisher is a result with work left after the sink has received it, for which the order does not matter.
type finisher interface{ finish() }

func newFlow(workers, buffers int, cancel context.CancelFunc) *flow {
	f := &flow{workers: workers, cancel: cancel}
	f.work.L, f.released.L = &f.mu, &f.mu
	for range buffers {
		f.free = append(f.free, new(buffer))
	}
	return f
}

// buffer waits for a free buffer.
func (f *flow) buffer() *buffer {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.free) == 0 {
		f.released.Wait()
	}
	return f.takeBuffer()
}

func (f *flow) takeBuffer() *buffer {
	last := len(f.free) - 1
	buf := f.free[last]
	f.free = f.free[:last]
	return buf
}

// put adds a chunk that has been read.
func (f *flow) put(c *chunk) {
	f.mu.Lock()
	f.order = append(f.order, c)
	f.todo = append(f.todo, c)
	f.signal()
	f.mu.Unlock()
}

// signal tells a worker that there is something to do, one that is awake if possible. The caller has the lock.
func (f *flow) signal() {
	f.events.Add(1)
	if f.looking > 0 {
		f.looking--
		f.expected++
	} else {
		f.work.Signal()
	}
}

// patience is how long a worker looks for work before it sleeps: to wake it takes longer than the work on a chunk.
const patience = 200 * time.Microsecond

// wait returns when there may be something to do. The caller has the lock.
func (f *flow) wait() {
	seen := f.events.Load()
	f.looking++
	f.mu.Unlock()
	for start := time.Now(); f.events.Load() == seen && time.Since(start) < patience; {
		runtime.Gosched()
	}
	f.mu.Lock()
	if f.expected > 0 {
		f.expected--
	} else {
		f.looking--
	}
	if f.events.Load() == seen {
		f.work.Wait()
	}
}

// divide lets the workers take the blocks of a text. It returns the position after the last of them, -1 after an error.
func (f *flow) divide(d *division) int64 {
	last := make(chan int64, 1)
	f.mu.Lock()
	f.divided, f.position, f.lastTo = d, d.Start(), last
	f.events.Add(1)
	f.mu.Unlock()
	f.work.Broadcast()
	return <-last
}

// end is called when there are no more chunks.
func (f *flow) end() {
	f.mu.Lock()
	f.ended = true
	f.events.Add(1)
	f.mu.Unlock()
	f.work.Broadcast()
}

// step is what a worker does with a chunk.
type step int

const (
	load step = iota // reads its block
	compute
	finish
)

// next returns a chunk and what to do with it; nil if there will be none.
func (f *flow) next() (c *chunk, do step) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.pick()
}

// pick is next for a caller that has the lock.
func (f *flow) pick() (c *chunk, do step) {
	for {
		switch {
		case len(f.tails) > 0:
			c, f.tails = f.tails[0], f.tails[1:]
			return c, finish
		case len(f.todo) > 0:
			c, f.todo = f.todo[0], f.todo[1:]
			return c, compute
		case f.divided != nil && len(f.free) > 0:
			c = f.divided.chunk(f.takeBuffer())
			f.order, f.loading = append(f.order, c), append(f.loading, c)
			if f.divided.next == f.divided.Blocks {
				f.divided = nil
			}
			return c, load
		case f.ended && len(f.order) == 0 && !f.sinking:
			return nil, 0
		}
		f.wait()
	}
}

// chunk returns the next block.
func (d *division) chunk(buf *buffer) *chunk {
	c := &chunk{table: d.table, buf: buf, index: d.index, block: d.next, before: d.before}
	d.next++
	d.index++
	if d.before != nil {
		if c.after = d.last; d.next < d.Blocks {
			c.after = make(chan place, 1)
		}
		d.before = c.after
	}
	c.division = d.Division
	return c
}

// loaded cuts the blocks whose position is known now that a chunk has been read. Where one starts
// depends on the one before. Like done and finished, it returns what comes next.
func (f *flow) loaded(ctx context.Context, c *chunk) (*chunk, step) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c.loaded = true
	if f.cutting {
		return f.pick()
	}
	f.cutting = true
	for len(f.loading) > 0 && f.loading[0].loaded {
		c, f.loading = f.loading[0], f.loading[1:]
		f.mu.Unlock()
		if ctx.Err() != nil {
			f.position = -1
		}
		f.position = c.cut(f.position)
		f.mu.Lock()
		if f.todo = append(f.todo, c); len(f.todo) > 1 { // the first is for this worker
			f.signal()
		}
		if c.block == c.division.Blocks-1 {
			f.lastTo <- f.position
		}
	}
	f.cutting = false
	return f.pick()
}

// done passes the results that are next in order to the sink.
func (f *flow) done(ctx context.Context, c *chunk, sink func(any) error) (*chunk, step) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c.done = true
	if f.sinking {
		return f.pick()
	}
	f.sinking = true
	for len(f.order) > 0 && f.order[0].done {
		c, f.order = f.order[0], f.order[1:]
		f.mu.Unlock()
		f.at = c.settle(f.at)
		finish := f.sink(ctx, c, sink)
		f.mu.Lock()
		if finish && f.workers == 1 {
			f.mu.Unlock()
			c.result.(finisher).finish() // the sink may wait for it
			f.mu.Lock()
			finish = false
		}
		if finish {
			f.tails = append(f.tails, c)
			f.signal()
			continue
		}
		f.release(c)
	}
	f.sinking = false
	if f.ended && len(f.order) == 0 {
		f.events.Add(1)
		f.work.Broadcast()
	}
	return f.pick()
}

// sink passes the result of a chunk on, unless there was an error, and reports whether it must be finished.
func (f *flow) sink(ctx context.Context, c *chunk, sink func(any) error) (finish bool) {
	if f.err != nil {
		return false
	}
	if f.err = c.resultErr; f.err == nil && !c.void && ctx.Err() == nil {
		if f.err = sink(c.result); f.err == nil {
			_, finish = c.result.(finisher)
		}
	}
	if f.err != nil {
		f.cancel()
	}
	return finish
}

// finished releases a chunk whose result has been finished.
func (f *flow) finished(c *chunk) (*chunk, step) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.release(c)
	return f.pick()
}

// giveBack makes a buffer free that was not used.
func (f *flow) giveBack(buf *buffer) {
	f.mu.Lock()
	f.free = append(f.free, buf)
	f.mu.Unlock()
}

// release makes the memory of a chunk free. The caller has the lock.
func (f *flow) release(c *chunk) {
	f.free = append(f.free, c.buf)
	c.buf, c.result = nil, nil
	if f.divided != nil {
		f.signal()
	} else {
		f.released.Signal()
	}
}
