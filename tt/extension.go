package tt

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/tt/entity"
	"github.com/kernel-fried-tensor/kft/tt/regression"
)

// Extend extends the core to modes with more codes. axes and operators are the new ones
// of the modes of the core. fresh lists, for each of them, the codes that are new or
// newly described. None of them has training data. The number of groups of an axis
// does not change, only which codes belong to them.
//
// A regression on one mode gets slices for these codes. A joint regression
// recomputes the combinations it already holds; others are computed on demand. A
// plain core uses the prior for them. All other slices keep their bits.
//
// Slices are computed one at a time, so that none depends on the others.
func (c *Core) Extend(b backend.Backend, axes []entity.Axis, operators []regression.Operator, fresh [][]int32) error {
	width := len(c.Modes)
	combos := append([]int32(nil), c.Index.Combinations()...)
	var changed []int // entities to compute
	if c.Map != nil {
		combos, changed = c.extendCombinations(combos, axes, fresh)
	}
	x, err := entity.RestoreAxisIndex(axes, combos)
	if err != nil {
		return err
	}
	size, n := c.Slices.Slice(), c.Slices.N-1
	slices := c.slicesLike(x.Entities())
	copy(slices.Mean, c.Slices.Mean[:n*size])
	if slices.Var != nil {
		copy(slices.Var, c.Slices.Var[:n*size])
	}
	if slices.Cov != nil {
		copy(slices.Cov, c.Slices.Cov[:n*size*size])
	}
	copySlice(slices, slices.N-1, c.Slices, n)
	c.Index, c.Slices = x, slices
	if c.Map == nil {
		c.Free = slices.Mean
		if c.FreePosterior != nil {
			posterior := *c.FreePosterior
			c.FreePosterior = &posterior
			posterior.Var, posterior.Cov = slices.Var, slices.Cov
			if slices.Cov != nil {
				posterior.Var = diagonals(slices.Cov, size)
			}
		}
		return nil
	}
	m, err := regression.NewLinearMap(x, operators, size)
	if err != nil {
		return err
	}
	c.growWeights(m)
	c.Map = m
	for _, e := range changed {
		t, st, err := c.regressionAt(b, combos[e*width:][:width])
		if err != nil {
			return err
		}
		c.setUnseen(slices, e, t, st)
	}
	return nil
}

// growWeights gives the weights of a regression on several modes rows for new codes of those without side
// information, as the prior has them: without data, mean and variance are those of the prior.
func (c *Core) growWeights(m *regression.LinearMap) {
	if m.Rows() == c.Map.Rows() {
		return
	}
	place := c.Map.Places(m)
	grown := func(values []float32, fill float32) []float32 {
		if values == nil {
			return nil
		}
		size := len(values) / len(place)
		out := slices.Repeat([]float32{fill}, m.Rows()*size)
		for row, at := range place {
			copy(out[at*size:][:size], values[row*size:])
		}
		return out
	}
	if c.WeightPosterior == nil {
		c.Weight = grown(c.Weight, 0)
		return
	}
	posterior := *c.WeightPosterior
	c.Weight, posterior.Var = grown(c.Weight, float32(posterior.PriorMean)), grown(posterior.Var, posterior.PriorVar[0])
	posterior.Sigma = slices.Clone(posterior.Sigma)
	for q, s := range posterior.Sigma {
		if added := m.AxisColumns(q) - s.Columns(); added > 0 {
			wider := *s
			wider.Diag = append(slices.Clone(s.Diag), slices.Repeat([]float32{slices.Max(s.Diag)}, added)...)
			posterior.Sigma[q] = &wider
		}
	}
	c.WeightPosterior = &posterior
}

// extendCombinations returns the combinations including those that fresh codes add,
// and the entities whose side information is new.
func (c *Core) extendCombinations(combos []int32, axes []entity.Axis, fresh [][]int32) ([]int32, []int) {
	width := len(c.Modes)
	isFresh := make([][]bool, width)
	for i := range axes {
		isFresh[i] = make([]bool, axes[i].Size)
		for _, code := range fresh[i] {
			isFresh[i][code] = true
		}
	}
	var changed []int
	for e := c.TrainedEntities(); e < c.Slices.N-1; e++ {
		for i, code := range combos[e*width:][:width] {
			if isFresh[i][code] {
				changed = append(changed, e)
				break
			}
		}
	}
	if width > 1 {
		return combos, changed
	}
	for _, code := range fresh[0] {
		if c.Index.Lacks(code) {
			changed = append(changed, len(combos))
			combos = append(combos, code)
		}
	}
	return combos, changed
}
