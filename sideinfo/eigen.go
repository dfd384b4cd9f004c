package sideinfo

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/kernel"
	"github.com/kernel-fried-tensor/kft/sideinfo/lowrank"
)

// eigen is the basis L(x) = k(x, X) U / sqrt(lambda), with U, lambda the leading
// eigenpairs of the kernel matrix. It continues the eigenvectors to points outside
// X.
//
// U is orthonormal and lambda = U'KU. K - L L' is then positive semidefinite even
// if the iteration has not converged.
type eigen struct {
	fixed
	k          kernel.Kernel
	x          kernel.Rows
	m          int
	projection []float32 // U / sqrt(lambda), n x m
}

// minEigenvalue is the smallest eigenvalue kept, relative to the largest. Products
// with the kernel matrix in float32 do not resolve smaller ones.
const minEigenvalue = 2e-6

// newEigen finds the eigenpairs by block iteration from a random start: three
// products with the kernel matrix, 2 n^2 m multiply-adds each, two
// orthonormalisations and one small eigenproblem.
func newEigen(b backend.Backend, k kernel.Kernel, x kernel.Rows, m int, seed uint64) (*eigen, error) {
	n := x.N
	gram := make([]float32, n*n)
	kernel.Gram(b, gram, k, x, x)
	wide := min(n, m+max(16, m/8))
	// Vectors are rows here, so that each is contiguous; K is symmetric.
	block, product := lowrank.RandomVectors(x, wide, seed), make([]float32, wide*n)
	for range 2 {
		b.Gemm(false, false, wide, n, n, 1, block, n, gram, n, 0, product, n)
		block, product = product, block
		wide = lowrank.Orthonormalise(b, block[:wide*n], n)
		block, product = block[:wide*n], product[:wide*n]
	}
	b.Gemm(false, false, wide, n, n, 1, block, n, gram, n, 0, product, n)
	small := make([]float32, wide*wide)
	b.Gemm(false, true, wide, wide, n, 1, product, n, block, n, 0, small, wide)
	sym := mat.NewSymDense(wide, nil)
	for i := range wide {
		for j := range i + 1 {
			sym.SetSym(i, j, (float64(small[i*wide+j])+float64(small[j*wide+i]))/2)
		}
	}
	values, vectors, err := lowrank.Eigenvalues(sym)
	if err != nil {
		return nil, err
	}
	kept := 0
	for kept < min(m, wide) && values[kept] > minEigenvalue*values[0] {
		kept++
	}
	// Eigenvectors are scaled before they are rotated, so that L L' stays the same even if
	// their eigenvalues are not quite equal. The last group may lose some of its columns.
	for c, value := range values {
		for i := range wide {
			vectors.Set(i, c, vectors.At(i, c)/math.Sqrt(max(value, minEigenvalue*values[0])))
		}
	}
	entities := make([]float32, n*wide)
	for v := range wide {
		for i, value := range block[v*n : (v+1)*n] {
			entities[i*wide+v] = value
		}
	}
	canonicalAxes(values, vectors, entities, x)
	turn := make([]float32, wide*kept)
	for i := range wide {
		for c := range kept {
			turn[i*kept+c] = float32(vectors.At(i, c))
		}
	}
	e := &eigen{k: k, x: x, m: kept, projection: make([]float32, n*kept)}
	b.Gemm(true, false, n, kept, wide, 1, block, n, turn, kept, 0, e.projection, kept)
	return e, nil
}

func (e *eigen) form() string      { return "eigen" }
func (e *eigen) columns() int      { return e.m }
func (e *eigen) variance() float64 { return e.k.Diagonal() }

func (e *eigen) fill(b backend.Backend, dst []float32, stride int, x kernel.Rows, s *scratch) {
	cross := s.take(x.N * e.x.N)
	kernel.Gram(b, cross, e.k, x, e.x)
	b.Gemm(false, false, x.N, e.m, e.x.N, 1, cross, e.x.N, e.projection, e.m, 0, dst, stride)
}
