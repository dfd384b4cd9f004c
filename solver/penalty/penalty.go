// Package penalty defines the quadratic penalty of point estimates: what it is for each
// block of weights, the scales of the cores that minimise it, and the search for its size.
package penalty

import (
	"fmt"
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/tt"
)

// Kind is how the penalty of an entity depends on its observations.
type Kind string

const (
	Uniform   Kind = "uniform"   // lambda for every entity
	Frequency Kind = "frequency" // lambda n_e, where n_e is the summed weight of the entity's observations
	Paper     Kind = "paper"     // lambda, for cores whose V' and W have separate penalties
)

// Ridge is a quadratic penalty in units of the summed loss: lambda_e |V'(e)|^2 on
// free weights, lambda_e |V'(e) - anchor|^2 on those of an anchored train, and
// lambda |W|^2 on regressions.
//
// A weighted regression, G = V' o (A W), has one penalty for V' and W. In dual space
// (Coupled) it is, as in the KFT paper,
//
//	sum over (a, b) of (sum_e lambda_e v'_eab^2) |w_ab|^2,
//
// and in primal space, where V' is shrunk towards 1,
//
//	sum over (a, b) of (lambda + sum_e lambda_e (v'_eab - 1)^2) |w_ab|^2.
//
// Because |w_ab| has about the size of T, a deviation from the regression costs as
// much as a deviation of plain weights from 0, at any scale of T. Both forms are a
// ridge in V' for fixed W and in W for fixed V'.
//
// A joint core with a mode that has no operator is one regression per id of that
// mode, most of them with few observations. A product of sums over all of them
// would shrink the small ones to zero. The penalty of such a core is
// sum_e lambda_e |V'(e) - 1|^2 + lambda |W|^2 in both spaces.
//
// As in the paper, the penalty of a core that is Separate is lambda |V'|^2 + lambda |W|^2, and
// the factor Penalty of a core gives it a lambda of its own.
//
// If a core has a norm K on W, |w|^2 stands for w'K w.
type Ridge struct {
	Kind   Kind    `json:"kind"`
	Lambda float64 `json:"lambda"`
}

func (r Ridge) String() string { return fmt.Sprintf("%s %.4g", r.Kind, r.Lambda) }

func (r Ridge) Validate() error {
	if r.Kind != Uniform && r.Kind != Frequency && r.Kind != Paper {
		return fielderr.Errorf("fit.ridge", "solver: unknown ridge %q; use uniform, frequency or paper", r.Kind)
	}
	if !(r.Lambda >= 0) || math.IsInf(r.Lambda, 0) {
		return fielderr.Errorf("fit.lambda", "solver: invalid lambda %g; use 0 or a positive number", r.Lambda)
	}
	return nil
}

// LambdaFor returns lambda_e for an entity with the given summed weight.
func (r Ridge) LambdaFor(count float64) float64 {
	if r.Kind == Frequency {
		return r.Lambda * count
	}
	return r.Lambda
}

// A Block is the ridge of one block while the others are fixed. Weight k of row e
// contributes Row(e) Column[k] (x - Center(k))^2. Rows are entities for free weights
// and rows of W for regressions.
type Block struct {
	Row    func(e int) float64
	Column []float64 // nil means 1
	Mean   float64
	Anchor []float32 // per k, instead of mean; nil if there is none
}

// Center returns the value towards which weight k of a row is shrunk.
func (p *Block) Center(k int) float64 {
	if p.Anchor != nil {
		return float64(p.Anchor[k])
	}
	return p.Mean
}

// At returns the factor of weight k of row e.
func (p *Block) At(e, k int) float64 {
	if p.Column == nil {
		return p.Row(e)
	}
	return p.Row(e) * p.Column[k]
}

// Of returns the penalty of a block, given the summed weights of the core's
// entities.
func (r Ridge) Of(c *tt.Core, b tt.Block, entityWeights []float64) *Block {
	if c.Penalty > 0 {
		r.Lambda *= c.Penalty
	}
	p := &Block{Row: func(e int) float64 { return r.LambdaFor(entityWeights[e]) }, Anchor: c.Anchor}
	if c.Variant == tt.WLR && !c.Coupled && !c.Separate {
		p.Mean = 1
	}
	switch {
	case b.Map == nil && sharesPenalty(c):
		p.Column = ColumnNorms(c)
		return p
	case b.Map == nil:
		return p
	}
	lambda := r.typicalLambda(entityWeights)
	if !sharesPenalty(c) {
		return &Block{Row: func(int) float64 { return lambda }}
	}
	column := ColumnSquares(c, p.Mean, func(e int) float64 {
		if entityWeights[e] == 0 {
			return 0 // V' has its prior value there, at no penalty
		}
		return p.Row(e)
	})
	if !c.Coupled {
		for k := range column {
			column[k] += lambda
		}
	}
	return &Block{Row: func(int) float64 { return 1 }, Column: column}
}

// sharesPenalty reports whether V' and W of a core have one common penalty.
func sharesPenalty(c *tt.Core) bool {
	return c.Variant == tt.WLR && c.Map.Systems() == 1 && !c.Separate
}

// typicalLambda returns the penalty of a row of W. A row serves all entities, so a
// frequency penalty uses their mean weight.
func (r Ridge) typicalLambda(entityWeights []float64) float64 {
	sum, trained := 0.0, 0
	for _, n := range entityWeights {
		if n > 0 {
			sum, trained = sum+n, trained+1
		}
	}
	return r.LambdaFor(sum / float64(max(trained, 1)))
}

// ColumnNorms returns w_ab'K w_ab for each pair (a, b), where K is the core's norm
// or the identity.
func ColumnNorms(c *tt.Core) []float64 {
	size := c.Slices.Slice()
	other := c.Weight
	if c.Norm != nil {
		other = make([]float32, len(c.Weight))
		c.Norm(other, c.Weight)
	}
	sum := make([]float64, size)
	for i, v := range c.Weight {
		sum[i%size] += float64(v) * float64(other[i])
	}
	return sum
}

// ColumnSquares sums the weighted squares of V' - mean over the entities, for each
// pair (a, b).
func ColumnSquares(c *tt.Core, mean float64, weight func(e int) float64) []float64 {
	size := c.Slices.Slice()
	sum := make([]float64, size)
	for e := range c.Slices.N - 1 {
		w := weight(e)
		for k, v := range c.Free[e*size:][:size] {
			d := float64(v) - mean
			sum[k] += w * d * d
		}
	}
	return sum
}

// BlockPenalty returns the penalty of a block at its current weights. Ranks of the backend compute a part each.
func (r Ridge) BlockPenalty(be backend.Backend, c *tt.Core, b tt.Block, entityWeights []float64) float64 {
	p := r.Of(c, b, entityWeights)
	size := c.Slices.Slice()
	rows := len(b.Value) / size
	if b.Map == nil {
		rows = c.Slices.N - 1 // the prior's slice is not a weight
	}
	normed := b.Value
	if b.Norm != nil {
		normed = make([]float32, len(b.Value))
		b.Norm(normed, b.Value)
	}
	sums := backend.Pieces(be, max(1, (rows+piece-1)/piece), 1, func(i int, dst []float64) {
		sum := 0.0
		for e := i * piece; e < min(rows, (i+1)*piece); e++ {
			if b.Map == nil && entityWeights[e] == 0 {
				continue // has its prior value
			}
			for k, v := range b.Value[e*size:][:size] {
				to := p.Center(k)
				sum += p.At(e, k) * (float64(v) - to) * (float64(normed[e*size+k]) - to)
			}
		}
		dst[0] = sum
	})
	return parallel.Tree(sums, func(a, b float64) float64 { return a + b })
}

// piece is the number of rows of one term of a sum, whatever the number of threads.
const piece = 1024

// corePenalty returns the penalty of a core and counts a shared penalty once.
func (r Ridge) corePenalty(be backend.Backend, c *tt.Core, entityWeights []float64) float64 {
	total := 0.0
	for _, b := range c.Blocks() {
		if !(sharesPenalty(c) && b.Map == nil) {
			total += r.BlockPenalty(be, c, b, entityWeights)
		}
	}
	return total
}

// FieldPenalty returns the penalty of the whole field.
func (r Ridge) FieldPenalty(be backend.Backend, f *tt.Field, entityWeights [][][]float64) float64 {
	sum := 0.0
	for k, t := range f.Terms {
		for p, c := range t.Cores {
			sum += r.corePenalty(be, c, entityWeights[k][p])
		}
	}
	return sum
}

// Balance rescales the cores of each train until their penalties are equal. This
// minimizes the sum for the same function and gives the steps of all cores the
// same size. Within a coupled core it makes |v'_ab| = |w_ab|.
func (r Ridge) Balance(be backend.Backend, f *tt.Field, entityWeights [][][]float64) {
	for k, t := range f.Terms {
		if t.Anchored() {
			continue // its scale is fixed
		}
		if balanceSeparate(be, t) {
			continue
		}
		if len(t.Cores) == 1 && t.Cores[0].Variant == tt.Plain {
			continue // its scale is that of the train
		}
		paid := make([]float64, len(t.Cores))
		logMean := 0.0
		for p, c := range t.Cores {
			paid[p] = r.scalablePenalty(be, c, entityWeights[k][p])
			logMean += math.Log(paid[p]) / float64(len(t.Cores))
		}
		if math.IsInf(logMean, 0) || math.IsNaN(logMean) {
			continue // a core of zeros, or no penalty: no scale to move
		}
		for p, c := range t.Cores {
			rescale(be.Threads(), c, float32(math.Exp((logMean-math.Log(paid[p]))/2)))
			if c.Coupled {
				BalanceCoupled(c)
			}
			c.Refresh(be, c.Map != nil)
		}
	}
}

// balanceSeparate makes |v'_ab| = |w_ab| in the cores whose V' and W have separate penalties
// and reports whether there are such cores. Their penalties do not grow with the square of
// the scale, so the scales of cores are left to the blocks.
func balanceSeparate(be backend.Backend, t *tt.Train) bool {
	separate := false
	for _, c := range t.Cores {
		if c.Separate {
			separate = true
			BalanceCoupled(c)
			c.Refresh(be, true)
		}
	}
	return separate
}

// scalablePenalty returns the part of a core's penalty that grows with its scale.
func (r Ridge) scalablePenalty(be backend.Backend, c *tt.Core, entityWeights []float64) float64 {
	total := 0.0
	for _, b := range c.Blocks() {
		if c.Variant != tt.WLR || b.Map != nil {
			total += r.BlockPenalty(be, c, b, entityWeights)
		}
	}
	return total
}

// rescale multiplies G by a factor, for a weighted regression through W.
func rescale(threads int, c *tt.Core, by float32) {
	for _, b := range c.Blocks() {
		if c.Variant == tt.WLR && b.Map == nil {
			continue
		}
		tt.Multiply(threads, b.Value, by)
		b.Along.Scale(float64(by))
	}
}

// BalanceCoupled moves scale between V' and W of each pair (a, b). A coupled penalty
// depends only on the product of their scales; a sum of separate ones is smallest if they
// are equal.
func BalanceCoupled(c *tt.Core) {
	one := func(int) float64 { return 1 }
	size := c.Slices.Slice()
	v, w := ColumnSquares(c, 0, one), ColumnNorms(c)
	for k := range size {
		if !(v[k] > 0 && w[k] > 0) {
			continue
		}
		by := float32(math.Pow(w[k]/v[k], 0.25))
		for i := k; i < len(c.Free); i += size {
			c.Free[i] *= by
		}
		for i := k; i < len(c.Weight); i += size {
			c.Weight[i] /= by
		}
	}
}
