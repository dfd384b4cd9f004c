package sideinfo

import (
	"gonum.org/v1/gonum/mat"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/kernel"
	"github.com/kernel-fried-tensor/kft/sideinfo/lowrank"
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

// maxCandidates is the largest number of rows that pivots are chosen from.
const maxCandidates = 1 << 15

func newPivots(b backend.Backend, k kernel.Kernel, x kernel.Rows, m int, room []float32) (*pivots, error) {
	if x.N > maxCandidates {
		x = lowrank.Candidates(x, maxCandidates)
	}
	chosen := lowrank.Pivots(b, k, x, m, room)
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
