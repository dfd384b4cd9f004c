package likelihood

import (
	"math/bits"

	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// bucketedRows are values of rows with an entity, in pieces of parallel.Block rows of which each is
// sorted by bucket. A bucket has 1<<shift entities. Rows of the same bucket keep their order, so
// sums by entity do not depend on the number of threads.
type bucketedRows struct {
	entity []int32
	value  []float32
	pieces []piece
	shift  int
}

// piece holds where the rows of each bucket begin and end.
type piece struct{ from, to [buckets]int32 }

// buckets is the largest number of buckets: enough to divide the work, and few enough that a piece
// is sorted in the cache.
const buckets = 64

func newBucketedRows(n int) *bucketedRows {
	return &bucketedRows{entity: make([]int32, n), value: make([]float32, n), pieces: make([]piece, (n+parallel.Block-1)/parallel.Block)}
}

// valuesTogether is the number of rows whose values are asked for at a time.
const valuesTogether = 1 << 10

// sort takes the rows with an entity. fill writes the values of rows from the given one on; those that are
// negative or NaN do not count.
func (r *bucketedRows) sort(threads int, codes []int32, size int, fill func(values []float32, from int)) {
	r.shift = max(0, bits.Len(uint(max(size-1, 0)))-bits.Len(buckets-1))
	parallel.Blocks(threads, len(codes), func(from, to int) {
		p := &r.pieces[from/parallel.Block]
		*p = piece{}
		for _, code := range codes[from:to] {
			if uint(code) < uint(size) {
				p.to[code>>r.shift]++
			}
		}
		place := int32(from)
		for k, rows := range p.to {
			p.from[k], place = place, place+rows
		}
		p.to = p.from
		memory := make([]float32, valuesTogether)
		for ; from < to; from += len(memory) {
			memory = memory[:min(len(memory), to-from)]
			fill(memory, from)
			for i, code := range codes[from:][:len(memory)] {
				if v := memory[i]; uint(code) < uint(size) && v >= 0 {
					at := &p.to[code>>r.shift]
					r.entity[*at], r.value[*at] = code, v
					*at++
				}
			}
		}
	})
}

// sums returns the sums and the numbers of the values of entities.
func (r *bucketedRows) sums(threads, size int) (sum, count []float64) {
	sum, count = make([]float64, size), make([]float64, size)
	width := 1 << r.shift
	parallel.For(threads, (size+width-1)/width, func(k int) {
		own := make([]pair, max(width, 8)) // not in a cache line of others
		first := int32(k * width)
		for i := range r.pieces {
			p := &r.pieces[i]
			for at := p.from[k]; at < p.to[k]; at++ {
				t := &own[r.entity[at]-first]
				t[0] += float64(r.value[at])
				t[1]++
			}
		}
		for i := range min(width, size-k*width) {
			sum[int(first)+i], count[int(first)+i] = own[i][0], own[i][1]
		}
	})
	return sum, count
}
