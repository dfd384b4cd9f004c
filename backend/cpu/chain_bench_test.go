package cpu

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// clock returns the current number of cycles per nanosecond, measured with a
// chain of multiplications that take three cycles each.
func clock() float64 {
	const steps = 1 << 14
	best := time.Hour
	x := uint64(time.Now().UnixNano()) | 1
	for range 20 {
		start := time.Now()
		for range steps / 8 {
			x *= x
			x *= x
			x *= x
			x *= x
			x *= x
			x *= x
			x *= x
			x *= x
		}
		best = min(best, time.Since(start))
	}
	if x == 0 {
		panic("unreachable: powers of an odd number are odd")
	}
	return 3 * steps / float64(best.Nanoseconds())
}

// benchNodes are nodes with ascending cells over a table, as in the plan of
// sales by store, item and month.
type benchNodes struct {
	rows, grad, m, gm, left, acc, e, w []float32
	idx                                [][]int32
}

const (
	benchTable = 1507 // stores
	benchShops = 103  // stores that sell an item
	benchCells = 61   // stores that sell it in a month
	benchMonth = 11   // months in which it is sold
)

// newBenchNodes draws the cells of a node from the rows that its item shares
// with the previous months, or from the whole table if shops is that large.
func newBenchNodes(r, shops int) benchNodes {
	rng := rand.New(rand.NewPCG(1, 2))
	random := func(n int) []float32 {
		s := make([]float32, n)
		for i := range s {
			s[i] = float32(rng.NormFloat64())
		}
		return s
	}
	b := benchNodes{
		rows: random(benchTable * r), grad: random(benchTable * r), m: random(r * r), gm: random(r * r),
		left: random(r), acc: random(r), e: random(benchCells), w: random(r),
	}
	var item []int
	for node := range 512 {
		if node%benchMonth == 0 {
			item = rng.Perm(benchTable)[:shops]
		}
		rng.Shuffle(shops, func(i, j int) { item[i], item[j] = item[j], item[i] })
		picked := slices.Clone(item[:benchCells])
		slices.Sort(picked)
		idx := make([]int32, benchCells)
		for i, p := range picked {
			idx[i] = int32(p)
		}
		b.idx = append(b.idx, idx)
	}
	return b
}

// BenchmarkChain reports the fastest iteration over all nodes: other work on
// the machine only adds time.
func BenchmarkChain(b *testing.B) {
	kernels := []struct {
		name string
		run  func(k chainKernels, n *benchNodes, idx []int32, dst []float32)
	}{
		{"dots", func(k chainKernels, n *benchNodes, idx []int32, dst []float32) { k.dots(dst, n.rows, idx, n.w) }},
		{"gatherSum", func(k chainKernels, n *benchNodes, idx []int32, _ []float32) { k.gatherSum(n.acc, n.rows, idx, n.e) }},
		{"scatterAdd", func(k chainKernels, n *benchNodes, idx []int32, _ []float32) { k.scatterAdd(n.grad, idx, n.e, n.w) }},
		{"dots+gatherScatter", func(k chainKernels, n *benchNodes, idx []int32, dst []float32) {
			k.dots(dst, n.rows, idx, n.w)
			k.gatherScatter(n.acc, n.grad, n.rows, idx, n.e, n.w)
		}},
		{"matVec", func(k chainKernels, n *benchNodes, _ []int32, _ []float32) { k.matVec(n.acc, n.m, n.left) }},
		{"vecMat", func(k chainKernels, n *benchNodes, _ []int32, _ []float32) { k.vecMat(n.acc, n.left, n.m) }},
		{"rank1", func(k chainKernels, n *benchNodes, _ []int32, _ []float32) { k.rank1(n.gm, n.left, n.w) }},
		{"node", func(k chainKernels, n *benchNodes, idx []int32, dst []float32) {
			clear(n.acc)
			k.matVec(n.acc, n.m, n.left)
			k.dots(dst, n.rows, idx, n.w)
			k.gatherScatter(n.acc, n.grad, n.rows, idx, n.e, n.w)
			k.vecMat(n.acc, n.left, n.m)
			k.rank1(n.gm, n.left, n.w)
		}},
	}
	for _, p := range Paths() {
		k := chainKernelsFor(p)
		for _, r := range []int{1, 2, 4, 8, 16, 30, 32, 64} {
			for _, shops := range []int{benchTable, benchShops} {
				n := newBenchNodes(r, shops)
				for _, kernel := range kernels {
					b.Run(fmt.Sprintf("%s/r=%d/of=%d/%s", p, r, shops, kernel.name), func(b *testing.B) {
						dst := make([]float32, benchCells)
						best := time.Hour
						for b.Loop() {
							start := time.Now()
							for _, idx := range n.idx {
								kernel.run(k, &n, idx, dst)
							}
							best = min(best, time.Since(start))
						}
						perCell := float64(best.Nanoseconds()) / float64(len(n.idx)*benchCells)
						b.ReportMetric(0, "ns/op")
						b.ReportMetric(perCell, "ns/cell")
						b.ReportMetric(perCell*clock(), "cycles/cell")
					})
				}
			}
		}
	}
}
