// Package factor has covariances of slices as F F' with few columns F.
package factor

import (
	"math"
	"math/rand/v2"
)

// Columns is F, one column of the size of a slice after the other. It may be empty.
type Columns []float32

// leastShare of the variance is what columns have to add.
const leastShare = 1e-5

// Pivoted returns a factor of a positive semidefinite matrix: the columns of its
// pivoted Cholesky decomposition, at most limit of them. column adds a column of the
// matrix to dst. What the factor leaves has a nonnegative diagonal.
func Pivoted(diagonal []float64, limit int, column func(dst []float64, j int)) Columns {
	size, total := len(diagonal), 0.0
	at, left := make([]float64, size), append([]float64(nil), diagonal...)
	for _, v := range diagonal {
		total += v
	}
	var factor Columns
	for range limit {
		pivot, sum := 0, 0.0
		for j, v := range left {
			sum += max(v, 0)
			if v > left[pivot] {
				pivot = j
			}
		}
		if !(sum > leastShare*total) || !(left[pivot] > 0) {
			break
		}
		clear(at)
		column(at, pivot)
		for from := 0; from < len(factor); from += size {
			f := factor[from:][:size]
			for i := range at {
				at[i] -= float64(f[i]) * float64(f[pivot])
			}
		}
		root := math.Sqrt(left[pivot])
		for i := range at {
			f := at[i] / root
			if left[i] <= 0 { // already represented
				f = 0
			}
			if i == pivot {
				f = root
			}
			factor = append(factor, float32(f))
			left[i] -= f * f
		}
		left[pivot] = 0
	}
	return factor
}

// AddColumn adds column j of F F' to dst.
func (f Columns) AddColumn(dst []float64, j int) {
	size := len(dst)
	for from := 0; from < len(f); from += size {
		v := float64(f[from+j])
		for i, w := range f[from:][:size] {
			dst[i] += v * float64(w)
		}
	}
}

// Product returns F F', nil for no columns.
func (f Columns) Product(size int) []float64 {
	if len(f) == 0 {
		return nil
	}
	p := make([]float64, size*size)
	for j := range size {
		f.AddColumn(p[j*size:][:size], j)
	}
	return p
}

// Diagonal returns the diagonal of F F'.
func (f Columns) Diagonal(size int) []float64 {
	d := make([]float64, size)
	for i, v := range f {
		d[i%size] += float64(v) * float64(v)
	}
	return d
}

// AddNoise adds normal noise with the covariance F F' to x, and subtracts its variances from rest, down to 0.
func (f Columns) AddNoise(rng *rand.Rand, x, rest []float32) {
	size := len(x)
	for from := 0; from < len(f); from += size {
		z := float32(rng.NormFloat64())
		for i, v := range f[from:][:size] {
			x[i] += z * v
			rest[i] -= v * v
		}
	}
	for i := range rest {
		rest[i] = max(rest[i], 0)
	}
}
