package lowrank

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/kernel-fried-tensor/kft/internal/fielderr"
)

// PrincipalAxes returns the eigenvalues of a symmetric matrix, largest first, and the
// eigenvectors as columns.
func PrincipalAxes(h []float64, m int) ([]float64, *mat.Dense, error) {
	sym := mat.NewSymDense(m, nil)
	for i := range m {
		for j := range i + 1 {
			sym.SetSym(i, j, (h[i*m+j]+h[j*m+i])/2)
		}
	}
	return Eigenvalues(sym)
}

// Eigenvalues returns the eigenvalues in descending order and the eigenvectors
// as columns, signed so that the largest entry of each is positive.
func Eigenvalues(a *mat.SymDense) ([]float64, *mat.Dense, error) {
	m := a.SymmetricDim()
	var eigen mat.EigenSym
	if !eigen.Factorize(a, true) {
		return nil, nil, fielderr.Errorf("side.tables", "the eigenvalues of a %d x %d matrix could not be computed; check the side information for values beyond 1e6 standard deviations", m, m)
	}
	var up mat.Dense
	eigen.VectorsTo(&up)
	ascending := eigen.Values(nil)
	values, vectors := make([]float64, m), mat.NewDense(m, m, nil)
	for c := range m {
		from := m - 1 - c
		values[c] = ascending[from]
		largest := 0.0
		for i := range m {
			if v := up.At(i, from); math.Abs(v) > math.Abs(largest)*(1+1e-6) {
				largest = v
			}
		}
		for i := range m {
			vectors.Set(i, c, math.Copysign(1, largest)*up.At(i, from))
		}
	}
	return values, vectors, nil
}
