// Package cholesky factors small symmetric matrices, L L' = A, row by row in
// float64.
package cholesky

import "math"

// Factor replaces the lower triangle of the n x n matrix a by L and reports whether
// a is positive definite. It takes n^3/6 multiply-adds.
func Factor(a []float64, n int) bool {
	for j := range n {
		row := a[j*n : j*n+j]
		d := a[j*n+j]
		for _, v := range row {
			d -= v * v
		}
		if !(d > 0) {
			return false
		}
		d = math.Sqrt(d)
		a[j*n+j] = d
		for i := j + 1; i < n; i++ {
			other := a[i*n : i*n+j]
			s := a[i*n+j]
			for k, v := range row {
				s -= v * other[k]
			}
			a[i*n+j] = s / d
		}
	}
	return true
}

// Solve solves L L' x = b in place.
func Solve(l []float64, n int, b []float64) {
	for i := range n {
		s := b[i]
		for k, v := range l[i*n : i*n+i] {
			s -= v * b[k]
		}
		b[i] = s / l[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		s := b[i]
		for k := i + 1; k < n; k++ {
			s -= l[k*n+i] * b[k]
		}
		b[i] = s / l[i*n+i]
	}
}

// Inverse writes the inverse of L L' to dst.
func Inverse(l []float64, n int, dst []float64) {
	column := make([]float64, n)
	for j := range n {
		clear(column)
		column[j] = 1
		Solve(l, n, column)
		for i, v := range column {
			dst[i*n+j] = v
		}
	}
}
