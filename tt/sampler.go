package tt

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/tt/regression"
	"github.com/kernel-fried-tensor/kft/tt/seriesterm"
)

// A Sampler draws fields from the posterior of a field. Entities with training data
// are drawn once per field. All others are drawn when a cell needs them: unknown
// entities, combinations that did not occur, and entities added by Extend. Each has
// its own stream of random numbers, so its draw does not depend on the others.
type Sampler struct {
	base *Field // without the entities that have no training data
	seed uint64
}

// NewSampler returns the sampler of a field whose weights have variances.
func NewSampler(b backend.Backend, f *Field, seed uint64) (*Sampler, error) {
	s := &Sampler{base: &Field{Group: f.Group, Offset: f.Offset, Response: f.Response, Series: f.Series}, seed: seed}
	for _, t := range f.Terms {
		train := &Train{}
		for _, c := range t.Cores {
			core, err := c.trainedOnly(b)
			if err != nil {
				return nil, err
			}
			train.Cores = append(train.Cores, core)
		}
		s.base.Terms = append(s.base.Terms, train)
	}
	return s, nil
}

// Bytes returns the memory held by one draw.
func (s *Sampler) Bytes() int64 {
	var n int64
	for _, t := range s.base.Terms {
		for _, c := range t.Cores {
			n += int64(c.Slices.Len() + len(c.Weight))
		}
	}
	return 4 * n
}

// trainedOnly returns the core restricted to the entities with training data and
// the prior.
func (c *Core) trainedOnly(b backend.Backend) (*Core, error) {
	size, trained := c.Slices.Slice(), c.TrainedEntities()
	x, err := c.Index.First(trained)
	if err != nil {
		return nil, err
	}
	shape := c.Slices.Shape
	shape.N = trained + 1
	d := &Core{Modes: c.Modes, Index: x, Variant: c.Variant, Slices: backend.Slices{Shape: shape}, Weight: c.Weight, WeightPosterior: c.WeightPosterior, unseen: c.unseen, Along: c.Along}
	// restrict keeps the values of the trained entities and of the prior, which is last.
	restrict := func(values []float32, size int) []float32 {
		if values == nil {
			return nil
		}
		return slices.Concat(values[:trained*size], values[len(values)-size:])
	}
	d.Free = restrict(c.Free, size)
	if p := c.FreePosterior; p != nil {
		d.FreePosterior = &Posterior{Var: restrict(p.Var, size), Cov: restrict(p.Cov, size*size), PriorVar: p.PriorVar}
	}
	if c.Map == nil {
		return d, nil
	}
	if d.Map, err = regression.NewLinearMap(x, c.Map.Operators(), size); err != nil {
		return nil, err
	}
	d.side = make([]float32, d.Slices.Len())
	d.Map.Apply(b, d.side, d.Weight, false)
	d.setUntrained(b, d.side, true)
	c.copyPriorSide(d.side[trained*size:])
	if c.WeightPosterior != nil {
		d.sideVar = make([]float32, d.Slices.Len())
		d.regressionVariances(b, d.Map, d.sideVar)
		copy(d.sideVar[trained*size:], d.varianceAboutPrior(b, d.side, d.sideVar))
	}
	return d, nil
}

// copyPriorSide sets dst to T of an unknown id as the fit left it, which knew the rows of
// the entities. The T of a weighted regression cannot be told from its slices.
func (c *Core) copyPriorSide(dst []float32) {
	size := len(dst)
	switch {
	case len(c.Slices.Mean) == 0: // a core of trainedOnly
		copy(dst, c.side[len(c.side)-size:])
	case c.Variant != WLR:
		copy(dst, c.Slices.Mean[len(c.Slices.Mean)-size:])
		if c.Free != nil {
			for k, v := range c.Free[len(c.Free)-size:] {
				dst[k] -= v
			}
		}
	}
}

// A Draw is a field drawn from a posterior.
type Draw struct {
	sampler *Sampler
	field   *Field
	number  uint64
}

// Draw returns the draw with a number. The same number gives the same draw. For the
// cost see [Field.Sample].
func (s *Sampler) Draw(b backend.Backend, number int) *Draw {
	field := s.base.sampleTrained(b, randstream.New(s.seed, "draw", uint64(number)))
	for _, t := range field.Terms {
		for _, c := range t.Cores {
			c.Free, c.side = nil, nil // the slices contain them
		}
	}
	return &Draw{sampler: s, field: field, number: uint64(number)}
}

// Cells are cells prepared for the evaluation of draws.
type Cells struct {
	n      int
	terms  [][]cellSlices // by term and core
	series *seriesterm.Draws
	field  *Field // of the cells, for its series terms
}

// cellSlices locates the slice of each cell in a core.
type cellSlices struct {
	index     []int32     // by cell: the entity, or the place in used followed by untrained if that is not empty
	used      []int32     // entities with training data
	untrained []untrained // other entities
}

// untrained is an entity without training data.
type untrained struct {
	key      uint64
	side     *regression.LinearMap // its regression; nil if it has none or takes that of the prior
	residual []float32             // prior variance that the regression does not span; nil for none
	step     *int32                // of a core along time; nil if it is unknown
}

// Cells prepares cells of f, which is the field of the sampler or that field
// extended. key distinguishes entities without training data: for a cell and the
// modes of a core it returns a number that identifies the ids of these modes.
func (s *Sampler) Cells(f *Field, codes [][]int32, key func(modes []int, cell int) uint64) (*Cells, error) {
	c := &Cells{n: len(codes[0]), series: seriesterm.NewDraws(f.Series, codes, key), field: f}
	for k, t := range f.Terms {
		index := t.Lookup(codes)
		at := make([]cellSlices, len(t.Cores))
		for p, core := range t.Cores {
			var err error
			if at[p], err = core.cellSlices(s.base.Terms[k].Cores[p].Index.Prior(), codes, index[p], key); err != nil {
				return nil, err
			}
		}
		c.terms = append(c.terms, at)
	}
	return c, nil
}

func (c *Core) cellSlices(trained int32, codes [][]int32, index []int32, key func(modes []int, cell int) uint64) (cellSlices, error) {
	at := cellSlices{index: index}
	if !slices.ContainsFunc(index, func(e int32) bool { return e >= trained }) {
		return at, nil
	}
	usedAt, untrainedAt := map[int32]int32{}, map[uint64]int32{}
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
		id := c.Index.Identify(codes, cell, key)
		place, ok := untrainedAt[id]
		if !ok {
			place = int32(len(at.untrained))
			entity, err := c.untrained(id, codes, cell, e)
			if err != nil {
				return at, err
			}
			untrainedAt[id], at.untrained = place, append(at.untrained, entity)
		}
		index[cell] = -1 - place // negative until the length of used is known
	}
	for cell, place := range index {
		if place < 0 {
			index[cell] = int32(len(at.used)) - 1 - place
		}
	}
	return at, nil
}

// untrained describes the entity e of a cell that has no training data, as Evaluate
// treats it: by its regression, or by that of the prior.
func (c *Core) untrained(key uint64, codes [][]int32, cell int, e int32) (untrained, error) {
	u := untrained{key: key}
	if c.Along != nil && e != c.Index.Prior() {
		u.step = &c.Along.Of[e]
		return u, nil
	}
	if c.Map == nil || !c.Index.Known(codes, cell) || e == c.Index.Prior() && len(c.Modes) == 1 {
		return u, nil
	}
	combo := c.Index.AppendCombination(nil, codes, cell)
	// One map per entity, so that none depends on the others.
	x := c.Index.List(combo)
	var err error
	if u.side, err = regression.NewLinearMap(x, c.Map.Operators(), c.Slices.Slice()); err != nil || c.WeightPosterior == nil {
		return u, err
	}
	u.residual = make([]float32, c.Slices.Slice())
	u.side.AddResidualVariance(u.residual, float64(c.WeightPosterior.PriorVar[0]))
	return u, nil
}

// Evaluate writes the drawn field at cells to dst.
func (d *Draw) Evaluate(b backend.Backend, dst []float32, cells *Cells) {
	d.field.fillOffset(b.Threads(), dst)
	value := make([][]float32, len(d.field.Terms))
	for k, t := range d.field.Terms {
		parts, index := t.Slices(), make([][]int32, len(t.Cores))
		for p, c := range t.Cores {
			at := &cells.terms[k][p]
			index[p] = at.index
			if at.untrained != nil {
				parts[p] = d.localSlices(b, k, p, c, at)
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
	cells.series.Add(b.Threads(), cells.field.Series, d.sampler.seed, d.number, dst)
}

// localSlices returns the slices of the entities that the cells use in core p of
// term k.
func (d *Draw) localSlices(b backend.Backend, k, p int, c *Core, at *cellSlices) backend.Slices {
	shape, size := c.Slices.Shape, c.Slices.Slice()
	shape.N = len(at.used) + len(at.untrained)
	local := backend.NewSlices(shape)
	for i, e := range at.used {
		copySlice(local, i, c.Slices, int(e))
	}
	base := d.sampler.base.Terms[k].Cores[p]
	var steps []int32 // of a core along time
	var drawn [][]float32
	for i, u := range at.untrained {
		rng := randstream.New(d.sampler.seed, "entity", d.number, uint64(k), uint64(p), u.key)
		g := local.Mean[(len(at.used)+i)*size:][:size]
		if u.step != nil {
			steps, drawn = append(steps, *u.step), append(drawn, g)
			continue
		}
		if c.Map != nil {
			if u.side != nil {
				u.side.Apply(b, g, c.Weight, false)
				addNoise(rng, g, u.residual)
			} else {
				base.drawPriorSide(b, rng, g)
			}
		}
		base.drawUntrainedFree(b, rng, g)
	}
	if len(steps) > 0 {
		x := make([]float32, len(steps)*size)
		c.Along.Draw(c.paths, max(1, d.sampler.base.Response), steps, x)
		for i, g := range drawn {
			copy(g, x[i*size:])
		}
	}
	return local
}
