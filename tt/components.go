package tt

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
)

// A train over cores 1, ..., P has P-1 bonds. A component of a bond is one column of
// the core before it and the same row of the core after it, and the train is the sum
// over the components of any one bond.

// Ranks returns the rank of each bond.
func (t *Train) Ranks() []int {
	ranks := make([]int, len(t.Cores)-1)
	for p := range ranks {
		ranks[p] = t.Cores[p].Slices.Right
	}
	return ranks
}

// KeepComponents removes all components of a bond but the given ones, which are in
// increasing order.
func (t *Train) KeepComponents(be backend.Backend, bond int, keep []int) {
	before, after := t.Cores[bond], t.Cores[bond+1]
	before.keepEntries(be, upTo(before.Slices.Left), keep)
	after.keepEntries(be, keep, upTo(after.Slices.Right))
}

// Resize sets the ranks of all bonds. All weights become zero.
func (t *Train) Resize(ranks []int) {
	left := 1
	for p, c := range t.Cores {
		right := 1
		if p < len(ranks) {
			right = ranks[p]
		}
		c.resize(left, right)
		left = right
	}
}

func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// keepEntries keeps the given rows and columns of all slices.
func (c *Core) keepEntries(be backend.Backend, rows, columns []int) {
	var entries []int
	for _, a := range rows {
		for _, k := range columns {
			entries = append(entries, a*c.Slices.Right+k)
		}
	}
	size := c.Slices.Slice()
	if len(entries) == size {
		return
	}
	gather := func(values []float32, size int, entries []int) []float32 {
		kept := make([]float32, 0, len(values)/max(size, 1)*len(entries))
		for from := 0; from < len(values); from += size {
			for _, k := range entries {
				kept = append(kept, values[from+k])
			}
		}
		return kept
	}
	pairs := make([]int, 0, len(entries)*len(entries))
	for _, i := range entries {
		for _, j := range entries {
			pairs = append(pairs, i*size+j)
		}
	}
	type old struct{ mean, variance, cov, unseen []float32 }
	var saved []old
	for _, b := range c.Blocks() {
		o := old{mean: gather(b.Value, size, entries)}
		if b.Posterior != nil {
			o.variance, o.cov = gather(b.Posterior.Var, size, entries), gather(b.Posterior.Cov, size*size, pairs)
			o.unseen = gather(b.Posterior.Unseen, size, entries)
		}
		saved = append(saved, o)
	}
	along := c.Along
	if along != nil {
		kept := *along
		kept.Keep(entries)
		along = &kept
	}
	c.resize(len(rows), len(columns))
	c.Along = along
	for i, b := range c.Blocks() {
		copy(b.Value, saved[i].mean)
		if b.Posterior != nil {
			copy(b.Posterior.Var, saved[i].variance)
			copy(b.Posterior.Cov, saved[i].cov)
			copy(b.Posterior.Unseen, saved[i].unseen)
		}
	}
	c.Refresh(be, c.Map != nil)
}

// resize gives all slices another shape and zeros all weights and variances, except
// covariances over a mode, which do not depend on the shape.
func (c *Core) resize(left, right int) {
	old, s := c.Slices.Slice(), &c.Slices
	s.Left, s.Right = left, right
	size := s.Slice()
	scaled := func(values []float32) []float32 {
		if values == nil {
			return nil
		}
		return make([]float32, len(values)/old*size)
	}
	covariances := func(values []float32) []float32 {
		if values == nil {
			return nil
		}
		return make([]float32, len(values)/(old*old)*size*size)
	}
	s.Mean, s.Var, s.Cov = scaled(s.Mean), scaled(s.Var), covariances(s.Cov)
	c.Free, c.Weight, c.side, c.sideVar = scaled(c.Free), scaled(c.Weight), scaled(c.side), scaled(c.sideVar)
	if c.Map != nil {
		c.Map.SetWidth(size)
	}
	if f := c.FreePosterior; f != nil {
		f.Var, f.Cov, f.Unseen = scaled(f.Var), covariances(f.Cov), scaled(f.Unseen)
	}
	if w := c.WeightPosterior; w != nil {
		w.Var = scaled(w.Var)
	}
	if c.Variant == Plain {
		c.shareMemory()
	}
	if c.Along != nil {
		c.Along.Resize(size)
	}
	if c.unseen != nil {
		c.unseen = &lazyPrior{}
	}
}

// shareMemory makes the weights of a plain core share memory with its slices.
func (c *Core) shareMemory() {
	c.Free = c.Slices.Mean
	if f := c.FreePosterior; f != nil {
		f.Cov = c.Slices.Cov
		if f.Cov == nil {
			f.Var = c.Slices.Var
		}
	}
}

// Resizable reports whether the components of the train can be removed: cores with an
// anchor or a norm of their own have a fixed shape.
func (t *Train) Resizable() bool {
	return !slices.ContainsFunc(t.Cores, func(c *Core) bool { return c.Anchor != nil || c.Norm != nil })
}
