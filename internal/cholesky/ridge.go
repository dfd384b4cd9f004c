package cholesky

import "math"

// SolveRidge solves (a + diag(lambda)) x = b; b becomes x. If rounding or a missing
// penalty makes the matrix singular, the diagonal is raised until it is positive
// definite, and raised is true. A matrix that is not finite gives NaN. The factor remains
// in scratch.
func SolveRidge(a []float64, n int, lambda, b, scratch []float64) (raised bool) {
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
		if Factor(scratch, n) {
			Solve(scratch, n, b)
			return extra > 0
		}
		if math.IsNaN(trace) || math.IsInf(trace, 0) || math.IsInf(extra, 0) {
			for i := range b {
				b[i] = math.NaN()
			}
			return true
		}
		extra = max(10*extra, 1e-7*trace/float64(n), 1e-30)
	}
}
