package fit

import "math"

// cholesky replaces the lower triangle of the n x n matrix a by its factor L,
// a = L L', and reports whether a was positive definite. n^3/6 multiply-adds.
func cholesky(a []float64, n int) bool {
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

// choleskySolve solves L L' x = b in place.
func choleskySolve(l []float64, n int, b []float64) {
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

// solveRidge solves (a + diag(lambda)) x = b into b. Where rounding or a missing
// penalty leaves the matrix singular, the diagonal is raised until it is not;
// raised tells so.
func solveRidge(a []float64, n int, lambda, b, scratch []float64) (raised bool) {
	trace := 0.0
	for i := range n {
		trace += a[i*n+i]
	}
	extra := 0.0
	for {
		copy(scratch, a[:n*n])
		for i := range n {
			scratch[i*n+i] += lambda[i] + extra
		}
		if cholesky(scratch, n) {
			choleskySolve(scratch, n, b)
			return extra > 0
		}
		if math.IsNaN(trace) || math.IsInf(trace, 0) {
			for i := range b {
				b[i] = math.NaN() // the caller finds the loss is not finite
			}
			return true
		}
		extra = max(10*extra, 1e-7*trace/float64(n), 1e-30)
	}
}

// choleskyInverse writes the inverse of L L' to dst.
func choleskyInverse(l []float64, n int, dst []float64) {
	column := make([]float64, n)
	for j := range n {
		clear(column)
		column[j] = 1
		choleskySolve(l, n, column)
		for i, v := range column {
			dst[i*n+j] = v
		}
	}
}
