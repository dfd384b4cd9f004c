package explain

import (
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

// An Embedding places the ids of a mode in a few dimensions such that distances are close
// to those of their learned factors: their principal components.
type Embedding struct {
	Codes  []int32
	Points [][]float64 // by id, in the order of Codes
	Share  float64     // of the variance of the factors that the dimensions keep
}

// Embed returns the principal components of the learned factors of some ids of a mode,
// given by their codes; ids without weights of their own are left out. It is nil if the
// mode has no core of its own. It costs O(ids x weights of an id x dimensions).
func (x *Explainer) Embed(mode int, codes []int32, dimensions int) *Embedding {
	near := &x.nearby[mode]
	near.once.Do(func() { near.cores = x.nearCores(mode) })
	if len(near.cores) == 0 {
		return nil
	}
	codes = slices.DeleteFunc(slices.Clone(codes), func(c int32) bool { return x.m.TrainingRows(mode, c) == 0 })
	vectors := make([][]float64, len(codes))
	column := slices.Repeat([][]int32{nil}, len(x.m.Modes()))
	column[mode] = codes
	for _, n := range near.cores {
		c := x.m.Field().Terms[n.term].Cores[n.core]
		entities := make([]int32, len(codes))
		c.Index.Lookup(entities, column)
		rows, columns, size := c.Slices.Left, c.Slices.Right, c.Slices.Slice()
		left, right := root(n.left, rows), root(n.right, columns)
		for i, e := range entities {
			g := float64s(c.Slices.Mean[int(e)*size:][:size])
			vectors[i] = append(vectors[i], sandwichRoots(left, g, right, rows, columns)...)
		}
	}
	out := &Embedding{Codes: codes}
	out.Points, out.Share = principal(vectors, dimensions, x.m.Scale().Spread)
	return out
}

// root returns the upper triangle U of a symmetric matrix M = U' U without negative
// eigenvalues; rows of directions without variance are 0.
func root(m []float64, n int) []float64 {
	u := make([]float64, n*n)
	for i := range n {
		pivot := m[i*n+i]
		for k := range i {
			pivot -= u[k*n+i] * u[k*n+i]
		}
		if !(pivot > 1e-12*max(m[i*n+i], 1e-300)) {
			continue
		}
		u[i*n+i] = math.Sqrt(pivot)
		for j := i + 1; j < n; j++ {
			v := m[i*n+j]
			for k := range i {
				v -= u[k*n+i] * u[k*n+j]
			}
			u[i*n+j] = v / u[i*n+i]
		}
	}
	return u
}

// sandwichRoots returns U G V' for the roots U and V.
func sandwichRoots(u, g, v []float64, rows, columns int) []float64 {
	gv := make([]float64, len(g))
	for i := range rows {
		for j := range columns {
			gv[i*columns+j] = dot(g[i*columns:][:columns], v[j*columns:][:columns])
		}
	}
	out := make([]float64, len(g))
	for i := range rows {
		copy(out[i*columns:], multiply(u[i*rows:][:rows], gv, columns))
	}
	return out
}

// principal returns the principal components of vectors, times scale, and the share of the
// variance that they keep, by subspace iteration.
func principal(vectors [][]float64, dimensions int, scale float64) ([][]float64, float64) {
	points := make([][]float64, len(vectors))
	if len(vectors) == 0 {
		return points, 0
	}
	width := len(vectors[0])
	mean := make([]float64, width)
	for _, v := range vectors {
		for k, x := range v {
			mean[k] += x / float64(len(vectors))
		}
	}
	total := 0.0
	for _, v := range vectors {
		for k := range v {
			v[k] = scale * (v[k] - mean[k])
			total += v[k] * v[k]
		}
	}
	dimensions = min(dimensions, width)
	rng := randstream.New(1, "embedding")
	basis := make([][]float64, dimensions)
	for d := range basis {
		basis[d] = make([]float64, width)
		for k := range basis[d] {
			basis[d][k] = rng.NormFloat64()
		}
	}
	orthonormalize(basis)
	const iterations = 20
	for range iterations {
		next := make([][]float64, dimensions)
		for d := range next {
			next[d] = make([]float64, width)
			for _, v := range vectors {
				along := dot(v, basis[d])
				for k, x := range v {
					next[d][k] += along * x
				}
			}
		}
		basis = next
		orthonormalize(basis)
	}
	kept := 0.0
	for i, v := range vectors {
		points[i] = make([]float64, dimensions)
		for d := range basis {
			points[i][d] = dot(v, basis[d])
			kept += points[i][d] * points[i][d]
		}
	}
	return points, kept / max(total, 1e-300)
}

// orthonormalize makes vectors orthogonal and of length 1; a dependent one becomes 0.
func orthonormalize(vectors [][]float64) {
	for d, v := range vectors {
		for _, u := range vectors[:d] {
			along := dot(v, u)
			for k := range v {
				v[k] -= along * u[k]
			}
		}
		length := math.Sqrt(dot(v, v))
		for k := range v {
			if length > 1e-150 {
				v[k] /= length
			} else {
				v[k] = 0
			}
		}
	}
}
