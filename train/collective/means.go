package collective

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/peers"
	"github.com/kernel-fried-tensor/kft/solver"
)

// CountRows returns the number of rows per code, by mode. The processes of a group, which may be
// nil, count those of their run each, see [peers.Rows].
func CountRows(group peers.Group, threads int, codes [][]int32, sizes []int) [][]int32 {
	counts := make([][]int32, len(sizes))
	for m, own := range codes[:len(sizes)] {
		if group != nil {
			bounds := peers.Rows(len(own), group.Size())
			own = own[bounds[group.Rank()]:bounds[group.Rank()+1]]
		}
		counts[m] = parallel.Count(threads, own, sizes[m])
	}
	if group != nil {
		for m := range counts {
			counts[m] = peers.Sum(group, counts[m])
		}
	}
	return counts
}

// meanPieces is the largest number of runs of rows whose sums by id are computed independently of
// each other, and leastPieceRows the number of rows per id from which there is another run.
const (
	meanPieces     = 8
	leastPieceRows = 4
)

// MeanTargets returns the mean target of the rows of each code, by mode, 0 for a code without rows,
// given the numbers of rows. The pieces of rows, whose sums are added in order, depend on the
// numbers of rows and ids alone. Each of several ranks, nil for one process, adds the rows of its
// run, see [backend.RowRuns], and passes the sums of a piece that ends later on to the next one.
func MeanTargets(ranks backend.Ranks, threads int, o *solver.Observations, counts [][]int32) [][]float64 {
	means := make([][]float64, len(counts))
	for m, rows := range counts {
		size, n := len(rows), o.Len()
		pieces := max(1, min(meanPieces, n/(leastPieceRows*max(1, size))))
		sums := make([]float64, pieces*size)
		addUp(ranks, threads, n, pieces, size, sums, func(sum []float64, from, to int) {
			for i, c := range o.Codes[m][from:to] {
				if c >= 0 {
					sum[c] += o.Target(from + i)
				}
			}
		})
		means[m] = slices.Clone(sums[:size]) // the other pieces are not kept
		for k := 1; k < pieces; k++ {
			for c, v := range sums[k*size:][:size] {
				means[m][c] += v
			}
		}
		for c, n := range rows {
			if n > 0 {
				means[m][c] /= float64(n)
			}
		}
	}
	return means
}

// addUp completes the sums of pieces of n rows, length numbers each, to which add adds rows in
// order. A rank adds those of its run.
func addUp(ranks backend.Ranks, threads, n, pieces, length int, sums []float64, add func(sum []float64, from, to int)) {
	start := func(piece int) int { return n * piece / pieces }
	first, end := 0, n
	var bounds []int
	if ranks != nil {
		bounds = backend.RowRuns(n, ranks.Size())
		first, end = bounds[ranks.Rank()], bounds[ranks.Rank()+1]
	}
	own := func(piece int) {
		add(sums[piece*length:][:length], max(first, start(piece)), min(end, start(piece+1)))
	}
	var begun []int // pieces that begin with a row of this process
	before := -1    // the piece that continues one of the rank before
	for k := range pieces {
		switch {
		case first == end || start(k+1) <= first || start(k) >= end:
		case start(k) < first:
			before = k
		default:
			begun = append(begun, k)
		}
	}
	parallel.For(threads, len(begun), func(i int) { own(begun[i]) })
	if ranks == nil {
		return
	}
	// A piece is sent to the next rank with rows, if it has some of them.
	send := func(piece int) {
		if end >= start(piece+1) {
			return
		}
		to := ranks.Rank() + 1
		for bounds[to+1] == end {
			to++
		}
		ranks.Send(backend.Bytes(sums[piece*length:][:length]), to)
	}
	if len(begun) > 0 {
		send(begun[len(begun)-1])
	}
	if before >= 0 {
		from := ranks.Rank() - 1
		for bounds[from] == first {
			from--
		}
		ranks.Receive(backend.Bytes(sums[before*length:][:length]), from)
		own(before)
		send(before)
	}
	have := make([]int, len(bounds)) // by rank: the first piece whose last rows it has
	for r, bound := range bounds {
		for have[r] < pieces && start(have[r]+1) <= bound {
			have[r]++
		}
	}
	backend.GatherValues(ranks, sums, have, length)
}
