package fit

import (
	"fmt"
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/tt"
)

// RidgeKind is how the penalty depends on an entity's number of observations.
type RidgeKind string

const (
	Uniform   RidgeKind = "uniform"   // lambda for every entity
	Frequency RidgeKind = "frequency" // lambda n_e, n_e the summed weight of its observations
)

// Ridge is a penalty in units of the summed loss: lambda_e |V'(e)|^2 on free
// weights, which is |V'(e) - anchor|^2 for those of an anchored train, and
// lambda |W|^2 on regressions.
//
// A weighted regression, G = V' o (A W), pays for V' and W at once. In dual
// space (Coupled) that is, as in the paper,
//
//	sum over (a, b) of (sum_e lambda_e v'_eab^2) |w_ab|^2,
//
// in primal space, where V' is drawn to 1,
//
//	sum over (a, b) of (lambda + sum_e lambda_e (v'_eab - 1)^2) |w_ab|^2.
//
// As |w_ab| is about the size of T, weights that leave their regression pay as
// plain ones that leave 0, whatever the scale of T. Either is a ridge in V' with
// W fixed and in W with V' fixed.
//
// A joint core one of whose modes has no operator is a regression for each id of
// that mode, most of them with few observations. In a product of sums over all
// of them the small ones would be drawn to nothing: such a core pays
// sum_e lambda_e |V'(e) - 1|^2 + lambda |W|^2 in either space.
//
// Where a core has a norm K on W, |w|^2 is w'K w.
type Ridge struct {
	Kind   RidgeKind `json:"kind"`
	Lambda float64   `json:"lambda"`
}

func (r Ridge) String() string { return fmt.Sprintf("%s %.4g", r.Kind, r.Lambda) }

func (r Ridge) validate() error {
	if r.Kind != Uniform && r.Kind != Frequency {
		return fmt.Errorf("fit: unknown ridge %q; use uniform or frequency", r.Kind)
	}
	if !(r.Lambda >= 0) || math.IsInf(r.Lambda, 0) {
		return fmt.Errorf("fit: lambda %g is no penalty; it must be 0 or a positive number", r.Lambda)
	}
	return nil
}

// at returns lambda_e for an entity of the given count.
func (r Ridge) at(count float64) float64 {
	if r.Kind == Frequency {
		return r.Lambda * count
	}
	return r.Lambda
}

// penalty is the ridge of one block with all others fixed: weight k of row e
// pays row(e) column[k] (x - mean)^2. Rows are entities for free weights and
// rows of W for regressions.
type penalty struct {
	row    func(e int) float64
	column []float64 // nil means 1
	mean   float64
	anchor []float32 // by k, in place of mean; nil for none
}

// drawnTo returns what the penalty draws weight k of a row to.
func (p *penalty) drawnTo(k int) float64 {
	if p.anchor != nil {
		return float64(p.anchor[k])
	}
	return p.mean
}

// at returns the factor of weight k of row e.
func (p *penalty) at(e, k int) float64 {
	if p.column == nil {
		return p.row(e)
	}
	return p.row(e) * p.column[k]
}

// of returns a block's penalty. counts are those of the core's entities.
func (r Ridge) of(c *tt.Core, b tt.Block, counts []float64) *penalty {
	p := &penalty{row: func(e int) float64 { return r.at(counts[e]) }, anchor: c.Anchor}
	if c.Variant == tt.WLR && !c.Coupled {
		p.mean = 1
	}
	switch {
	case b.Map == nil && shares(c):
		p.column = norms(c)
		return p
	case b.Map == nil:
		return p
	}
	lambda := r.typical(counts)
	if !shares(c) {
		return &penalty{row: func(int) float64 { return lambda }}
	}
	column := squares(c, p.mean, func(e int) float64 {
		if counts[e] == 0 {
			return 0 // V' takes the prior there, and pays nothing
		}
		return p.row(e)
	})
	if !c.Coupled {
		for k := range column {
			column[k] += lambda
		}
	}
	return &penalty{row: func(int) float64 { return 1 }, column: column}
}

// shares tells whether V' and W of a core have one penalty.
func shares(c *tt.Core) bool { return c.Variant == tt.WLR && c.Map.Systems() == 1 }

// typical returns the penalty of a row of W. It serves all entities: by
// frequency it pays as a typical one.
func (r Ridge) typical(counts []float64) float64 {
	sum, trained := 0.0, 0
	for _, n := range counts {
		if n > 0 {
			sum, trained = sum+n, trained+1
		}
	}
	return r.at(sum / float64(max(trained, 1)))
}

// norms returns w_ab'K w_ab for each pair (a, b), K the core's norm or 1.
func norms(c *tt.Core) []float64 {
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

// squares sums the weighted squares of V' - mean over the entities, for each
// pair (a, b).
func squares(c *tt.Core, mean float64, weight func(e int) float64) []float64 {
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

// paid returns what a block pays.
func (r Ridge) paid(c *tt.Core, b tt.Block, counts []float64) float64 {
	p := r.of(c, b, counts)
	size := c.Slices.Slice()
	rows := len(b.Value) / size
	if b.Map == nil {
		rows = c.Slices.N - 1 // the prior's slice is no weight
	}
	normed := b.Value
	if b.Norm != nil {
		normed = make([]float32, len(b.Value))
		b.Norm(normed, b.Value)
	}
	total := 0.0
	for e := range rows {
		if b.Map == nil && counts[e] == 0 {
			continue // takes the prior
		}
		for k, v := range b.Value[e*size:][:size] {
			to := p.drawnTo(k)
			total += p.at(e, k) * (float64(v) - to) * (float64(normed[e*size+k]) - to)
		}
	}
	return total
}

// core returns what a core pays, a shared penalty counted once.
func (r Ridge) core(c *tt.Core, counts []float64) float64 {
	total := 0.0
	for _, b := range c.Blocks() {
		if !(shares(c) && b.Map == nil) {
			total += r.paid(c, b, counts)
		}
	}
	return total
}

// total returns the penalty of the whole field.
func (r Ridge) total(f *tt.Field, counts [][][]float64) float64 {
	sum := 0.0
	for k, t := range f.Terms {
		for p, c := range t.Cores {
			sum += r.core(c, counts[k][p])
		}
	}
	return sum
}

// score returns the penalised loss an observation.
func (r Ridge) score(d *data, loss float64) float64 {
	return (loss + r.total(d.field, d.counts)) / float64(len(d.y))
}

// balance moves scale between the cores of each train until they pay equal
// penalties: that is the least sum for the same function, and steps of all
// cores then have one size. Inside a coupled core it makes |v'_ab| = |w_ab|.
func (r Ridge) balance(be backend.Backend, f *tt.Field, counts [][][]float64) {
	for k, t := range f.Terms {
		if t.Anchored() {
			continue // its scale is given
		}
		paid := make([]float64, len(t.Cores))
		logMean := 0.0
		for p, c := range t.Cores {
			paid[p] = r.scaling(c, counts[k][p])
			logMean += math.Log(paid[p]) / float64(len(t.Cores))
		}
		if math.IsInf(logMean, 0) || math.IsNaN(logMean) {
			continue // a core of zeros, or no penalty: no scale to move
		}
		for p, c := range t.Cores {
			rescale(c, float32(math.Exp((logMean-math.Log(paid[p]))/2)))
			if c.Coupled {
				even(c)
			}
			c.Refresh(be, c.Map != nil)
		}
	}
}

// scaling returns the part of a core's penalty that grows with its scale.
func (r Ridge) scaling(c *tt.Core, counts []float64) float64 {
	total := 0.0
	for _, b := range c.Blocks() {
		if c.Variant != tt.WLR || b.Map != nil {
			total += r.paid(c, b, counts)
		}
	}
	return total
}

// rescale multiplies G by a number: a weighted regression by its W.
func rescale(c *tt.Core, by float32) {
	for _, b := range c.Blocks() {
		if c.Variant == tt.WLR && b.Map == nil {
			continue
		}
		for i := range b.Value {
			b.Value[i] *= by
		}
	}
}

// even moves scale between V' and W of each pair (a, b), which a coupled penalty
// leaves open.
func even(c *tt.Core) {
	one := func(int) float64 { return 1 }
	size := c.Slices.Slice()
	v, w := squares(c, 0, one), norms(c)
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
