package tt

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

// A Sampler draws fields from the posterior of one. Entities with training data
// are drawn once a field; all others, be they unknown, combinations that never
// occurred, or entities that Extend added, each when a cell of theirs is met, by
// random numbers of their own: a draw does not depend on which others there are.
type Sampler struct {
	base *Field // with training data alone
	seed uint64
}

// NewSampler returns the sampler of a field whose weights have variances.
func NewSampler(b backend.Backend, f *Field, seed uint64) (*Sampler, error) {
	s := &Sampler{base: &Field{Group: f.Group}, seed: seed}
	for _, t := range f.Terms {
		train := &Train{}
		for _, c := range t.Cores {
			core, err := c.base(b)
			if err != nil {
				return nil, err
			}
			train.Cores = append(train.Cores, core)
		}
		s.base.Terms = append(s.base.Terms, train)
	}
	return s, nil
}

// Bytes returns the memory that a draw holds.
func (s *Sampler) Bytes() int64 {
	var n int64
	for _, t := range s.base.Terms {
		for _, c := range t.Cores {
			n += int64(c.Slices.Len() + len(c.Weight))
		}
	}
	return 4 * n
}

// base returns the core with no entities but those with training data and the
// prior's.
func (c *Core) base(b backend.Backend) (*Core, error) {
	size, trained := c.Slices.Slice(), c.TrainedEntities()
	x := &Index{modes: c.Index.modes, sizes: c.Index.sizes, combos: c.Index.combos[:trained*len(c.Modes)]}
	if err := x.build(); err != nil {
		return nil, err
	}
	shape := c.Slices.Shape
	shape.N = trained + 1
	d := &Core{Modes: c.Modes, Index: x, Variant: c.Variant, Slices: backend.Slices{Shape: shape}, Weight: c.Weight, WeightSpread: c.WeightSpread}
	// What is of an entity, and of the prior's, which is last.
	cut := func(values []float32, size int) []float32 {
		if values == nil {
			return nil
		}
		return slices.Concat(values[:trained*size], values[len(values)-size:])
	}
	d.Free = cut(c.Free, size)
	if s := c.FreeSpread; s != nil {
		d.FreeSpread = &Spread{Var: cut(s.Var, size), Cov: cut(s.Cov, size*size)}
	}
	if c.Map == nil {
		return d, nil
	}
	var err error
	if d.Map, err = NewMap(x, c.Map.operators(), size); err != nil {
		return nil, err
	}
	d.side = make([]float32, d.Slices.Len())
	d.Map.Apply(b, d.side, d.Weight, false)
	d.spreadPrior(d.side, true)
	if c.WeightSpread != nil {
		d.sideVar = make([]float32, d.Slices.Len())
		d.regressionVariance(b, d.Map, d.sideVar)
		copy(d.sideVar[trained*size:], d.aboutPrior(d.side, d.sideVar))
	}
	return d, nil
}

// A Draw is a field drawn from a posterior.
type Draw struct {
	sampler *Sampler
	field   *Field
	number  uint64
}

// Draw returns the draw of a number: the same whenever it is drawn. For its cost
// see [Field.Sample].
func (s *Sampler) Draw(b backend.Backend, number int) *Draw {
	field := s.base.Sample(b, randstream.New(s.seed, "draw", uint64(number)))
	for _, t := range field.Terms {
		for _, c := range t.Cores {
			c.Free, c.side = nil, nil // are in the slices
		}
	}
	return &Draw{sampler: s, field: field, number: uint64(number)}
}

// Cells are cells prepared for draws.
type Cells struct {
	n     int
	terms [][]drawnAt // by term and core
}

// drawnAt says where the slices of a core's cells come from.
type drawnAt struct {
	index []int32 // by cell: entity, or place among used and fresh where there are any
	used  []int32 // entities with training data
	fresh []fresh // others
}

// fresh is an entity without training data.
type fresh struct {
	key  uint64
	side *Map      // its regression; nil where it has none or takes the prior's
	lost []float32 // what that lost of the prior's variance; nil for nothing
}

// Cells prepares cells of f, which is the sampler's field or that field extended.
// key tells entities without training data apart: for the cell and the modes of a
// core it returns a number of the ids there, the same wherever they are met.
func (s *Sampler) Cells(f *Field, codes [][]int32, key func(modes []int, cell int) uint64) (*Cells, error) {
	c := &Cells{n: len(codes[0])}
	for k, t := range f.Terms {
		index := t.Lookup(codes)
		at := make([]drawnAt, len(t.Cores))
		for p, core := range t.Cores {
			var err error
			if at[p], err = core.drawnAt(s.base.Terms[k].Cores[p].Index.Prior(), codes, index[p], key); err != nil {
				return nil, err
			}
		}
		c.terms = append(c.terms, at)
	}
	return c, nil
}

func (c *Core) drawnAt(trained int32, codes [][]int32, index []int32, key func(modes []int, cell int) uint64) (drawnAt, error) {
	at := drawnAt{index: index}
	if !slices.ContainsFunc(index, func(e int32) bool { return e >= trained }) {
		return at, nil
	}
	usedAt, freshAt := map[int32]int32{}, map[uint64]int32{}
	for cell, e := range index {
		if e < trained {
			place, ok := usedAt[e]
			if !ok {
				place = int32(len(at.used))
				usedAt[e], at.used = place, append(at.used, e)
			}
			index[cell] = place
			continue
		}
		name := key(c.Index.modes, cell)
		place, ok := freshAt[name]
		if !ok {
			place = int32(len(at.fresh))
			entity, err := c.fresh(name, codes, cell, e)
			if err != nil {
				return at, err
			}
			freshAt[name], at.fresh = place, append(at.fresh, entity)
		}
		index[cell] = -1 - place // until it is known how many are used
	}
	for cell, place := range index {
		if place < 0 {
			index[cell] = int32(len(at.used)) - 1 - place
		}
	}
	return at, nil
}

// fresh describes the entity of a cell without training data as Evaluate sees it:
// by its regression, or by the prior's.
func (c *Core) fresh(key uint64, codes [][]int32, cell int, e int32) (fresh, error) {
	f := fresh{key: key}
	if c.Map == nil || !known(c.Index, codes, cell) || e == c.Index.Prior() && len(c.Modes) == 1 {
		return f, nil
	}
	var combo []int32
	for _, m := range c.Index.modes {
		combo = append(combo, codes[m][cell])
	}
	// One at a time, so that none depends on which others are there.
	x := &Index{modes: c.Index.modes, sizes: c.Index.sizes, combos: combo, classes: 1}
	var err error
	if f.side, err = NewMap(x, c.Map.operators(), c.Slices.Slice()); err != nil || c.WeightSpread == nil {
		return f, err
	}
	f.lost = make([]float32, c.Slices.Slice())
	f.side.addLost(f.lost, float64(c.WeightSpread.PriorVar[0]))
	return f, nil
}

// Evaluate writes the drawn field at cells to dst.
func (d *Draw) Evaluate(b backend.Backend, dst []float32, cells *Cells) {
	clear(dst)
	value := make([][]float32, len(d.field.Terms))
	for k, t := range d.field.Terms {
		parts, index := t.Slices(), make([][]int32, len(t.Cores))
		for p, c := range t.Cores {
			at := &cells.terms[k][p]
			index[p] = at.index
			if at.fresh != nil {
				parts[p] = d.local(b, k, p, c, at)
			}
		}
		value[k] = make([]float32, cells.n)
		b.Evaluate(value[k], parts, index)
		if len(d.field.Partners(k)) == 0 {
			for i, v := range value[k] {
				dst[i] += v
			}
		}
	}
	d.field.addProducts(dst, value)
}

// local returns the slices of the entities that cells use.
func (d *Draw) local(b backend.Backend, k, p int, c *Core, at *drawnAt) backend.Slices {
	shape, size := c.Slices.Shape, c.Slices.Slice()
	shape.N = len(at.used) + len(at.fresh)
	local := backend.NewSlices(shape)
	for i, e := range at.used {
		copySlice(local, i, c.Slices, int(e))
	}
	for i, f := range at.fresh {
		rng := randstream.New(d.sampler.seed, "entity", d.number, uint64(k), uint64(p), f.key)
		prior := d.sampler.base.Terms[k].Cores[p]
		last := func(values []float32) []float32 {
			if values == nil {
				return nil
			}
			return values[len(values)-size:]
		}
		g := local.Mean[(len(at.used)+i)*size:][:size]
		if c.Map != nil {
			if f.side != nil {
				f.side.Apply(b, g, c.Weight, false)
				addNoise(rng, g, f.lost)
			} else {
				copy(g, last(prior.side))
				addNoise(rng, g, last(prior.sideVar))
			}
		}
		if prior.Free == nil {
			continue
		}
		free := slices.Clone(last(prior.Free))
		if prior.FreeSpread != nil {
			addNoise(rng, free, last(prior.FreeSpread.Var))
		}
		for j, v := range free {
			if c.Variant == WLR {
				g[j] *= v
			} else {
				g[j] += v
			}
		}
	}
	return local
}
