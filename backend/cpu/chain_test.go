package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// chainCanary fills chainMemory before a slice, where nothing may be written.
const chainCanary = 12345.678

// last returns n floats at the very end of the memory, preceded by canaries.
func (g *chainMemory) last(n int) []float32 {
	for i := range g.floats {
		g.floats[i] = chainCanary
	}
	return g.floats[len(g.floats)-n:]
}

// intact reports whether the canaries before the last n floats are unchanged.
func (g *chainMemory) intact(n int) bool {
	for _, x := range g.floats[:len(g.floats)-n] {
		if x != chainCanary {
			return false
		}
	}
	return true
}

// chainCase is one problem whose arrays are at the ends of chainMemory.
type chainCase struct {
	rng  *rand.Rand
	pool []*chainMemory
	used int
	size []int
}

const (
	chainTestRows = 19
	chainTestSize = 100 * 101
)

func newChainCase(t testing.TB) *chainCase {
	c := &chainCase{rng: rand.New(rand.NewPCG(7, 11))}
	for range 7 {
		c.pool = append(c.pool, newChainMemory(t, chainTestSize))
	}
	return c
}

func (c *chainCase) reset() { c.used, c.size = 0, c.size[:0] }

func (c *chainCase) place(n int) []float32 {
	s := c.pool[c.used].last(n)
	c.used++
	c.size = append(c.size, n)
	return s
}

// floats returns n random numbers.
func (c *chainCase) floats(n int) []float32 {
	s := c.place(n)
	for i := range s {
		s[i] = float32(c.rng.NormFloat64())
	}
	return s
}

// index returns n random row numbers, some of them repeated.
func (c *chainCase) index(n int) []int32 {
	s := c.place(n)
	idx := unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(s))), n)
	for i := range idx {
		idx[i] = int32(c.rng.IntN(chainTestRows))
		if i > 0 && c.rng.IntN(4) == 0 {
			idx[i] = idx[i-1]
		}
	}
	return idx
}

func (c *chainCase) intact(t *testing.T, what string) {
	t.Helper()
	for i, n := range c.size {
		if !c.pool[i].intact(n) {
			t.Fatalf("%s: argument %d was written before its start", what, i)
		}
	}
}

// exact is a sum in float64 together with the sum of the absolute values of its
// terms, which bounds the rounding error for any order of summation.
type exact struct {
	sum, size []float64
	terms     int
}

func newExact(start []float32, terms int) exact {
	e := exact{make([]float64, len(start)), make([]float64, len(start)), terms + 2}
	for i, x := range start {
		e.add(i, float64(x))
	}
	return e
}

func (e exact) add(i int, x float64) {
	e.sum[i] += x
	e.size[i] += math.Abs(x)
}

func (e exact) check(t *testing.T, what string, got []float32) {
	t.Helper()
	for i := range got {
		tolerance := float64(e.terms) * 0x1p-24 * e.size[i]
		if diff := math.Abs(float64(got[i]) - e.sum[i]); !(diff <= tolerance) {
			t.Fatalf("%s: element %d is %g, want %g within %g", what, i, got[i], e.sum[i], tolerance)
		}
	}
}

// chainRanks returns the row lengths under test: all short ones, and those on
// both sides of a change of code.
func chainRanks() []int {
	var ranks []int
	for r := 1; r <= 40; r++ {
		ranks = append(ranks, r)
	}
	return append(ranks, 47, 48, 49, 63, 64, 65, 66, 100)
}

const chainTestCells = 40

// eachChain runs f for every path, rank and number of cells.
func eachChain(t *testing.T, f func(t *testing.T, k chainKernels, c *chainCase, what string, r, cells int)) {
	for _, p := range Paths() {
		t.Run(string(p), func(t *testing.T) {
			k, c := chainKernelsFor(p), newChainCase(t)
			for _, r := range chainRanks() {
				for cells := 0; cells <= chainTestCells; cells++ {
					what := fmt.Sprintf("r=%d cells=%d", r, cells)
					c.reset()
					f(t, k, c, what, r, cells)
					c.intact(t, what)
				}
			}
		})
	}
}

func TestChainDots(t *testing.T) {
	t.Parallel()
	eachChain(t, func(t *testing.T, k chainKernels, c *chainCase, what string, r, cells int) {
		dst, rows, idx, w := c.floats(cells), c.floats(chainTestRows*r), c.index(cells), c.floats(r)
		want := newExact(make([]float32, cells), r)
		for i, at := range idx {
			for j := range w {
				want.add(i, float64(rows[int(at)*r+j])*float64(w[j]))
			}
		}
		k.dots(dst, rows, idx, w)
		want.check(t, what, dst)
		one := make([]float32, 1)
		for i := range idx {
			if k.dots(one, rows, idx[i:i+1], w); one[0] != dst[i] {
				t.Fatalf("%s: cell %d is %g alone and %g at its position in the call", what, i, one[0], dst[i])
			}
		}
	})
}

func TestChainGatherSum(t *testing.T) {
	t.Parallel()
	eachChain(t, func(t *testing.T, k chainKernels, c *chainCase, what string, r, cells int) {
		acc, rows, idx, e := c.floats(r), c.floats(chainTestRows*r), c.index(cells), c.floats(cells)
		want := newExact(acc, cells)
		for i, at := range idx {
			for j := range acc {
				want.add(j, float64(e[i])*float64(rows[int(at)*r+j]))
			}
		}
		k.gatherSum(acc, rows, idx, e)
		want.check(t, what, acc)
	})
}

func TestChainScatterAdd(t *testing.T) {
	t.Parallel()
	eachChain(t, func(t *testing.T, k chainKernels, c *chainCase, what string, r, cells int) {
		rows, idx, e, w := c.floats(chainTestRows*r), c.index(cells), c.floats(cells), c.floats(r)
		want := newExact(rows, cells)
		for i, at := range idx {
			for j := range w {
				want.add(int(at)*r+j, float64(e[i])*float64(w[j]))
			}
		}
		k.scatterAdd(rows, idx, e, w)
		want.check(t, what, rows)
	})
}

// TestChainGatherScatter checks that gatherScatter gives the same bits as
// gatherSum and scatterAdd.
func TestChainGatherScatter(t *testing.T) {
	t.Parallel()
	eachChain(t, func(t *testing.T, k chainKernels, c *chainCase, what string, r, cells int) {
		acc, grad, rows := c.floats(r), c.floats(chainTestRows*r), c.floats(chainTestRows*r)
		idx, e, w := c.index(cells), c.floats(cells), c.floats(r)
		wantAcc, wantGrad := slices.Clone(acc), slices.Clone(grad)
		k.gatherSum(wantAcc, rows, idx, e)
		k.scatterAdd(wantGrad, idx, e, w)
		k.gatherScatter(acc, grad, rows, idx, e, w)
		if !slices.Equal(acc, wantAcc) || !slices.Equal(grad, wantGrad) {
			t.Fatalf("%s: differs from gatherSum and scatterAdd", what)
		}
	})
}

func TestChainMatVec(t *testing.T) {
	t.Parallel()
	eachChain(t, func(t *testing.T, k chainKernels, c *chainCase, what string, right, left int) {
		dst, m, x := c.floats(left), c.floats(left*right), c.floats(right)
		want := newExact(dst, right)
		for a := range left {
			for b := range right {
				want.add(a, float64(m[a*right+b])*float64(x[b]))
			}
		}
		k.matVec(dst, m, x)
		want.check(t, what, dst)
	})
}

func TestChainVecMat(t *testing.T) {
	t.Parallel()
	eachChain(t, func(t *testing.T, k chainKernels, c *chainCase, what string, right, left int) {
		dst, u, m := c.floats(right), c.floats(left), c.floats(left*right)
		want := newExact(dst, left)
		for a := range left {
			for b := range right {
				want.add(b, float64(u[a])*float64(m[a*right+b]))
			}
		}
		k.vecMat(dst, u, m)
		want.check(t, what, dst)
	})
}

func TestChainRank1(t *testing.T) {
	t.Parallel()
	eachChain(t, func(t *testing.T, k chainKernels, c *chainCase, what string, right, left int) {
		m, u, x := c.floats(left*right), c.floats(left), c.floats(right)
		want := newExact(m, 1)
		for a := range left {
			for b := range right {
				want.add(a*right+b, float64(u[a])*float64(x[b]))
			}
		}
		k.rank1(m, u, x)
		want.check(t, what, m)
	})
}

func TestChainGatherRows(t *testing.T) {
	t.Parallel()
	eachChain(t, func(t *testing.T, k chainKernels, c *chainCase, what string, r, cells int) {
		dst, rows, idx, s := c.floats(cells*r), c.floats(chainTestRows*r), c.index(cells), c.floats(cells)
		want := make([]float32, cells*r)
		for _, scale := range [][]float32{s, nil} {
			for i, at := range idx {
				for j := range r {
					want[i*r+j] = rows[int(at)*r+j]
					if scale != nil {
						want[i*r+j] *= scale[i]
					}
				}
			}
			k.gatherRows(dst, rows, idx, scale, r)
			if !slices.Equal(dst, want) {
				t.Fatalf("%s scaled=%t: wrong rows", what, scale != nil)
			}
		}
	})
}

func TestChainStreams(t *testing.T) {
	t.Parallel()
	for _, p := range Paths() {
		t.Run(string(p), func(t *testing.T) {
			k, c := chainKernelsFor(p), newChainCase(t)
			for n := range 300 {
				what := fmt.Sprintf("n=%d", n)
				c.reset()
				dst, src := c.floats(n), c.floats(n)
				dot, size := 0.0, 0.0
				sum, combined := newExact(dst, 1), newExact(dst, 1)
				for i := range n {
					product := float64(dst[i]) * float64(src[i])
					dot, size = dot+product, size+math.Abs(product)
					sum.add(i, float64(src[i]))
					combined.add(i, -1.5*float64(src[i]))
				}
				if got := k.dot(dst, src); math.Abs(got-dot) > 1e-14*size {
					t.Fatalf("%s: dot is %g, want %g", what, got, dot)
				}
				before := slices.Clone(dst)
				k.add(dst, src)
				sum.check(t, what+" add", dst)
				copy(dst, before)
				k.axpy(dst, -1.5, src)
				combined.check(t, what+" axpy", dst)
				copy(dst, before)
				other := c.floats(n)
				product, added := newExact(make([]float32, n), 1), newExact(dst, 1)
				for i := range n {
					product.add(i, float64(other[i])*float64(src[i]))
					added.add(i, float64(other[i])*float64(src[i]))
				}
				k.addProduct(dst, src, other)
				added.check(t, what+" addProduct", dst)
				k.product(dst, src, other)
				product.check(t, what+" product", dst)
				c.intact(t, what)
			}
		})
	}
}
