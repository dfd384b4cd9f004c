package tt

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/series"
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
		s.startFrom(b.Threads(), other.Series[k])
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
			return p != nil && q != nil && p.Sigma == nil && q.Sigma == nil && (p.Cov == nil) == (q.Cov == nil) && (x.Map == nil) == (y.Map == nil) && (x.Map == nil || len(x.Value) == len(y.Value) && x.Map.alike(y.Map)) &&
				(x.Along == nil || len(x.Along.Learned) == len(y.Along.Learned))
		})
	})
}

// alike reports whether two maps of as many weights give common codes the same slices.
func (m *LinearMap) alike(other *LinearMap) bool {
	return slices.EqualFunc(m.stages, other.stages, func(s, o stage) bool {
		if s.op == nil || o.op == nil {
			return s.op == nil && o.op == nil && s.columns == o.columns
		}
		rows := min(s.op.Rows(), o.op.Rows())
		return s.columns == o.columns && slices.Equal(s.op.Matrix()[:rows*s.columns], o.op.Matrix()[:rows*o.columns])
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
					if known = c.Index.in(other.Index, e); known >= prior {
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

// in returns the entity of another index over the same axes that has the codes of entity e, not the prior, or -1 for none.
func (x *Index) in(other *Index, e int) int {
	width := len(x.axes)
	if width == 0 {
		return e
	}
	codes := x.combos[e*width:][:width]
	for i, c := range codes {
		if int(c) >= other.axes[i].Size {
			return -1
		}
	}
	at := int32(0)
	if width == 1 {
		at = other.entity[codes[0]]
	} else {
		at = other.atKey(other.key(codes))
	}
	if at == other.Prior() {
		return -1
	}
	return int(at)
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

// startFrom copies the prior, and scales and sites of common series and steps.
func (s *SeriesTerm) startFrom(threads int, other *SeriesTerm) {
	s.Prior.SetValues(other.Prior.Values())
	parallel.Blocks(threads, s.Process.Series(), func(from, to int) {
		for e := from; e < to; e++ {
			if o := s.Index.in(other.Index, e); o >= 0 {
				copySites(s.Process, other.Process, e, o)
			}
		}
	})
}

// copySites copies scale and sites of series o of another process to series e.
func copySites(p, other *series.Process, e, o int) {
	if len(p.Scale) > 0 && len(other.Scale) > 0 {
		p.Scale[e] = other.Scale[o]
	}
	at, end := other.Start[o], other.Start[o+1]
	for i := p.Start[e]; i < p.Start[e+1]; i++ {
		for at < end && other.Step[at] < p.Step[i] {
			at++
		}
		if at < end && other.Step[at] == p.Step[i] {
			p.Value[i], p.Precision[i] = other.Value[at], other.Precision[at]
		}
	}
}
