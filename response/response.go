// Package response measures what the posterior of a field leaves out: the covariance
// between its blocks of weights.
//
// A mean-field posterior has the right mean, but each weight's variance is that given all
// other weights. What a row teaches about its item depends on what is known about its
// store, so sums over cells vary more than such a posterior says. The linear response
// of the means, which are the optimum of the bound, to a change of the bound by t z'f is
// the covariance that the posterior should have:
//
//	d E[z'f] / dt = b' P^-1 b,   b = J_z' z,   P = J'W J / s2 + 1/tau + D,
//
// where J is the Jacobian of the field at the training rows and J_z that at other cells,
// s2 the noise and tau the prior variances. D is diagonal, the curvature of the variance of
// the field in the means. The posterior itself says b' V b with its
// variances V. [Factor] compares the two for totals over the cells of the ids of each mode:
// with random signs z by id, the mean of (z'f)^2 is the sum of their variances. A vector z
// is the sum of one such vector per mode, so that one solution serves all modes.
package response

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/tt"
)

const (
	maxSteps  = 40     // of conjugate gradients
	tolerance = .01    // relative increase of the result in the last step
	maxProbes = 16     // vectors of random signs
	weights   = 20_000 // with more weights, one vector suffices
)

// MaxFactor bounds the factor.
const MaxFactor = 10

// Observations are the training rows of a field.
type Observations struct {
	Codes [][]int32
	W     []float32 // of mean 1; nil means weight 1
	Noise float64   // variance of a row of weight 1

	// Chunk has the rows, if they are planned already. It is not released.
	Chunk *tt.Chunk
}

// Factor returns the number by which the precision that the data give to each weight has to
// be divided, so that totals over cells that are no training rows have on average the
// variance of the linear response; see [tt.Posterior.Widened]. It is 1 or more,
// and 1 for a field whose posterior has covariances over the columns of a regression.
// Series terms are taken as known. It costs 3 passes over the rows per step of conjugate
// gradients and vector of signs, of which there is one for 20,000 weights and more.
func Factor(b backend.Backend, f *tt.Field, train Observations, cells [][]int32, seed uint64) float64 {
	s := newSystem(b, f, train)
	if s == nil || len(cells) == 0 || len(cells[0]) == 0 {
		return 1
	}
	defer s.free()
	chunk := f.NewChunk(b, cells)
	if f.Group != nil {
		s.base.EvalOwn(b, tt.Moments{Mean: make([]float32, len(cells[0]))}, chunk)
	}
	var all []vector
	wanted := 0.0
	for k := range uint64(max(1, min(maxProbes, weights/max(1, f.Weights())))) {
		sum := s.newVector()
		for mode, codes := range cells {
			v := s.newVector()
			v.offset = s.adjoint(v, chunk, nil, signs(randstream.New(seed, "response", uint64(mode), k), codes))
			if variance := s.variance(v, 1); variance > 0 {
				s.add(&sum, v, 1/math.Sqrt(variance)) // all modes count alike
			}
		}
		wanted += s.solve(sum)
		all = append(all, sum)
	}
	// The variance by the posterior rises with the factor.
	given := func(factor float64) (sum float64) {
		for _, v := range all {
			sum += s.variance(v, factor)
		}
		return sum
	}
	if !(wanted > given(1)) || math.IsInf(wanted, 0) {
		return 1
	}
	low, high := 1.0, float64(MaxFactor)
	for range 40 {
		if middle := (low + high) / 2; given(middle) < wanted {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// signs returns a random sign for each cell, the same for all cells of an id.
func signs(rng *rand.Rand, codes []int32) []float32 {
	least := slices.Min(codes) // below 0 for unknown ids
	of, out := make([]float32, slices.Max(codes)-least+1), make([]float32, len(codes))
	for i, code := range codes {
		sign := &of[code-least]
		if *sign == 0 {
			*sign = float32(2*rng.IntN(2) - 1)
		}
		out[i] = *sign
	}
	return out
}

// A system holds the matrix P of a field.
type system struct {
	b      backend.Backend
	field  *tt.Field
	base   *tt.Field // the slices of the field at its means, without series
	moved  *tt.Field // the same with slices that differ
	blocks []block
	runs   []weightRun // by block: the weights of this process
	own    []bool      // by term: gradients of its leaf core are those of this process only
	chunk  *tt.Chunk
	train  Observations
	grad   tt.Gradients
	value  [2][]float32 // by row
	ridge  [][]float32  // by block: 1/tau + D
	root   [][]float64  // by term and core: root mean square of its slices

	direction [][][]float32 // by term and core, memory of jacobian
	scratch   []float32
}

// A block is a block of weights of a core.
type block struct {
	tt.Block
	term, core int
}

// A vector has a value for each weight: one slice per block, and the offset.
type vector struct {
	blocks [][]float32
	offset float64
}

// newSystem returns nil if the posterior has covariances over columns, or none at all.
func newSystem(b backend.Backend, f *tt.Field, train Observations) *system {
	s := &system{b: b, field: f, base: &tt.Field{Group: f.Group, Offset: f.Offset}, moved: &tt.Field{Group: f.Group, Offset: f.Offset}, train: train}
	for k, t := range f.Terms {
		base, moved := &tt.Train{}, &tt.Train{}
		for p, c := range t.Cores {
			for _, own := range c.Blocks() {
				if own.Posterior == nil || own.Posterior.Sigma != nil {
					return nil
				}
				s.blocks = append(s.blocks, block{own, k, p})
			}
			at := backend.Slices{Shape: c.Slices.Shape, Mean: c.Slices.Mean}
			base.Cores = append(base.Cores, &tt.Core{Slices: at})
			at.Mean = make([]float32, len(at.Mean))
			moved.Cores = append(moved.Cores, &tt.Core{Slices: at})
		}
		s.base.Terms, s.moved.Terms = append(s.base.Terms, base), append(s.moved.Terms, moved)
	}
	if len(s.blocks) == 0 {
		return nil
	}
	s.chunk, s.grad = train.Chunk, f.NewGradients()
	if s.chunk == nil {
		s.chunk = f.NewChunk(b, train.Codes)
	}
	for i := range s.value {
		s.value[i] = backend.Make[float32](b, len(train.Codes[0]))
	}
	s.divide()
	for _, t := range s.base.Terms {
		var root []float64
		for _, c := range t.Cores {
			root = append(root, rootMeanSquare(b.Threads(), c.Slices.Mean))
		}
		s.root = append(s.root, root)
	}
	s.setRidge()
	return s
}

// free releases the arrays of the length of the data.
func (s *system) free() {
	backend.FreeAll(s.b, s.value[:])
	if s.train.Chunk == nil {
		s.chunk.Free()
	}
}

// plain reports whether the slices of the core of a block are its weights.
func (s *system) plain(b block) bool {
	return b.Map == nil && b.Multiplier == nil && len(s.field.Terms[b.term].Cores[b.core].Blocks()) == 1
}

func (s *system) newVector() vector {
	v := vector{}
	for _, b := range s.blocks {
		v.blocks = append(v.blocks, make([]float32, len(b.Value)))
	}
	return v
}

// adjoint writes J' a to v, where the adjoint a is that of some cells. Cells of ids without
// training data have no weights of their own. own is that of the system for its own rows, and
// otherwise nil.
func (s *system) adjoint(v vector, chunk *tt.Chunk, own []bool, a []float32) (offset float64) {
	s.base.Pull(s.b, chunk, a, s.grad, own)
	for i, b := range s.blocks {
		g := s.grad[b.term][b.core]
		mean := g.Mean
		clear(mean[len(mean)-g.Slice():]) // the prior
		if s.plain(b) {
			if own != nil {
				s.runs[i].complete(mean)
			}
			s.each(i, func(from, to int) { copy(v.blocks[i][from:to], mean[from:to]) })
			continue
		}
		if len(s.field.Terms[b.term].Cores[b.core].Blocks()) > 1 {
			mean = append([]float32(nil), mean...)
		}
		b.Adjoint(s.b, v.blocks[i], mean, false)
	}
	if s.field.Offset.Var > 0 {
		offset = chunk.Sum(s.b.Threads(), func(from, to int) (sum float64) {
			for _, x := range a[from:to] {
				sum += float64(x)
			}
			return sum
		})
	}
	return offset
}
