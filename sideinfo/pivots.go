package sideinfo

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/kernel"
)

// pivots is the basis L(x) = k(x, Z) C^-T with C C' = K_ZZ + jitter over pivots Z:
// the Nystrom approximation with whitened rows.
type pivots struct {
	k kernel.Kernel
	z kernel.Rows

	factor  *mat.TriDense // C, float64
	inverse *mat.TriDense // C^-1
	solve   []float32     // C^-T, m x m
}

// jitter is added to the diagonal of K_ZZ, relative to it. It bounds C^-1 by
// 1/sqrt(jitter), which keeps rounding errors in float32 near 1e-4.
const jitter = 1e-5

// minResidual is the residual variance, relative to k(x, x), below which no further
// pivot is chosen.
const minResidual = 1e-5

// minParallel is the number of rows below which choosePivots uses one thread.
const minParallel = 1024

// maxCandidates is the largest number of rows that pivots are chosen from.
const maxCandidates = 1 << 15

func newPivots(b backend.Backend, k kernel.Kernel, x kernel.Rows, m int, room []float32) (*pivots, error) {
	if x.N > maxCandidates {
		x = candidates(x, maxCandidates)
	}
	chosen := choosePivots(b, k, x, m, room)
	p := &pivots{k: k, z: kernel.Rows{N: len(chosen), C: x.C}}
	for _, i := range chosen {
		p.z.X = append(p.z.X, x.X[i*x.C:(i+1)*x.C]...)
	}
	return p, p.moved()
}

// moved factorises K_ZZ at the kernel's current parameters. O(m^3).
func (p *pivots) moved() error {
	m := p.z.N
	gram := mat.NewSymDense(m, nil)
	points := make([][]float64, m)
	for i := range points {
		for _, v := range p.z.X[i*p.z.C : (i+1)*p.z.C] {
			points[i] = append(points[i], float64(v))
		}
		for j := range i + 1 {
			v := p.k.At(points[i], points[j])
			if i == j {
				v *= 1 + jitter
			}
			gram.SetSym(i, j, v)
		}
	}
	var cholesky mat.Cholesky
	if !cholesky.Factorize(gram) {
		return fielderr.Errorf("side.kernels", "kernel %s at %v is not positive definite on its %d pivots; use shorter length-scales", p.k, p.k.Params(), m)
	}
	p.factor, p.inverse = mat.NewTriDense(m, mat.Lower, nil), mat.NewTriDense(m, mat.Lower, nil)
	cholesky.LTo(p.factor)
	// gonum bounds the condition number for float64; jitter keeps it below the bound.
	if err := p.inverse.InverseTri(p.factor); err != nil {
		return fielderr.Errorf("side.kernels", "kernel %s at %v: %w", p.k, p.k.Params(), err)
	}
	p.solve = make([]float32, m*m)
	for i := range m {
		for j := range i + 1 {
			p.solve[j*m+i] = float32(p.inverse.At(i, j))
		}
	}
	return nil
}

func (p *pivots) form() string           { return "pivots" }
func (p *pivots) columns() int           { return p.z.N }
func (p *pivots) variance() float64      { return p.k.Diagonal() }
func (p *pivots) learned() kernel.Kernel { return p.k }

func (p *pivots) fill(b backend.Backend, dst []float32, stride int, x kernel.Rows, s *scratch) {
	m := p.z.N
	cross := s.take(x.N * m)
	kernel.Gram(b, cross, p.k, x, p.z)
	b.Gemm(false, false, x.N, m, m, 1, cross, m, p.solve, m, 0, dst, stride)
}

func (p *pivots) gradient(b backend.Backend) gradientSum {
	m := p.z.N
	return &pivotsGradient{pivots: p, b: b, total: make([]float64, len(p.k.Params())), cross: make([]float64, m*m)}
}

// pivotsGradient differentiates L = K_xz C^-T. With G the gradient with respect to L,
// the gradients are
//
//	by K_xz:  G C^-1
//	by C:     -tril(C^-T G'L),  G'L = (G'K_xz) C^-T
//	by K_ZZ:  C^-T sym(P) C^-1, P = tril(C' (by C)) with half its diagonal
type pivotsGradient struct {
	*pivots
	b     backend.Backend
	total []float64
	cross []float64 // G'K_xz, summed over rows
}

func (p *pivotsGradient) add(grad []float32, stride int, x kernel.Rows) {
	m := p.z.N
	gram, by := make([]float32, x.N*m), make([]float32, x.N*m)
	kernel.Gram(p.b, gram, p.k, x, p.z)
	sum := make([]float32, m*m)
	p.b.Gemm(true, false, m, m, x.N, 1, grad, stride, gram, m, 0, sum, m)
	for i, v := range sum {
		p.cross[i] += float64(v)
	}
	p.b.Gemm(false, true, x.N, m, m, 1, grad, stride, p.solve, m, 0, by, m)
	for i, v := range kernel.ParamGradient(p.b, p.k, by, x, p.z) {
		p.total[i] += v
	}
}

func (p *pivotsGradient) finish() []float64 {
	m := p.z.N
	var byC, byGram mat.Dense
	byC.Mul(mat.NewDense(m, m, p.cross), p.inverse.T())
	byC.Mul(p.inverse.T(), &byC)
	lower := mat.NewTriDense(m, mat.Lower, nil)
	for i := range m {
		for j := range i + 1 {
			lower.SetTri(i, j, -byC.At(i, j))
		}
	}
	byGram.Mul(p.factor.T(), lower)
	for i := range m {
		byGram.Set(i, i, byGram.At(i, i)/2)
		for j := i + 1; j < m; j++ {
			byGram.Set(i, j, 0)
		}
	}
	byGram.Mul(p.inverse.T(), &byGram)
	byGram.Mul(&byGram, p.inverse)
	grad := make([]float32, m*m)
	for i := range m {
		for j := range m {
			grad[i*m+j] = float32((byGram.At(i, j) + byGram.At(j, i)) / 2)
		}
		grad[i*m+i] *= 1 + jitter
	}
	for i, v := range kernel.ParamGradient(p.b, p.k, grad, p.z, p.z) {
		p.total[i] += v
	}
	return p.total
}

// choosePivots returns up to m rows by pivoted Cholesky: the next pivot is the row
// with the largest variance given the previous pivots. Columns of the kernel matrix
// are computed one at a time. O(n m (m + C)) work for n rows, n m float32 in room.
//
// Ties go to the row with the smaller features, so the order of rows does not
// matter.
func choosePivots(b backend.Backend, k kernel.Kernel, x kernel.Rows, m int, room []float32) []int {
	n := x.N
	factor := room[:n*m]
	column := make([]float32, n)
	left := slices.Repeat([]float64{k.Diagonal()}, n)
	row := func(i int) []float32 { return x.X[i*x.C : (i+1)*x.C] }
	threads := b.Threads()
	if n < minParallel {
		threads = 1
	}
	var chosen []int
	next := centralRow(x)
	for len(chosen) < m {
		if next < 0 || left[next] <= minResidual*k.Diagonal() {
			break
		}
		pivot, j := next, len(chosen)
		chosen = append(chosen, pivot)
		kernel.Gram(b, column, k, x, part(x, pivot, pivot+1))
		scale := 1 / math.Sqrt(left[pivot])
		given := slices.Clone(factor[pivot*m:][:j])
		best := slices.Repeat([]int{-1}, threads)
		parallel.Ranges(threads, n, func(t, from, to int) {
			for i := from; i < to; i++ {
				v := (float64(column[i]) - float64(dot(factor[i*m:][:j], given))) * scale
				factor[i*m+j] = float32(v)
				left[i] -= v * v
				if i == pivot {
					left[i] = 0
				}
				if best[t] < 0 || better(left, row, i, best[t]) {
					best[t] = i
				}
			}
		})
		next = -1
		for _, i := range best {
			if i >= 0 && (next < 0 || better(left, row, i, next)) {
				next = i
			}
		}
	}
	return chosen
}

// candidates returns n of the rows: those with the smallest hashes of their features, so that
// the order of rows does not matter.
func candidates(x kernel.Rows, n int) kernel.Rows {
	row := func(i int) []float32 { return x.X[i*x.C : (i+1)*x.C] }
	hash, order := make([]uint64, x.N), make([]int, x.N)
	for i := range order {
		order[i] = i
		h := uint64(14695981039346656037)
		for _, v := range row(i) {
			h = (h ^ uint64(math.Float32bits(v))) * 0x9e3779b97f4a7c15
			h ^= h >> 32
		}
		hash[i] = h
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(hash[i], hash[j]), slices.Compare(row(i), row(j)))
	})
	some := kernel.Rows{N: n, C: x.C, X: make([]float32, 0, n*x.C)}
	for _, i := range order[:n] {
		some.X = append(some.X, row(i)...)
	}
	return some
}

// better reports whether row i is a better pivot than another row.
func better(left []float64, row func(int) []float32, i, than int) bool {
	return left[i] > left[than] || left[i] == left[than] && slices.Compare(row(i), row(than)) < 0
}

// centralRow returns the row nearest to the mean row. It is the first pivot, because
// all rows have the same variance before it.
func centralRow(x kernel.Rows) int {
	mean := make([]float64, x.C)
	for i, v := range x.X {
		mean[i%x.C] += float64(v) / float64(x.N)
	}
	best, least := -1, math.Inf(1)
	for i := range x.N {
		d, at := 0.0, x.X[i*x.C:(i+1)*x.C]
		for c, v := range at {
			d += (float64(v) - mean[c]) * (float64(v) - mean[c])
		}
		if d < least || d == least && slices.Compare(at, x.X[best*x.C:(best+1)*x.C]) < 0 {
			best, least = i, d
		}
	}
	return best
}

// dot returns the dot product of a and b. Its four partial sums are independent, so
// the processor can compute them in parallel.
func dot(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float32
	for len(a) >= 4 {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
		a, b = a[4:], b[4:]
	}
	for i, v := range a {
		s0 += v * b[i]
	}
	return s0 + s1 + (s2 + s3)
}
