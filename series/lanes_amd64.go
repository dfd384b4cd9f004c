package series

import "golang.org/x/sys/cpu"

// filterLanes is filterRows with the vectors of the CPU.
func filterLanes(rows []laneRow, start []float64) {
	if len(rows) == 0 {
		return
	}
	constants := [...]float64{start[0], start[1], 1}
	switch {
	case cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ:
		filterAVX512(&rows[0], len(rows), &constants)
	case cpu.X86.HasAVX:
		filterAVX(&rows[0], len(rows), 0, &constants)
		filterAVX(&rows[0], len(rows), 32, &constants)
	default:
		filterRows(rows, start)
	}
}

// smoothLanes is smoothRows with the vectors of the CPU.
func smoothLanes(rows []laneRow, from int) {
	if from >= len(rows) {
		return
	}
	last, n := &rows[len(rows)-1], len(rows)-from
	switch {
	case cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ:
		smoothAVX512(last, n)
	case cpu.X86.HasAVX:
		smoothAVX(last, n, 0)
		smoothAVX(last, n, 32)
	default:
		smoothRows(rows, from)
	}
}

//go:noescape
func filterAVX512(rows *laneRow, n int, constants *[3]float64)

//go:noescape
func smoothAVX512(last *laneRow, n int)

// filterAVX takes the lanes from the given byte on.
//
//go:noescape
func filterAVX(rows *laneRow, n int, at int, constants *[3]float64)

// smoothAVX takes the lanes from the given byte on.
//
//go:noescape
func smoothAVX(last *laneRow, n int, at int)
