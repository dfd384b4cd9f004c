package cpu

import (
	"runtime"
	"sync/atomic"
)

// phase packs one part of B and multiplies by it.
type phase struct {
	packed
	grid
	packing  int           // tasks of pack
	isPacked atomic.Int32  // how many of them are done
	finished atomic.Int32  // how many tasks of multiply are done
	done     []atomic.Bool // which of them
	before   *phase        // multiplies into the same C, or nil
	usedBy   *phase        // filled the same memory before, or nil
}

// multiplyPacked computes the product in phases, one for each part of B. The
// threads take the tasks of all phases in order and wait only for what a task
// needs: there is no point at which all of them meet. Every task needs earlier
// ones only, so that the wait ends.
func (g *product) multiplyPacked(threads int) {
	width := g.panel()
	depth := min(blockK, g.k)
	columns := min((g.n+width-1)/width, max(1, packedSize/(depth*width))) * width
	// With a second buffer the next part can be packed while other threads
	// still multiply by this one.
	buffers := make([]buffer, min(2, threads))
	for i := range buffers {
		buffers[i] = takeBuffer(depth * columns)
		defer buffers[i].put()
	}
	var phases []*phase
	total := 0
	for j := 0; j < g.n; j += columns {
		for p := 0; p < g.k; p += depth {
			next := &phase{packed: packed{product: *g, p: p, j: j}}
			next.k, next.n = min(depth, g.k-p), min(columns, g.n-j)
			next.packed.packed = buffers[len(phases)%len(buffers)].data
			if p > 0 {
				next.beta = 1
				next.before = phases[len(phases)-1]
			}
			if len(phases) >= len(buffers) {
				next.usedBy = phases[len(phases)-len(buffers)]
			}
			next.packing = next.packTasks()
			next.grid = next.packed.grid(threads)
			next.done = make([]atomic.Bool, next.tasks())
			total += next.packing + next.tasks()
			phases = append(phases, next)
		}
	}
	takeInOrder(threads, total, func(take func() int) {
		first := 0 // task of the phase
		current := 0
		for task := take(); task < total; task = take() {
			for task-first >= phases[current].packing+phases[current].tasks() {
				first += phases[current].packing + phases[current].tasks()
				current++
			}
			phases[current].run(task - first)
		}
	})
}

// run does one task: the first ones pack, the others multiply.
func (f *phase) run(task int) {
	if task < f.packing {
		if f.usedBy != nil {
			wait(func() bool { return int(f.usedBy.finished.Load()) == f.usedBy.tasks() })
		}
		f.pack(task)
		f.isPacked.Add(1)
		return
	}
	task -= f.packing
	wait(func() bool { return int(f.isPacked.Load()) == f.packing })
	if f.before != nil {
		wait(func() bool { return f.before.done[task].Load() })
	}
	f.multiply(f.task(task))
	f.done[task].Store(true)
	f.finished.Add(1)
}

// wait lets other goroutines run until the condition, which one of them will
// bring about within microseconds, holds.
func wait(condition func() bool) {
	for !condition() {
		runtime.Gosched()
	}
}
