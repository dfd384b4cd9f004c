package update

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/cholesky"
	"github.com/kernel-fried-tensor/kft/ledger"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/series"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/entity"
	"github.com/kernel-fried-tensor/kft/tt/regression"
	"github.com/kernel-fried-tensor/kft/tt/seriesterm"
)

// model returns the fitted model with what the rows changed. It copies the cores and
// series that moved.
func (s *state) model() (*model.Model, error) {
	fitted := s.fitted
	book := *s.book
	book.Rows = s.rows.Clip()
	if s.rows.Len() == 0 {
		book.Rows = ledger.Rows{}
		return fitted.WithLedger(&book), nil
	}
	dicts := fitted.Dicts()
	sizes := make([]int, len(dicts))
	for m, d := range dicts {
		sizes[m] = d.Len()
	}
	u := model.Updated{Ledger: &book, Series: fitted.Series()}
	u.Rows, u.Means = s.counts(sizes)
	if p := fitted.Series(); p != nil {
		u.Series = p.With(fitted.Modes(), func(mode int) []string { return dicts[mode].IDs() }, s.rows.Codes, s.rows.Y, s.signs())
		u.Blend = fitted.Blend().With(u.Series, s.rows.Codes, s.rows.Y, s.signs())
	}
	field := *fitted.Field()
	field.Terms = nil
	for k, t := range fitted.Field().Terms {
		train := &tt.Train{Cores: slices.Clone(t.Cores)}
		for p, c := range t.Cores {
			if b, at := s.curveOf(k, p); b != nil {
				train.Cores[p] = s.updatedCurve(b, at)
				continue
			}
			axes, operators := fitted.UpdatedAxes(c.Modes, sizes)
			updated, err := updatedCore(s.engine, c, axes, operators, s.slotsOf(k, p))
			if err != nil {
				return nil, err
			}
			train.Cores[p] = updated
		}
		field.Terms = append(field.Terms, train)
	}
	field.Series = nil
	for _, b := range s.series {
		axes, _ := fitted.UpdatedAxes(b.term.Modes, sizes)
		updated, err := b.updated(axes)
		if err != nil {
			return nil, err
		}
		field.Series = append(field.Series, updated)
	}
	u.Field = &field
	return fitted.WithUpdate(u)
}

func (s *state) slotsOf(term, core int) []*slot {
	for _, b := range s.blocks {
		if b.parts == nil && b.term == term && b.core == core {
			return b.slots
		}
	}
	return nil
}

func (s *state) signs() func(i int) int {
	return func(i int) int { return int(s.rows.Sign(i)) }
}

// counts returns the numbers of training rows and their mean targets, by mode and code,
// with the rows of the ledger.
func (s *state) counts(sizes []int) ([][]int32, [][]float64) {
	rows, means := make([][]int32, len(sizes)), make([][]float64, len(sizes))
	known := true
	for m, n := range sizes {
		rows[m], means[m] = make([]int32, n), make([]float64, n)
		for code := range int32(n) {
			rows[m][code] = int32(s.fitted.TrainingRows(m, code))
			mean, ok := s.fitted.Observed(m, code)
			means[m][code] = mean * float64(rows[m][code])
			known = known && (ok || rows[m][code] == 0)
		}
		for i, code := range s.rows.Codes[m] {
			sign := s.rows.Sign(i)
			rows[m][code] = max(rows[m][code]+int32(sign), 0)
			means[m][code] += sign * s.rows.Y[i]
		}
		for code, n := range rows[m] {
			if n > 0 {
				means[m][code] /= float64(n)
			} else {
				means[m][code] = 0
			}
		}
	}
	if !known {
		return rows, nil
	}
	return rows, means
}

// updatedCore returns a core with moved slices. Entities with training data keep their
// order and are followed by those that rows gave data, then by the others.
func updatedCore(b backend.Backend, c *tt.Core, axes []entity.Axis, operators []regression.Operator, slots []*slot) (*tt.Core, error) {
	same := slices.EqualFunc(axes, c.Index.Axes(), func(a, b entity.Axis) bool { return a.Size == b.Size })
	if len(slots) == 0 && same {
		return c, nil
	}
	width, trained := len(axes), c.TrainedEntities()
	combos := c.Index.Combinations()
	var fresh []*slot
	isFresh := map[string]bool{}
	for _, s := range slots {
		if s.entity < 0 {
			fresh = append(fresh, s)
			isFresh[keyOf(s.combo)] = true
		}
	}
	slices.SortFunc(fresh, func(a, b *slot) int { return slices.Compare(a.combo, b.combo) })
	order := make([]int, 0, c.Slices.N+len(fresh)) // entity of the fitted core, -1 for a fresh one
	all := slices.Clone(combos[:trained*width])
	for e := range trained {
		order = append(order, e)
	}
	for _, s := range fresh {
		order = append(order, -1)
		all = append(all, s.combo...)
	}
	for e := trained; e < c.Slices.N-1; e++ {
		if combo := combos[e*width:][:width]; !isFresh[keyOf(combo)] {
			order = append(order, e)
			all = append(all, combo...)
		}
	}
	order = append(order, c.Slices.N-1)
	d := *c
	if len(fresh) > 0 || !same {
		var err error
		if d.Index, err = entity.RestoreAxisIndex(axes, all); err != nil {
			return nil, err
		}
	}
	size := c.Slices.Slice()
	gather := func(values []float32, size int) []float32 {
		if values == nil {
			return nil
		}
		out := make([]float32, len(order)*size)
		for i, e := range order {
			if e >= 0 {
				copy(out[i*size:][:size], values[e*size:])
			}
		}
		return out
	}
	d.Slices.N = len(order)
	d.Slices.Mean, d.Slices.Var, d.Slices.Cov = gather(c.Slices.Mean, size), gather(c.Slices.Var, size), gather(c.Slices.Cov, size*size)
	at := func(s *slot) int { return int(s.entity) }
	if len(fresh) > 0 {
		place := map[*slot]int{}
		for i, s := range fresh {
			place[s] = trained + i
		}
		at = func(s *slot) int {
			if s.entity >= 0 {
				return int(s.entity)
			}
			return place[s]
		}
	}
	free := freeWeights(c, trained, len(fresh))
	if c.Map != nil {
		d.Trained = make([]bool, len(order))
		for e := range trained + len(fresh) {
			d.Trained[e] = true
		}
		var err error
		if d.Map, err = regression.NewLinearMap(d.Index, operators, size); err != nil {
			return nil, err
		}
		free.side = make([]float32, d.Slices.Len())
		d.Map.Apply(b, free.side, d.Weight, false)
	}
	for _, s := range slots {
		s.write(&d, free, at(s))
	}
	free.set(&d)
	return &d, nil
}

// freeParts are the free weights of a core with their posterior: those of the trained
// entities, of fresh ones, and of the average.
type freeParts struct {
	mean, variance, cov []float32 // nil for a core without
	side                []float32 // T of the updated core; nil for a plain one
}

func freeWeights(c *tt.Core, trained, fresh int) *freeParts {
	f := &freeParts{}
	if c.Map == nil || c.Free == nil {
		return f
	}
	size := c.Slices.Slice()
	cut := func(values []float32, size int) []float32 {
		if values == nil {
			return nil
		}
		return slices.Concat(values[:trained*size], make([]float32, fresh*size), values[len(values)-size:])
	}
	f.mean = cut(c.Free, size)
	if p := c.FreePosterior; p != nil {
		f.variance, f.cov = cut(p.Var, size), cut(p.Cov, size*size)
	}
	return f
}

// set gives the free weights to an updated core.
func (f *freeParts) set(c *tt.Core) {
	if c.FreePosterior == nil {
		return
	}
	posterior := *c.FreePosterior
	c.FreePosterior = &posterior
	if c.Map == nil {
		c.Free, posterior.Cov = c.Slices.Mean, c.Slices.Cov
		if posterior.Var = c.Slices.Var; posterior.Var == nil {
			posterior.Var = make([]float32, c.Slices.Len())
			c.FillVariances()
		}
		return
	}
	c.Free, posterior.Var, posterior.Cov = f.mean, f.variance, f.cov
}

// write sets slice e of an updated core to the posterior of a slot.
func (s *slot) write(c *tt.Core, free *freeParts, e int) {
	r := s.block.r
	inverse := make([]float64, r*r)
	cholesky.Inverse(s.factor, r, inverse)
	for i := range r {
		at := e*r + i
		c.Slices.Mean[at] = float32(s.mean[i] + s.delta[i])
		own := s.varianceOf(inverse, i)
		rest := 0.0 // variance of the regression
		if free.mean != nil {
			rest = s.regress(c, free, e, i, own)
		}
		if c.Slices.Var != nil {
			c.Slices.Var[at] = float32(own + rest)
			continue
		}
		for j := range r {
			c.Slices.Cov[at*r+j] = float32(inverse[i*r+j])
		}
		c.Slices.Cov[at*r+i] += float32(rest)
	}
}

// varianceOf returns the variance of entry i of a slice with independent entries: that of
// the entry given the others, 1/P_ii, as in a fit, and for a fresh slice, whose entries
// hang together by few rows, its own.
func (s *slot) varianceOf(inverse []float64, i int) float64 {
	r := s.block.r
	if s.entity < 0 {
		return inverse[i*r+i]
	}
	return 1 / (s.prior[i*r+i] + s.info[i*r+i])
}

// regress sets the free weight of entry i of slice e, whose part of the variance is own, and
// returns the rest of the variance of the slice.
func (s *slot) regress(c *tt.Core, free *freeParts, e, i int, own float64) float64 {
	r := s.block.r
	at := e*r + i
	t := float64(free.side[at])
	g := s.mean[i] + s.delta[i]
	rest := 0.0
	if s.entity >= 0 && c.Slices.Var != nil {
		rest = max(float64(c.Slices.Var[at])-1/s.prior[i*r+i], 0)
	}
	value, variance := g-t, own
	if c.Variant == tt.WLR {
		value, variance = 0, 0
		if t != 0 {
			value, variance = g/t, own/(t*t)
		}
	}
	free.mean[at], free.variance[at] = float32(value), float32(variance)
	if free.cov != nil {
		free.cov[at*r+i] = float32(variance)
	}
	return rest
}

// updated returns the series term with the sites of its rows.
func (b *seriesBlock) updated(axes []entity.Axis) (*seriesterm.Term, error) {
	t := *b.term
	same := slices.EqualFunc(axes, t.Index.Axes(), func(a, b entity.Axis) bool { return a.Size == b.Size })
	if len(b.slots) == 0 && same {
		return b.term, nil
	}
	var fresh []*seriesSlot
	for _, s := range b.slots {
		if s.entity < 0 {
			fresh = append(fresh, s)
		}
	}
	slices.SortFunc(fresh, func(a, b *seriesSlot) int { return slices.Compare(a.combo, b.combo) })
	if len(fresh) > 0 || !same {
		combos := slices.Clone(t.Index.Combinations())
		for _, s := range fresh {
			combos = append(combos, s.combo...)
		}
		var err error
		if t.Index, err = entity.RestoreAxisIndex(axes, combos); err != nil {
			return nil, err
		}
	}
	old := b.term.Process
	p := &series.Process{Prior: old.Prior, Scale: slices.Concat(old.Scale, old.Prior.NewScales(len(fresh))), Start: make([]int32, 0, len(old.Start)+len(fresh))}
	room := len(old.Step) + len(b.slots)
	p.Step, p.Value, p.Precision = make([]int32, 0, room), make([]float32, 0, room), make([]float32, 0, room)
	put := func(sites []series.Point) {
		for _, site := range sites {
			p.Step, p.Value, p.Precision = append(p.Step, site.Step), append(p.Value, float32(site.Value)), append(p.Precision, float32(site.Precision))
		}
	}
	for e := range int32(old.Series()) {
		p.Start = append(p.Start, int32(len(p.Step)))
		if s := b.known[e]; s != nil {
			put(s.sites)
			continue
		}
		from, to := old.Start[e], old.Start[e+1]
		p.Step, p.Value, p.Precision = append(p.Step, old.Step[from:to]...), append(p.Value, old.Value[from:to]...), append(p.Precision, old.Precision[from:to]...)
	}
	for _, s := range fresh {
		p.Start = append(p.Start, int32(len(p.Step)))
		put(s.sites)
	}
	p.Start = append(p.Start, int32(len(p.Step)))
	for _, s := range b.slots {
		for _, r := range s.rows {
			t.Default = max(t.Default, r.step)
		}
	}
	t.Process = p
	return &t, nil
}

// replay returns a state with all rows of a ledger.
func replay(fitted *model.Model, book *ledger.Ledger, engine backend.Backend) (*state, error) {
	s := newState(fitted, book, engine)
	if book.Rows.Len() == 0 {
		return s, nil
	}
	s.add(book.Rows)
	return s, s.finish()
}

// finish moves all blocks to their joint optimum.
func (s *state) finish() error {
	rows := make([]int32, s.rows.Len())
	for i := range rows {
		rows[i] = int32(i)
	}
	return s.settle(s.all(), rows, mostPasses)
}
