package sideinfo

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/kernel-fried-tensor/kft/kernel"
	"github.com/kernel-fried-tensor/kft/sideinfo/lowrank"
)

// equalEigenvalues is the relative difference below which two neighbouring eigenvalues
// count as equal. Products in float32 do not tell their eigenvectors apart.
const equalEigenvalues = 1e-3

// canonicalAxes chooses among the eigenvectors that describe the same axes. An
// eigenvector has no sign, and those of equal eigenvalues are known up to a rotation
// only: sine and cosine of a cycle, for example. Rounding would decide, differently for
// each instruction set, and start values, which are drawn per column, would belong to
// other columns.
//
// The columns of A axes are compared with random vectors that depend on the features
// of the entities alone: within each group of equal eigenvalues, the first column is
// the projection of the first vector, the second that of the second vector without
// the first column, and so on. a is A, row-major, with the rows x.
func canonicalAxes(values []float64, axes *mat.Dense, a []float32, x kernel.Rows) {
	m := len(values)
	var groups [][2]int
	widest := 0
	for from := 0; from < m; {
		to := from + 1
		for to < m && values[to-1]-values[to] <= equalEigenvalues*values[to-1] {
			to++
		}
		groups = append(groups, [2]int{from, to})
		widest = max(widest, to-from)
		from = to
	}
	columns := len(a) / x.N
	marks, vectors := mat.NewDense(widest, columns, nil), lowrank.RandomVectors(x, widest, 1)
	for from := 0; from < x.N; from += chunk { // A may be as large as the table
		to := min(from+chunk, x.N)
		part := mat.NewDense(widest, to-from, nil)
		for v := range widest {
			for i, value := range vectors[v*x.N+from : v*x.N+to] {
				part.Set(v, i, float64(value))
			}
		}
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, part.RawMatrix(), dense(a[from*columns:to*columns], to-from).RawMatrix(), 1, marks.RawMatrix())
	}
	for _, g := range groups {
		turnAxes(axes, marks, g[0], g[1])
	}
}

// turnAxes rotates the axes from, ..., to-1 so that the marks along them form a lower
// triangle with a positive diagonal.
func turnAxes(axes, marks *mat.Dense, from, to int) {
	m, _ := axes.Dims()
	k := to - from
	old := mat.DenseCopyOf(axes.Slice(0, m, from, to))
	var along mat.Dense
	along.Mul(marks.Slice(0, k, 0, m), old)
	least := 1e-12 * mat.Norm(&along, 2)
	turn := mat.NewDense(k, k, nil) // rows are the new axes in terms of the old
	for v := range k {
		row := turn.RawRowView(v)
		copy(row, along.RawRowView(v))
		for range 2 { // once more, because of cancellation
			for u := range v {
				before := turn.RawRowView(u)
				share := 0.0
				for c, value := range before {
					share += value * row[c]
				}
				for c, value := range before {
					row[c] -= share * value
				}
			}
		}
		norm := 0.0
		for _, value := range row {
			norm += value * value
		}
		if norm = math.Sqrt(norm); !(norm > least) {
			return // columns of zeros, whose axes do not matter
		}
		for c := range row {
			row[c] /= norm
		}
	}
	var turned mat.Dense
	turned.Mul(old, turn.T())
	for i := range m {
		for c := range k {
			axes.Set(i, from+c, turned.At(i, c))
		}
	}
}

// dense returns a row-major matrix with the given number of rows.
func dense(a []float32, rows int) *mat.Dense {
	values := make([]float64, len(a))
	for i, v := range a {
		values[i] = float64(v)
	}
	return mat.NewDense(rows, len(a)/rows, values)
}
