package tt

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/series/dynamics"
)

// StartFrom gives the field what another has learned from fewer rows of the same table: the posterior
// of every weight, entity by entity, and the sites and priors of series and paths. Entities and steps that the other does not know
// start at their prior. It returns false, and changes nothing, unless both fields have the same terms
// with independent weights.
func (f *Field) StartFrom(b backend.Backend, other *Field) bool {
	if f.Group != nil || other.Group != nil || len(f.Terms) != len(other.Terms) || len(f.Series) != len(other.Series) {
		return false
	}
	for k, t := range f.Terms {
		if !t.alike(other.Terms[k]) {
			return false
		}
	}
	for k, s := range f.Series {
		if o := other.Series[k]; s.Label != o.Label || len(s.Prior.Values()) != len(o.Prior.Values()) {
			return false
		}
	}
	for k, t := range f.Terms {
		for i, c := range t.Cores {
			c.startFrom(b, other.Terms[k].Cores[i])
		}
	}
	for k, s := range f.Series {
		s.StartFrom(b.Threads(), other.Series[k])
	}
	f.Offset = other.Offset
	return true
}

// alike reports whether a train has the cores of another, as far as weights can be copied.
func (t *Train) alike(other *Train) bool {
	return slices.EqualFunc(t.Cores, other.Cores, func(c, o *Core) bool {
		if !slices.Equal(c.Modes, o.Modes) || c.Variant != o.Variant || c.Slices.Slice() != o.Slices.Slice() || (c.Along == nil) != (o.Along == nil) {
			return false
		}
		return slices.EqualFunc(c.Blocks(), o.Blocks(), func(x, y Block) bool {
			p, q := x.Posterior, y.Posterior
			return p != nil && q != nil && p.Sigma == nil && q.Sigma == nil && (p.Cov == nil) == (q.Cov == nil) && (x.Map == nil) == (y.Map == nil) && (x.Map == nil || len(x.Value) == len(y.Value) && x.Map.Alike(y.Map)) &&
				(x.Along == nil || len(x.Along.Learned) == len(y.Along.Learned))
		})
	})
}

// startFrom copies the weights of another core.
func (c *Core) startFrom(b backend.Backend, other *Core) {
	theirs := other.Blocks()
	for i, block := range c.Blocks() {
		o := theirs[i]
		block.Posterior.PriorVar = o.Posterior.PriorVar
		copy(block.Posterior.Unseen, o.Posterior.Unseen)
		if block.Map != nil {
			copy(block.Value, o.Value)
			copy(block.Posterior.Var, o.Posterior.Var)
			continue
		}
		if block.Along != nil {
			startPathsFrom(block.Along, o.Along)
		}
		size := c.Slices.Slice()
		prior := len(o.Value)/size - 1 // a core that was extended by entities without data has no weights of its own for them
		mean, variance := float32(block.Posterior.PriorMean), block.Posterior.PriorVar[0]
		parallel.Blocks(b.Threads(), c.Index.Entities(), func(from, to int) {
			for e := from; e < to; e++ {
				known := prior
				if e < int(c.Index.Prior()) {
					if known = c.Index.In(other.Index, e); known >= prior {
						known = -1
					}
				}
				copyEntity(block.Value, o.Value, e, known, size, func(int) float32 { return mean })
				copyEntity(block.Posterior.Var, o.Posterior.Var, e, known, size, func(int) float32 { return variance })
				copyEntity(block.Posterior.Cov, o.Posterior.Cov, e, known, size*size, func(i int) float32 {
					if i%(size+1) == 0 {
						return variance
					}
					return 0
				})
			}
		})
	}
	c.Refresh(b, c.Map != nil)
}

// copyEntity copies entity o of src to entity e of dst, or without one, o < 0, the given values.
func copyEntity(dst, src []float32, e, o, size int, value func(i int) float32) {
	if len(dst) == 0 {
		return
	}
	to := dst[e*size:][:size]
	if o >= 0 {
		copy(to, src[o*size:][:size])
		return
	}
	for i := range to {
		to[i] = value(i)
	}
}

// startPathsFrom copies parameters and the sites of common steps.
func startPathsFrom(p, other *dynamics.Paths) {
	copy(p.Learned, other.Learned)
	n := p.Entries()
	for t, step := range p.Step {
		if at, known := slices.BinarySearch(other.Step, step); known {
			copy(p.Value[t*n:][:n], other.Value[at*n:])
			copy(p.Precision[t*n:][:n], other.Precision[at*n:])
		}
	}
}
