// Package noisemodel holds the distribution of a target given the field: its noise on the modelling
// scale, or the distribution of a count or of one of few values.
package noisemodel

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/kernel-fried-tensor/kft/likelihood"
	"github.com/kernel-fried-tensor/kft/predictive"
)

// Noise is the distribution of the target given the field. Exactly one field is
// set: a noise variance on the transform's scale (constant, by entity, a power of the
// mean, or that of a Student distribution), or the distribution of a count or of one of
// few values.
type Noise struct {
	Constant *likelihood.Constant         `json:"constant,omitempty"`
	Entity   *likelihood.ByEntity         `json:"entity,omitempty"`
	Power    *likelihood.Power            `json:"power,omitempty"` // may be multiplied by Entity
	Poisson  *likelihood.Poisson          `json:"poisson,omitempty"`
	Negative *likelihood.NegativeBinomial `json:"negative_binomial,omitempty"`
	Inflated *likelihood.ZeroInflated     `json:"zero_inflated,omitempty"`
	Hurdle   *likelihood.Hurdle           `json:"hurdle,omitempty"`

	Bernoulli *likelihood.Bernoulli `json:"bernoulli,omitempty"`
	Ordinal   *likelihood.Ordinal   `json:"ordinal,omitempty"`
	Student   *likelihood.StudentT  `json:"student,omitempty"`

	Entities []EntityIndex `json:"-"` // of the factors of Entity
}

// An EntityIndex finds the entity whose factor a row has.
type EntityIndex interface {
	// Entity returns its number; an unknown one is negative or beyond all others.
	Entity(codes [][]int32, row int) int32
	// LookupFrom writes those of the rows from the given one on to dst.
	LookupFrom(dst []int32, codes [][]int32, from int)
}

// A ModeCode is the index of the entities of a mode, which are their codes.
type ModeCode int

// Entity returns the code of the mode.
func (m ModeCode) Entity(codes [][]int32, row int) int32 { return codes[m][row] }

// LookupFrom copies the codes of the mode.
func (m ModeCode) LookupFrom(dst []int32, codes [][]int32, from int) { copy(dst, codes[m][from:]) }

// Likelihood returns the name of the likelihood in specifications.
func (n *Noise) Likelihood() string {
	switch {
	case n.Poisson != nil:
		return "poisson"
	case n.Negative != nil:
		return "negative-binomial"
	case n.Inflated != nil:
		return "zero-inflated"
	case n.Hurdle != nil:
		return "hurdle"
	case n.Bernoulli != nil:
		return "bernoulli"
	case n.Ordinal != nil:
		return "ordinal"
	case n.Student != nil:
		return "student"
	}
	return "gaussian"
}

// Count returns the count distribution, nil for other likelihoods.
func (n *Noise) Count() predictive.CountDistribution {
	switch {
	case n.Poisson != nil:
		return *n.Poisson
	case n.Negative != nil:
		return *n.Negative
	case n.Inflated != nil:
		return *n.Inflated
	case n.Hurdle != nil:
		return *n.Hurdle
	}
	return nil
}

// Finite returns the distribution of a target with few values, nil for others.
func (n *Noise) Finite() predictive.FiniteDistribution {
	switch {
	case n.Bernoulli != nil:
		return *n.Bernoulli
	case n.Ordinal != nil:
		return *n.Ordinal
	}
	return nil
}

// Draw returns a function that draws the target given the field, nil for noise on the
// transform's scale.
func (n *Noise) Draw() func(rng *rand.Rand, f float64) float64 {
	switch {
	case n.Poisson != nil:
		return n.Poisson.Draw
	case n.Negative != nil:
		return n.Negative.Draw
	case n.Inflated != nil:
		return n.Inflated.Draw
	case n.Hurdle != nil:
		return n.Hurdle.Draw
	case n.Bernoulli != nil:
		return n.Bernoulli.Draw
	case n.Ordinal != nil:
		return n.Ordinal.Draw
	}
	return nil
}

// DrawError draws an error on the transform's scale, in units of the root of the variance.
func (n *Noise) DrawError(rng *rand.Rand) float64 {
	if n.Student != nil {
		return n.Student.Noise(rng)
	}
	return rng.NormFloat64()
}

// UnitVariance returns the noise variance that row i would have with weight 1; for Student
// noise, its squared scale. The level is the predicted mean of the row on the transform's
// scale.
func (n *Noise) UnitVariance(level float64, codes [][]int32, i int) float64 {
	s2 := n.levelVariance(level)
	if n.Entity != nil {
		factor := n.Entity.Variance
		for k, x := range n.Entities {
			factor *= n.Entity.Modes[k].At(x.Entity(codes, i))
		}
		s2 *= factor
	}
	return s2
}

// levelVariance returns the part of the variance that depends on the level alone.
func (n *Noise) levelVariance(level float64) float64 {
	switch {
	case n.Power != nil:
		return n.Power.At(level)
	case n.Student != nil:
		return n.Student.Variance
	case n.Constant != nil:
		return n.Constant.Variance
	}
	return 1
}

// Rows returns the noise of rows, for loops over many of them in their order; level returns
// the predicted mean of a row on the transform's scale. found has the entities of all rows by
// index in Entities, as far as they are known; it may be nil.
func (n *Noise) Rows(codes, found [][]int32, level func(i int) float64) *RowNoise {
	return &RowNoise{noise: n, codes: codes, found: found, level: level}
}

// A RowNoise computes the noise of many rows at a time: the lookups of one row after the
// other would each wait for memory, and powers for each other. It is not safe for concurrent
// use.
type RowNoise struct {
	noise    *Noise
	codes    [][]int32
	found    [][]int32
	level    func(i int) float64
	from     int
	variance []float64 // of the rows from the given one on
	factors  []float64
	entities []int32
}

// UnitVariance is [Noise.UnitVariance].
func (r *RowNoise) UnitVariance(i int) float64 {
	if i < r.from || i >= r.from+len(r.variance) {
		r.load(i)
	}
	return r.variance[i-r.from]
}

// load computes the variances from row i on: of one row, and of twice as many each time as
// long as the rows are visited in their order.
func (r *RowNoise) load(i int) {
	n := 1
	if i == r.from+len(r.variance) {
		n = max(1, min(2*len(r.variance), 256, len(r.codes[0])-i))
	}
	if cap(r.variance) < n {
		r.variance, r.factors, r.entities = make([]float64, n), make([]float64, n), make([]int32, n)
	}
	r.from, r.variance = i, r.variance[:n]
	for k := range r.variance {
		r.variance[k] = r.noise.levelVariance(r.level(i + k))
	}
	if r.noise.Entity == nil {
		return
	}
	factors := r.factors[:n]
	for k := range factors {
		factors[k] = r.noise.Entity.Variance
	}
	for k, x := range r.noise.Entities {
		entities := r.entities[:n]
		if r.found != nil && r.found[k] != nil {
			entities = r.found[k][i : i+n]
		} else {
			x.LookupFrom(entities, r.codes, i)
		}
		f := &r.noise.Entity.Modes[k]
		for j, e := range entities {
			factors[j] *= f.At(e)
		}
	}
	for k, factor := range factors {
		r.variance[k] *= factor
	}
}

// Limits of parameters that are far above what a fit can give.
const (
	maxNoiseExponent = 20
	maxSlope         = 100 // of calibrated probabilities, and of their shift
)

// Validate returns what is wrong with noise that was read from a file. The factors of
// entities are checked by the caller, who knows these.
func (n *Noise) Validate() error {
	kinds := 0
	for _, set := range []bool{n.Constant != nil, n.Entity != nil || n.Power != nil, n.Poisson != nil, n.Negative != nil, n.Inflated != nil, n.Hurdle != nil, n.Bernoulli != nil, n.Student != nil, n.Ordinal != nil} {
		if set {
			kinds++
		}
	}
	if kinds != 1 {
		return fmt.Errorf("it has %d kinds of noise, expected one", kinds)
	}
	switch {
	case n.Constant != nil:
		return positive("its noise variance", n.Constant.Variance)
	case n.Entity != nil && n.Power == nil:
		return positive("its noise variance", n.Entity.Variance)
	case n.Negative != nil:
		return positive("the size of its negative binomial distribution", n.Negative.Size)
	case n.Inflated != nil:
		if !(n.Inflated.Zero > 0 && n.Inflated.Zero < 1) {
			return fmt.Errorf("its share of further zeros is %g, expected a number between 0 and 1", n.Inflated.Zero)
		}
		return positive("the size of its zero-inflated distribution", n.Inflated.Size)
	case n.Hurdle != nil:
		if !(n.Hurdle.Slope > 0 && n.Hurdle.Slope <= maxSlope && math.Abs(n.Hurdle.Shift) <= maxSlope) {
			return fmt.Errorf("the odds of its hurdle have the slope %g and the shift %g", n.Hurdle.Slope, n.Hurdle.Shift)
		}
		return positive("the size of its hurdle distribution", n.Hurdle.Size)
	case n.Ordinal != nil:
		return checkOrdinal(n.Ordinal)
	case n.Student != nil:
		if !(n.Student.DF >= 1 && n.Student.DF <= 2*likelihood.MaxDF) {
			return fmt.Errorf("its Student distribution has %g degrees of freedom", n.Student.DF)
		}
		return positive("its noise variance", n.Student.Variance)
	case n.Bernoulli != nil:
		if !(n.Bernoulli.Slope >= 0 && n.Bernoulli.Slope <= maxSlope && math.Abs(n.Bernoulli.Shift) <= maxSlope) {
			return fmt.Errorf("its probabilities are calibrated by the slope %g and the shift %g", n.Bernoulli.Slope, n.Bernoulli.Shift)
		}
	case n.Power != nil:
		if err := positive("the scale of its noise", n.Power.Scale); err != nil {
			return err
		}
		if !(math.Abs(n.Power.Exponent) <= maxNoiseExponent) {
			return fmt.Errorf("the exponent of its noise is %g, expected at most %d", n.Power.Exponent, maxNoiseExponent)
		}
		if n.Entity != nil {
			if err := positive("its noise variance", n.Entity.Variance); err != nil {
				return err
			}
		}
		return positive("the floor of its noise", n.Power.Floor)
	}
	return nil
}

func positive(what string, v float64) error {
	if !(v > 0) || math.IsInf(v, 1) {
		return fmt.Errorf("%s is %g, expected a finite number above 0", what, v)
	}
	return nil
}

// checkOrdinal returns an error unless levels and cuts are finite and in increasing order.
func checkOrdinal(o *likelihood.Ordinal) error {
	n := len(o.Levels)
	if n < 2 || n > likelihood.MaxLevels || len(o.Cuts) != n-1 {
		return fmt.Errorf("its ordinal distribution has %d levels and %d cuts", n, len(o.Cuts))
	}
	for _, values := range [][]float64{o.Levels, o.Cuts} {
		for i, v := range values {
			if !(math.Abs(v) <= math.MaxFloat32) || i > 0 && !(v > values[i-1]) {
				return fmt.Errorf("the levels and cuts of its ordinal distribution are %v and %v", o.Levels, o.Cuts)
			}
		}
	}
	return nil
}
