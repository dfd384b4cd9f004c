package cpu

import (
	"runtime"
	"sort"
	"sync/atomic"

	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// phase packs one part of B and multiplies by it.
type phase struct {
	packed
	grid
	first        int           // number of its first task in the sequence of all tasks
	packing      int           // number of tasks of pack
	packedTasks  atomic.Int32  // number of these that are done
	doneTasks    atomic.Int32  // number of tasks of multiply that are done
	done         []atomic.Bool // by task of multiply
	previous     *phase        // the previous phase with the same C, or nil
	previousUser *phase        // the previous phase with the same buffer, or nil
}

// multiplyPacked computes the product in phases, one for each part of B. The
// threads claim the tasks of all phases in order and wait only for the results
// that a task needs; there is no barrier for all threads. A task depends on
// earlier tasks only, so every wait ends.
func (g *product) multiplyPacked(threads int) {
	width := g.panel()
	depth := min(blockK, g.k)
	columns := min((g.n+width-1)/width, max(1, packedSize/(depth*width))) * width
	// With a second buffer the next part can be packed while other threads
	// still multiply by this one.
	buffers := make([]buffer, min(2, threads))
	for i := range buffers {
		buffers[i] = getBuffer(depth * columns)
		defer buffers[i].release()
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
				next.previous = phases[len(phases)-1]
			}
			if len(phases) >= len(buffers) {
				next.previousUser = phases[len(phases)-len(buffers)]
			}
			next.packing = next.packTasks()
			next.grid = next.packed.grid(threads)
			next.done = make([]atomic.Bool, next.tasks())
			next.first = total
			total += next.packing + next.tasks()
			phases = append(phases, next)
		}
	}
	// parallel.For hands out the tasks in ascending order.
	parallel.For(threads, total, func(task int) {
		i := sort.Search(len(phases), func(i int) bool { return phases[i].first > task }) - 1
		phases[i].run(task - phases[i].first)
	})
}

// run performs one task: the first ones pack, the others multiply.
func (f *phase) run(task int) {
	if task < f.packing {
		if f.previousUser != nil {
			yieldUntil(func() bool { return int(f.previousUser.doneTasks.Load()) == f.previousUser.tasks() })
		}
		f.pack(task)
		f.packedTasks.Add(1)
		return
	}
	task -= f.packing
	yieldUntil(func() bool { return int(f.packedTasks.Load()) == f.packing })
	if f.previous != nil {
		yieldUntil(func() bool { return f.previous.done[task].Load() })
	}
	f.multiply(f.task(task))
	f.done[task].Store(true)
	f.doneTasks.Add(1)
}

// yieldUntil lets other goroutines run until the condition holds. One of them
// fulfils it within microseconds.
func yieldUntil(condition func() bool) {
	for !condition() {
		runtime.Gosched()
	}
}
