package cpu

import "sync"

// grid divides a matrix into tasks: runs of rows, in whole register tiles
// except the last, times runs of panels of columns.
type grid struct {
	rows, panels         int
	taskRows, taskPanels int
}

type span struct{ start, end int }

// tasksPerThread is large enough to balance threads that run at different
// speeds.
const tasksPerThread = 12

// newGrid assigns at most maxRows rows to a task.
func newGrid(rows, maxRows, tileRows, panels, threads int) grid {
	g := grid{rows: rows, panels: panels, taskRows: maxRows, taskPanels: panels}
	if threads > 1 {
		wanted := threads * tasksPerThread
		tall := (rows + wanted - 1) / wanted
		g.taskRows = min(maxRows, max(3*tileRows, tall))
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

// buffer is scratch memory that is reused by later calls.
type buffer struct {
	data []float32
	from *[]float32
}

// buffers keeps scratch memory between calls. Its content never affects a
// result.
var buffers = sync.Pool{New: func() any { return new([]float32) }}

// smallestBuffer is large enough that the allocator aligns it to cache lines.
const smallestBuffer = 1 << 14

// getBuffer returns size elements with undefined content.
func getBuffer(size int) buffer {
	from := buffers.Get().(*[]float32)
	if cap(*from) < size {
		*from = make([]float32, max(size, smallestBuffer))
	}
	return buffer{data: (*from)[:size], from: from}
}

func (b buffer) release() { buffers.Put(b.from) }
