package tableio

import (
	"context"
	"sync"

	"github.com/kernel-fried-tensor/kft/dataset/delimited"
)

// flow passes chunks from the goroutine that reads to the workers, and their results to a sink in
// the order of the source. The workers do all of it: one that has finished a chunk also calls
// the sink, for this chunk and for those that wait behind it, so that no goroutine has to be woken for a chunk. Of a text that is
// divided each worker reads its own block.
type flow struct {
	workers int

	mu       sync.Mutex
	work     sync.Cond // there is something to do, or nothing any more
	released sync.Cond // there is a free buffer
	free     []*buffer
	todo     []*chunk
	divided  *division
	order    []*chunk // those that the sink has not received
	sinking  bool     // a worker calls the sink
	tails    []*chunk // whose result must be finished
	ended    bool     // there are no more chunks

	cancel context.CancelFunc
	err    error // the first in the order of the source
}

// division is a divided text, of which the workers take blocks.
type division struct {
	*delimited.Division
	next  int // block
	index int // of its chunk
	table *openTable

	before chan place // of the next chunk
	from   chan int64 // receives the position of the next block

	lastAfter chan place // of the last chunk
	lastTo    chan int64
}

// finisher is a result with work left after the sink has received it, for which the order does not matter.
type finisher interface{ finish() }

func newFlow(workers int, cancel context.CancelFunc) *flow {
	f := &flow{workers: workers, cancel: cancel}
	f.work.L, f.released.L = &f.mu, &f.mu
	for range 2*workers + 2 {
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
	f.mu.Unlock()
	f.work.Signal()
}

// divide lets the workers take the blocks of a text.
func (f *flow) divide(d *division) {
	f.mu.Lock()
	f.divided = d
	f.mu.Unlock()
	f.work.Broadcast()
}

// end is called when there are no more chunks.
func (f *flow) end() {
	f.mu.Lock()
	f.ended = true
	f.mu.Unlock()
	f.work.Broadcast()
}

// next returns a chunk to work on, or one to finish; nil if there will be none.
func (f *flow) next() (c *chunk, finish bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		switch {
		case len(f.tails) > 0:
			c, f.tails = f.tails[0], f.tails[1:]
			return c, true
		case len(f.todo) > 0:
			c, f.todo = f.todo[0], f.todo[1:]
			return c, false
		case f.divided != nil && len(f.free) > 0:
			c = f.divided.chunk(f.takeBuffer())
			f.order = append(f.order, c)
			if f.divided.next == f.divided.Blocks {
				f.divided = nil
			}
			return c, false
		case f.ended && len(f.order) == 0 && !f.sinking:
			return nil, false
		}
		f.work.Wait()
	}
}

// chunk returns the next block.
func (d *division) chunk(buf *buffer) *chunk {
	after, to := d.lastAfter, d.lastTo
	if d.next < d.Blocks-1 {
		after, to = make(chan place, 1), make(chan int64, 1)
	}
	c := &chunk{table: d.table, buf: buf, index: d.index, before: d.before, after: after, division: d.Division, block: d.next, from: d.from, to: to}
	d.before, d.from = after, to
	d.next++
	d.index++
	return c
}

// done passes the results that are next in order to the sink.
func (f *flow) done(ctx context.Context, c *chunk, sink func(any) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c.done = true
	if f.sinking {
		return
	}
	f.sinking = true
	for len(f.order) > 0 && f.order[0].done {
		c, f.order = f.order[0], f.order[1:]
		f.mu.Unlock()
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
			f.work.Signal()
			continue
		}
		f.release(c)
	}
	f.sinking = false
	if f.ended && len(f.order) == 0 {
		f.work.Broadcast()
	}
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
func (f *flow) finished(c *chunk) {
	f.mu.Lock()
	f.release(c)
	f.mu.Unlock()
}

// release makes the memory of a chunk free. The caller has the lock.
func (f *flow) release(c *chunk) {
	f.free = append(f.free, c.buf)
	c.buf, c.result = nil, nil
	if f.divided != nil {
		f.work.Signal()
	} else {
		f.released.Signal()
	}
}
