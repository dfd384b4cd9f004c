package regression

import (
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/cholesky"
)

// This file holds the KFT paper's parametrisation of the factor B of a Sigma,
//
//	B = ltri(B0 B0') + diag(D),
//
// where ltri is the lower triangle with its diagonal. Since B determines D for a given B0,
// only B0 is kept, a square matrix as large as B.

// StartProduct sets b0 such that B is the lower triangle of B0 B0' plus a diagonal: B0 is
// a Cholesky factor of B's symmetric continuation with a dominant diagonal.
func (s *Sigma) StartProduct(b0 []float32) {
	n := s.Lead
	l := make([]float64, n*n)
	for i := range n {
		dominant := math.Abs(float64(s.Factor[i*n+i])) / 2
		for j := range n {
			if v := s.Factor[max(i, j)*n+min(i, j)]; i != j {
				l[i*n+j] = float64(v)
				dominant += math.Abs(float64(v))
			}
		}
		l[i*n+i] = dominant
	}
	if !cholesky.Factor(l, n) {
		clear(l) // B is 0 or not finite: all of it is diagonal
	}
	for i := range n {
		for j := range n {
			b0[i*n+j] = 0
			if j <= i {
				b0[i*n+j] = float32(l[i*n+j])
			}
		}
	}
}

// ProductDiagonal returns D for the given B0.
func (s *Sigma) ProductDiagonal(b0 []float32) []float32 {
	n := s.Lead
	d := make([]float32, n)
	for i := range d {
		sum := 0.0
		for _, v := range b0[i*n:][:n] {
			sum += float64(v) * float64(v)
		}
		d[i] = float32(float64(s.Factor[i*n+i]) - sum)
	}
	return d
}

// SetProduct sets B to ltri(B0 B0') + diag(D).
func (s *Sigma) SetProduct(b backend.Backend, b0, d []float32) {
	n := s.Lead
	b.Gemm(false, true, n, n, n, 1, b0, n, b0, n, 0, s.Factor, n)
	for i := range n {
		clear(s.Factor[i*n+i+1 : (i+1)*n])
		s.Factor[i*n+i] += d[i]
	}
}

// ProductGradient returns the derivative by B0, (G + G') B0, given the derivative G by the
// lower triangle of B. That by D is the diagonal of G.
func (s *Sigma) ProductGradient(b backend.Backend, g, b0 []float32) []float32 {
	n := s.Lead
	sum, gradient := make([]float32, n*n), make([]float32, n*n)
	for i := range n {
		for j := range i + 1 {
			sum[i*n+j] += g[i*n+j]
			sum[j*n+i] += g[i*n+j]
		}
	}
	b.Gemm(false, false, n, n, n, 1, sum, n, b0, n, 0, gradient, n)
	return gradient
}
