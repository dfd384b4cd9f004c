// Package parallel runs independent pieces of work on several goroutines.
package parallel

// For calls work(0), ..., work(n-1) on at most the given number of goroutines.
// Each goroutine claims the next index when it is free, which balances pieces of
// unequal cost. The calls must be independent of each other.
func For(threads, n int, work func(i int)) {
	ForWorkers(threads, n, func(_, i int) { work(i) })
}

// ForWorkers is For for work that needs memory of its own: worker, less than threads and
// than n, identifies the goroutine.
func ForWorkers(threads, n int, work func(worker, i int)) {
	if trace(threads, n, work) {
		return
	}
	threads = min(threads, n)
	if threads <= 1 {
		for i := range n {
			work(0, i)
		}
		return
	}
	j := &job{n: int64(n), work: work}
	j.start(threads - 1)
}

// Ranges cuts 0..n into one contiguous range per thread, of even length, and calls
// work for every range at once. It suits many small pieces of equal cost. There are
// min(threads, n) ranges, so none is empty.
func Ranges(threads, n int, work func(thread, from, to int)) {
	threads = min(max(threads, 1), n)
	For(threads, threads, func(t int) { work(t, n*t/threads, n*(t+1)/threads) })
}

// Block is the number of elements of one piece of work of [Blocks] and [Reduce]. It does
// not depend on the number of threads, so neither do sums over pieces.
const Block = 1 << 14

// Blocks cuts 0..n into pieces of Block elements, the last one shorter, and calls work
// for every piece.
func Blocks(threads, n int, work func(from, to int)) {
	For(threads, (n+Block-1)/Block, func(i int) { work(i*Block, min(n, (i+1)*Block)) })
}

// Parts cuts 0..n into pieces and calls work for every one. There are some per thread, so that all have work to
// the end; it is not for sums, because the pieces depend on the number of threads.
func Parts(threads, n int, work func(from, to int)) {
	piece := min(max(n/max(1, 4*threads), Block/16), Block)
	For(threads, (n+piece-1)/piece, func(i int) { work(i*piece, min(n, (i+1)*piece)) })
}

// Copy copies arrays to others of the same lengths, in one loop over pieces of all of them.
func Copy[T any](threads int, to, from [][]T) {
	type piece struct{ array, from, to int }
	var pieces []piece
	for k, a := range from {
		for at := 0; at < len(a); at += Block {
			pieces = append(pieces, piece{k, at, min(at+Block, len(a))})
		}
	}
	For(threads, len(pieces), func(i int) {
		p := pieces[i]
		copy(to[p.array][p.from:p.to], from[p.array][p.from:p.to])
	})
}

// Reduce computes a value for every piece of Block elements of 0..n and combines the
// values along a balanced binary tree. The result does not depend on the number of
// threads. It is the zero value for n = 0.
func Reduce[T any](threads, n int, part func(from, to int) T, add func(a, b T) T) T {
	return ReduceBy(Block, threads, n, part, add)
}

// ReduceBy is [Reduce] with pieces of the given number of elements: fewer where one takes long.
func ReduceBy[T any](block, threads, n int, part func(from, to int) T, add func(a, b T) T) T {
	parts := make([]T, max(1, (n+block-1)/block))
	if n > 0 {
		For(threads, len(parts), func(i int) { parts[i] = part(i*block, min(n, (i+1)*block)) })
	}
	return Tree(parts, add)
}

// Tree combines the values of pieces as [Reduce] does. It overwrites them.
func Tree[T any](parts []T, add func(a, b T) T) T {
	for step := 1; step < len(parts); step *= 2 {
		for i := 0; i+step < len(parts); i += 2 * step {
			parts[i] = add(parts[i], parts[i+step])
		}
	}
	return parts[0]
}

// Sum adds the values of pieces as [Reduce] does.
func Sum(threads, n int, part func(from, to int) float64) float64 {
	return Reduce(threads, n, part, func(a, b float64) float64 { return a + b })
}

// Count counts each of the codes 0 to n-1; negative ones do not count. The threads count runs of their own where that
// takes less memory than the codes.
func Count(threads int, codes []int32, n int) []int32 {
	threads = max(1, min(threads, len(codes)/max(Block, 4*n)))
	counts := make([][]int32, threads)
	For(threads, threads, func(t int) {
		own := make([]int32, n)
		for _, c := range codes[len(codes)*t/threads : len(codes)*(t+1)/threads] {
			if c >= 0 {
				own[c]++
			}
		}
		counts[t] = own
	})
	for _, own := range counts[1:] {
		for c, k := range own {
			counts[0][c] += k
		}
	}
	return counts[0]
}
