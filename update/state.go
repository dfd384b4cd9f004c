package update

import (
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/ledger"
	"github.com/kernel-fried-tensor/kft/likelihood"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/entity"
)

// A state holds the rows that a model took in and the blocks that they move.
type state struct {
	fitted *model.Model // with the ids of all rows
	book   *ledger.Ledger
	engine backend.Backend
	law    likelihood.Law // nil for Gaussian noise

	rows     ledger.Rows
	mean     []float64 // of the fitted field at each row
	variance []float64
	moved    []float64 // change of the mean
	target   []float64 // Gaussian observation that stands for the row
	weight   []float64 // its precision; negative for a removed row
	lost     []float64 // variance at the row that no block represents: of a curve beyond its range
	links    [][]link  // by row

	taken  []map[int32]bool // by mode: codes of the rows
	blocks []*block
	series []*seriesBlock
	sides  map[*block][]float32 // T of wlr cores
}

// A link connects a row to a slice that it moves.
type link struct {
	slot   *slot
	x      []float64
	c      []float64 // kept, as spread, if the precision of the row can change
	spread []spread
	prior  float64 // x'P^-1 x
}

// newState returns the state of a fitted model without rows.
func newState(fitted *model.Model, book *ledger.Ledger, engine backend.Backend) *state {
	s := &state{fitted: fitted, book: book, engine: engine, law: lawOf(fitted, book), taken: make([]map[int32]bool, len(fitted.Modes()))}
	for m := range s.taken {
		s.taken[m] = map[int32]bool{}
	}
	for k, t := range fitted.Field().Terms {
		for p, c := range t.Cores {
			if p != 0 && p != len(t.Cores)-1 || c.Free == nil || c.FreePosterior == nil || c.Along != nil {
				continue // the slices of a core along time depend on the rows of all periods: they stay forecasts
			}
			b := &block{term: k, core: p, r: c.Slices.Slice(), known: map[int32]*slot{}, fresh: map[string]*slot{}}
			for _, r := range book.Relations {
				if r.Term == k && r.Core == p {
					b.relations = r.Values
				}
			}
			if b.r > 1 && c.Slices.Cov == nil && b.relations == nil && c.TrainedEntities() > 0 {
				continue // its statistics were too large to keep: the core stays as it is
			}
			s.blocks = append(s.blocks, b)
		}
	}
	s.addCurves()
	for _, t := range fitted.Field().Series {
		s.series = append(s.series, &seriesBlock{term: t, known: map[int32]*seriesSlot{}, fresh: map[string]*seriesSlot{}})
	}
	return s
}

func (s *state) residual(row int32) float64 { return s.target[row] - s.mean[row] - s.moved[row] }

// add adds rows and returns the blocks that they move.
func (s *state) add(rows ledger.Rows) []mover {
	n := rows.Len()
	first := s.rows.Len()
	codes := make([][]int32, len(rows.Codes))
	for m, column := range rows.Codes {
		codes[m] = append([]int32(nil), column...)
		for _, code := range column {
			s.taken[m][code] = true
		}
	}
	s.fitted.ForgetUntrained(codes)
	z := s.fitted.Moments(s.engine, codes)
	s.rows = s.rows.Append(rows)
	for i := range n {
		s.mean, s.variance = append(s.mean, float64(z.Mean[i])), append(s.variance, float64(z.Var[i]))
		s.moved, s.target, s.weight = append(s.moved, 0), append(s.target, 0), append(s.weight, 0)
		s.lost = append(s.lost, 0)
	}
	s.links = append(s.links, make([][]link, n)...)
	designs := make([][]design, len(s.blocks))
	var touched []mover
	seen := map[mover]bool{}
	touch := func(m mover) {
		if !seen[m] {
			seen[m] = true
			touched = append(touched, m)
		}
	}
	for b, block := range s.blocks {
		if block.parts != nil {
			designs[b] = s.linkCurves(block, rows.Codes, codes, first, touch)
			continue
		}
		t := s.fitted.Field().Terms[block.term]
		entities := t.Lookup(codes)
		designs[b] = make([]design, n)
		like := sameDesign(entities, block.core)
		backend.ParallelFor(s.engine, n, func(i int) {
			if like[i] != i {
				return
			}
			designs[b][i] = designOf(t, entitiesOf(entities, i), block.core)
		})
		for i, first := range like {
			designs[b][i] = designs[b][first]
		}
		for i := range n {
			slot := s.slotAt(block, entities[block.core][i], rows.Codes, codes, i)
			if slot == nil {
				continue
			}
			d := designs[b][i]
			row := int32(first + i)
			slot.rows = append(slot.rows, slotRow{row, d.x})
			l := link{slot: slot, x: d.x}
			for k, x := range d.x {
				s.moved[row] += x * slot.delta[k]
			}
			if s.law != nil {
				l.c, l.prior = d.c, quadraticOf(slot.prior, d.x)
			}
			s.links[row] = append(s.links[row], l)
			touch(slot)
		}
	}
	for _, b := range s.series {
		entities := make([]int32, n)
		b.term.Index.Lookup(entities, codes)
		for i := range n {
			slot := b.slotAt(entities[i], rows.Codes, i)
			if slot == nil {
				continue
			}
			row := int32(first + i)
			slot.addRow(row, b.term.Steps[rows.Codes[b.term.Time][i]])
			touch(slot)
		}
	}
	s.recount(touched)
	for i := range n {
		row := int32(first + i)
		target, weight := s.site(row)
		s.target[row], s.weight[row] = target, weight
		for k, l := range s.links[row] {
			if !l.slot.block.shared {
				l.slot.add(weight, s.designAt(designs, row, first, k))
			}
		}
	}
	s.gatherShared(designs, first)
	return touched
}

// sameDesign returns, for each row, the first row with the same entities in all cores but
// one.
func sameDesign(entities [][]int32, core int) []int {
	like := make([]int, len(entities[core]))
	seen := map[string]int{}
	others := make([]int32, 0, len(entities))
	for i := range like {
		others = others[:0]
		for p, column := range entities {
			if p != core {
				others = append(others, column[i])
			}
		}
		key := keyOf(others)
		if first, ok := seen[key]; ok {
			like[i] = first
			continue
		}
		seen[key], like[i] = i, i
	}
	return like
}

// recount sets the moves of new rows of series to their current means.
func (s *state) recount(touched []mover) {
	for _, m := range touched {
		slot, ok := m.(*seriesSlot)
		if !ok {
			continue
		}
		for _, r := range slot.rows {
			if s.weight[r.row] == 0 { // new
				s.moved[r.row] += r.mean - r.start
			}
		}
	}
}

// designAt returns the design of link k of a new row.
func (s *state) designAt(designs [][]design, row int32, first, k int) design {
	want := s.links[row][k].slot.block
	for b, block := range s.blocks {
		if block == want {
			return designs[b][int(row)-first]
		}
	}
	panic("update: a link without a block")
}

// comboOf returns the codes of a row along the axes of a core, and false if one of them
// is not known: an id without a group.
func comboOf(axes []entity.Axis, codes [][]int32, row int) ([]int32, bool) {
	combo := make([]int32, len(axes))
	for i := range axes {
		combo[i] = axes[i].Of(codes[axes[i].Mode][row])
		if combo[i] < 0 {
			return nil, false
		}
	}
	return combo, true
}

// keyOf returns a key of a map for a combination.
func keyOf(combo []int32) string {
	key := make([]byte, 0, 4*len(combo))
	for _, c := range combo {
		key = append(key, byte(c), byte(c>>8), byte(c>>16), byte(c>>24))
	}
	return string(key)
}

// slotAt returns the slot of a row, nil if it moves nothing of the block. entity is that of
// the fitted core, and forgotten are the codes without those of ids that the fit knows
// nothing about.
func (s *state) slotAt(b *block, entity int32, codes, forgotten [][]int32, row int) *slot {
	c := s.fitted.Field().Terms[b.term].Cores[b.core]
	trained := int32(c.TrainedEntities())
	if entity < trained {
		if own := b.known[entity]; own != nil {
			return own
		}
		variance, cov := moving(c, s.sideOf(b, c), entity)
		own := s.newSlot(b, entity, nil, c, int(entity))
		if cov != nil {
			p := make([]float64, len(cov))
			for i, v := range cov {
				p[i] = float64(v)
			}
			own.prior = invert(p, b.r)
		} else {
			var relations []float32
			if n := b.r * (b.r - 1) / 2; b.relations != nil {
				relations = b.relations[int(entity)*n:][:n]
			}
			own.prior = precisionOf(variance, relations)
		}
		b.known[entity] = own
		return own
	}
	combo, ok := comboOf(c.Index.Axes(), codes, row)
	if !ok {
		return nil
	}
	key := keyOf(combo)
	if own := b.fresh[key]; own != nil {
		return own
	}
	described := entity != c.Index.Prior()
	_, known := comboOf(c.Index.Axes(), forgotten, row)
	if c.Map != nil && c.Variant == tt.WLR && !described && !known {
		return nil // its regression is 0
	}
	own := s.newSlot(b, -1, combo, c, int(entity))
	cov := c.UnseenCovariance(s.engine, int(entity))
	if c.Map != nil && len(c.Modes) > 1 && known && !described {
		if slice, err := c.DescribedSlice(s.engine, combo); err == nil {
			for i, v := range slice.Mean {
				own.mean[i] = float64(v)
				if slice.Var != nil {
					cov[i*b.r+i] = float64(slice.Var[i])
				} else {
					cov[i*b.r+i] = float64(slice.Cov[i*b.r+i])
				}
			}
		}
	}
	own.prior = invert(cov, b.r)
	b.fresh[key] = own
	return own
}

func (s *state) newSlot(b *block, entity int32, combo []int32, c *tt.Core, at int) *slot {
	own := &slot{block: b, entity: entity, combo: combo, mean: make([]float64, b.r), info: make([]float64, b.r*b.r), delta: make([]float64, b.r), stale: true}
	for i, v := range c.Slices.Mean[at*b.r:][:b.r] {
		own.mean[i] = float64(v)
	}
	b.slots = append(b.slots, own)
	return own
}

// sideOf returns T of a wlr core, nil for others.
func (s *state) sideOf(b *block, c *tt.Core) []float32 {
	if c.Variant != tt.WLR {
		return nil
	}
	if s.sides == nil {
		s.sides = map[*block][]float32{}
	}
	if s.sides[b] == nil {
		s.sides[b] = make([]float32, c.Slices.Len())
		c.Map.Apply(s.engine, s.sides[b], c.Weight, false)
	}
	return s.sides[b]
}

// slotAt returns the series of a row, nil if it belongs to none.
func (b *seriesBlock) slotAt(entity int32, codes [][]int32, row int) *seriesSlot {
	if entity != b.term.Index.Prior() {
		if b.known[entity] == nil {
			b.known[entity] = newSeriesSlot(b, entity, nil)
			b.slots = append(b.slots, b.known[entity])
		}
		return b.known[entity]
	}
	combo, ok := comboOf(b.term.Index.Axes(), codes, row)
	if !ok {
		return nil
	}
	key := keyOf(combo)
	if b.fresh[key] == nil {
		b.fresh[key] = newSeriesSlot(b, -1, combo)
		b.slots = append(b.slots, b.fresh[key])
	}
	return b.fresh[key]
}

func quadraticOf(precision, x []float64) float64 {
	r := len(x)
	inverse := invert(precision, r)
	sum := 0.0
	for i := range r {
		for j := range r {
			sum += x[i] * x[j] * inverse[i*r+j]
		}
	}
	return sum
}

// Passes end when no block moves by more than tolerance, in standard deviations.
const (
	tolerance   = 1e-5
	mostPasses  = 300
	localPasses = 25
	localRows   = 200
)

// relax moves blocks until none of them moves any more.
func (s *state) relax(blocks []mover, passes int) error {
	for range passes {
		most := 0.0
		for _, m := range blocks {
			size, err := m.relax(s)
			if err != nil {
				return err
			}
			most = math.Max(most, size)
		}
		if most < tolerance {
			return nil
		}
	}
	return nil
}

// all returns all blocks.
func (s *state) all() []mover {
	var out []mover
	for _, b := range s.blocks {
		for _, slot := range b.slots {
			out = append(out, slot)
		}
	}
	for _, b := range s.series {
		for _, slot := range b.slots {
			out = append(out, slot)
		}
	}
	return out
}
