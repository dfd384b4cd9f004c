// Package copula is the dependence between the values of cells that are forecast together, beyond what the draws of a model
// have: surprises that all cells of a period share, or those of one store.
//
// A value has a normal score: the normal quantile of its level in its predictive distribution. The scores z of the model's draws
// are replaced by
//
//	z' = sqrt(1 - R) z + sum_c sqrt(r_c) s_c,      R = sum_c r_c,
//
// with standard normal s_c, of opposite signs in two successive draws, one for each draw and group of cells: all cells after an origin, all of one period, those of
// one id, or of one id and period. z' is standard normal if z is, so that the distribution of a cell does not change.
package copula

import (
	"fmt"
	"hash/fnv"
	"math"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/modelfile"
)

// Shares are shares of the variance of scores that a group of cells has in common.
type Shares struct {
	Origin float64 // in all periods after the origin
	Period float64 // in one period
}

// A Copula is what the scores of forecasts have in common. It does not change.
type Copula struct {
	All  Shares
	Keys []Shares // by mode that distinguishes series: of the cells of one id
}

// mostShared bounds R, so that cells keep some of their own scores.
const mostShared = 0.95

// limited returns the copula with shares that are at most mostShared together, nil if they are 0.
func (c *Copula) limited() *Copula {
	total := c.total()
	if !(total > 0) {
		return nil
	}
	if total > mostShared {
		c.each(func(_, _ int, share *float64) { *share *= mostShared / total })
	}
	return c
}

// each visits the shares: the number of the group, 0 for all cells and k+1 for those of key k, and whether they
// are those of a period, 1, or of all, 0.
func (c *Copula) each(visit func(group, period int, share *float64)) {
	visit(0, 0, &c.All.Origin)
	visit(0, 1, &c.All.Period)
	for k := range c.Keys {
		visit(k+1, 0, &c.Keys[k].Origin)
		visit(k+1, 1, &c.Keys[k].Period)
	}
}

func (c *Copula) total() (sum float64) {
	c.each(func(_, _ int, share *float64) { sum += *share })
	return sum
}

// Parts describes the shares, given the names of the modes that distinguish series.
func (c *Copula) Parts(name func(key int) string) (parts []string) {
	c.each(func(group, period int, share *float64) {
		if *share == 0 {
			return
		}
		of := "all cells"
		if group > 0 {
			of = name(group - 1)
		}
		parts = append(parts, fmt.Sprintf("%.2g of the variance: %s in %s", *share, of, [...]string{"all periods", "one period"}[period]))
	})
	return parts
}

// Mix replaces the levels of the draws of a row. What is shared depends on the seed, the number of the draw, the ids of the row in the modes
// keys, and that in the mode of time.
func (c *Copula) Mix(levels []float64, seed uint64, id func(mode, row int) string, keys []int, time, row int) {
	Scores(levels, levels)
	own := math.Sqrt(max(1-c.total(), 0))
	for k := range levels {
		levels[k] *= own
	}
	c.each(func(group, period int, share *float64) {
		if *share == 0 {
			return
		}
		h := fnv.New64a()
		if group > 0 {
			h.Write([]byte(id(keys[group-1], row)))
		}
		h.Write([]byte{0})
		if period > 0 {
			h.Write([]byte(id(time, row)))
		}
		stream, size := randstream.New(seed, "copula", uint64(group), uint64(period), h.Sum64()), math.Sqrt(*share)
		shared := 0.0
		for k := range levels {
			if shared = -shared; k%2 == 0 { // draws in pairs, so that what they share is 0 in the mean
				shared = size * stream.NormFloat64()
			}
			levels[k] += shared
		}
	})
	for k, z := range levels {
		levels[k] = min(max(math.Erfc(-z/math.Sqrt2)/2, leastLevel), 1-leastLevel)
	}
}

// leastLevel keeps scores finite.
const leastLevel = 1e-12

// Scores writes the normal quantiles of levels.
func Scores(dst, levels []float64) {
	for k, p := range levels {
		dst[k] = math.Sqrt2 * math.Erfinv(2*min(max(p, leastLevel), 1-leastLevel)-1)
	}
}

const tensorName = "copula"

// Tensors returns the copula for a model file, nothing for nil.
func (c *Copula) Tensors() []modelfile.Tensor {
	if c == nil {
		return nil
	}
	var shares []float64
	c.each(func(_, _ int, share *float64) { shares = append(shares, *share) })
	return []modelfile.Tensor{modelfile.NewTensor(tensorName, shares, len(shares)/2, 2)}
}

// Read returns the copula of a model file with so many modes that distinguish series, nil if it has none.
func Read(f *modelfile.File, keys int) (*Copula, error) {
	if _, found := f.Tensor(tensorName); !found {
		return nil, nil
	}
	values, err := modelfile.Values[float64](f, tensorName, keys+1, 2)
	if err != nil {
		return nil, err
	}
	c := &Copula{Keys: make([]Shares, keys)}
	c.each(func(group, period int, share *float64) { *share = values[2*group+period] })
	for _, v := range values {
		if !(v >= 0) {
			return nil, fmt.Errorf("copula: the share %g is negative", v)
		}
	}
	if total := c.total(); !(total <= 1) {
		return nil, fmt.Errorf("copula: the shares add up to %g", total)
	}
	return c, nil
}
