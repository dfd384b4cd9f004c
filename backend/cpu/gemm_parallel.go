package cpu

import (
	"sync"
	"sync/atomic"
)

// parallel runs the tasks 0..tasks-1 on up to threads goroutines, each taking
// the next task as it becomes free.
func parallel(threads, tasks int, run func(task int)) {
	takeInOrder(threads, tasks, func(take func() int) {
		for task := take(); task < tasks; task = take() {
			run(task)
		}
	})
}

// takeInOrder runs work on up to threads goroutines. Each gets its tasks from
// take, which hands out 0, 1, 2, ... in order, whoever asks; from tasks on
// there is nothing left to do.
func takeInOrder(threads, tasks int, work func(take func() int)) {
	var next atomic.Int64
	take := func() int { return int(next.Add(1)) - 1 }
	var group sync.WaitGroup
	for range min(threads, tasks) - 1 {
		group.Go(func() { work(take) })
	}
	work(take)
	group.Wait()
}

// grid cuts a matrix into tasks: runs of rows, whole register tiles except the
// last, times runs of panels of columns.
type grid struct {
	rows, panels         int
	taskRows, taskPanels int
}

type span struct{ start, end int }

// tasksPerThread even out threads that run at different speeds.
const tasksPerThread = 12

// newGrid cuts at most mostRows rows a task.
func newGrid(rows, mostRows, tileRows, panels, threads int) grid {
	g := grid{rows: rows, panels: panels, taskRows: mostRows, taskPanels: panels}
	if threads > 1 {
		wanted := threads * tasksPerThread
		tall := (rows + wanted - 1) / wanted
		g.taskRows = min(mostRows, max(3*tileRows, tall))
		if runs := (rows + g.taskRows - 1) / g.taskRows; runs < wanted {
			groups := (wanted + runs - 1) / runs
			g.taskPanels = max(1, panels/groups)
		}
	}
	g.taskRows = (g.taskRows + tileRows - 1) / tileRows * tileRows
	return g
}

func (g grid) across() int { return (g.panels + g.taskPanels - 1) / g.taskPanels }

func (g grid) tasks() int { return (g.rows + g.taskRows - 1) / g.taskRows * g.across() }

func (g grid) task(i int) (rows, panels span) {
	row, column := i/g.across()*g.taskRows, i%g.across()*g.taskPanels
	return span{row, min(g.rows, row+g.taskRows)}, span{column, min(g.panels, column+g.taskPanels)}
}

// buffer is scratch memory that calls hand on to each other.
type buffer struct {
	data []float32
	from *[]float32
}

// buffers keeps scratch memory between calls; what it holds never shows in a
// result.
var buffers = sync.Pool{New: func() any { return new([]float32) }}

// smallestBuffer is large enough that the allocator aligns it to cache lines.
const smallestBuffer = 1 << 14

// takeBuffer returns size elements of no particular value.
func takeBuffer(size int) buffer {
	from := buffers.Get().(*[]float32)
	if cap(*from) < size {
		*from = make([]float32, max(size, smallestBuffer))
	}
	return buffer{data: (*from)[:size], from: from}
}

func (b buffer) put() { buffers.Put(b.from) }
