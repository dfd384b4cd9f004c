package update

import (
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/history"
	"github.com/kernel-fried-tensor/kft/internal/cholesky"
	"github.com/kernel-fried-tensor/kft/ledger"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/tt"
)

// A part is a curve of a block: a core f = z'W whose weights move, with z = a (x) x for the row a of its
// operators and the product x of the other slices of its train.
type part struct {
	term, core int
	at         int // of its first weight among those of the block
	r          int // entries of a slice
	weights    int // of a system
}

// curveBlock returns the block of cores whose weights move together.
func curveBlock(f *tt.Field, cores [][2]int) *block {
	b := &block{known: map[int32]*slot{}, fresh: map[string]*slot{}}
	for _, at := range cores {
		c := f.Terms[at[0]].Cores[at[1]]
		p := part{term: at[0], core: at[1], at: b.r, r: c.Slices.Slice(), weights: c.Map.Columns() * c.Slices.Slice()}
		b.parts, b.r = append(b.parts, p), b.r+p.weights
	}
	return b
}

// addCurves adds the blocks of curves: those of one system, which training rows couple, together, and
// those with a curve per id, each system on its own.
func (s *state) addCurves() {
	f := s.fitted.Field()
	if cores := s.book.Curves.Cores; len(cores) > 0 {
		b := curveBlock(f, cores)
		b.shared = true
		s.blocks = append(s.blocks, b)
	}
	for _, r := range s.book.PerID {
		c := f.Terms[r.Term].Cores[r.Core]
		b := curveBlock(f, [][2]int{{r.Term, r.Core}})
		b.relations, b.systems = r.Values, map[string][]int32{}
		width := len(c.Modes)
		for e := range int32(c.TrainedEntities()) {
			key := keyOf(c.Map.System(c.Index.Combinations()[int(e)*width:][:width]))
			b.systems[key] = append(b.systems[key], e)
		}
		s.blocks = append(s.blocks, b)
	}
}

// curveDesign returns the designs of a block of curves, and the systems of the rows, nil for rows without one.
func (s *state) curveDesign(b *block, all, codes [][]int32) (designs []design, systems [][]int32) {
	n := len(codes[0])
	designs, systems = make([]design, n), make([][]int32, n)
	entities, like := make([][][]int32, len(b.parts)), make([][]int, len(b.parts))
	for k, p := range b.parts {
		entities[k] = s.fitted.Field().Terms[p.term].Lookup(codes)
		like[k] = sameDesign(entities[k], p.core)
	}
	others := make([][]design, len(b.parts))
	for k, p := range b.parts {
		others[k] = make([]design, n)
		t := s.fitted.Field().Terms[p.term]
		backend.ParallelFor(s.engine, n, func(i int) {
			if like[k][i] == i {
				others[k][i] = designOf(t, entitiesOf(entities[k], i), p.core)
			}
		})
	}
	backend.ParallelFor(s.engine, n, func(i int) {
		d := design{x: make([]float64, b.r)}
		for k, p := range b.parts {
			c := s.fitted.Field().Terms[p.term].Cores[p.core]
			combo, ok := comboOf(c.Index.Axes(), all, i)
			if !ok {
				continue
			}
			systems[i] = c.Map.System(combo)
			o := others[k][like[k][i]]
			a := c.Map.Factors(combo)
			if s.beyond(c, combo) {
				lost := c.Map.Lost(combo)
				for _, x := range o.x {
					d.lost += lost * float64(c.WeightPosterior.PriorVar[0]) * x * x
				}
			}
			product(d.x[p.at:][:p.weights], a, o.x)
			if o.c != nil {
				d.spread = append(d.spread, spread{p, combo, a, o.c})
			}
		}
		designs[i] = d
	})
	return designs, systems
}

// beyond reports whether a combination has a value of a covariate beyond the range of the fit.
func (s *state) beyond(c *tt.Core, combo []int32) bool {
	for i, a := range c.Index.Axes() {
		if a.Group == nil && s.fitted.Modes()[a.Mode].Smooth() && s.fitted.Origin(a.Mode, combo[i]) == model.FromSide {
			return true
		}
	}
	return false
}

func entitiesOf(entities [][]int32, row int) []int32 {
	own := make([]int32, len(entities))
	for p := range own {
		own[p] = entities[p][row]
	}
	return own
}

// product writes a (x) x to dst.
func product[T float32 | float64](dst []T, a []float32, x []float64) {
	for k, f := range a {
		for i, v := range x {
			dst[k*len(x)+i] = T(float64(f) * v)
		}
	}
}

// A spread is the covariance of the design of a part of a block: aa' (x) c.
type spread struct {
	part
	combo []int32
	a     []float32
	c     []float64
}

// addTo adds w times the covariance to a matrix of n columns.
func (s spread) addTo(to []float64, n int, w float64) {
	for k, f := range s.a {
		for l, g := range s.a {
			both := w * float64(f) * float64(g)
			for i := range s.r {
				row := to[(s.at+k*s.r+i)*n+s.at+l*s.r:][:s.r]
				for j, v := range s.c[i*s.r:][:s.r] {
					row[j] += both * v
				}
			}
		}
	}
}

// curveAt returns the slot of a system.
func (s *state) curveAt(b *block, system []int32) *slot {
	key := keyOf(system)
	if own := b.fresh[key]; own != nil {
		return own
	}
	own := &slot{block: b, entity: -1, combo: system, mean: make([]float64, b.r), info: make([]float64, b.r*b.r), delta: make([]float64, b.r), prior: make([]float64, b.r*b.r), stale: true}
	for _, p := range b.parts {
		c := s.fitted.Field().Terms[p.term].Cores[p.core]
		for k, row := range c.Map.SystemRows(system) {
			for i := range p.r {
				own.mean[p.at+k*p.r+i] = float64(c.Weight[row*p.r+i])
			}
		}
		for i := range p.weights {
			own.prior[(p.at+i)*b.r+p.at+i] = 1 / math.Max(float64(c.WeightPosterior.PriorVar[0]), leastVariance)
		}
	}
	switch entities := b.systems[key]; {
	case b.shared:
		own.entity = 0
		at := 0
		for i := range b.r {
			for j := range i + 1 {
				v := float64(s.book.Curves.Values[at])
				own.prior[i*b.r+j] += v
				if at++; i != j {
					own.prior[j*b.r+i] += v
				}
			}
		}
	case entities != nil:
		own.entity = entities[0]
		p := b.parts[0]
		c := s.fitted.Field().Terms[p.term].Cores[p.core]
		width := len(c.Modes)
		for _, e := range entities {
			combo := c.Index.Combinations()[int(e)*width:][:width]
			spread{p, combo, c.Map.Factors(combo), []float64{1}}.addTo(own.prior, b.r, float64(b.relations[e]))
		}
	}
	own.prior = definite(own.prior, b.r)
	b.fresh[key] = own
	b.slots = append(b.slots, own)
	return own
}

// definite returns a matrix whose diagonal is raised until it is positive definite.
func definite(p []float64, r int) []float64 {
	for share := 1e-7; !cholesky.Factor(slices.Clone(p), r); share *= 10 {
		for i := range r {
			p[i*r+i] *= 1 + share
		}
	}
	return p
}

// linkCurves links rows to the curves that they move, and returns their designs.
func (s *state) linkCurves(b *block, all, codes [][]int32, first int, touch func(mover)) []design {
	designs, systems := s.curveDesign(b, all, codes)
	for i, d := range designs {
		s.lost[first+i] += d.lost
		if !slices.ContainsFunc(d.x, func(x float64) bool { return x != 0 }) {
			continue // a missing value, of which the fit had none
		}
		own, row := s.curveAt(b, systems[i]), int32(first+i)
		if own.entity < 0 {
			s.forgetAverage(b, row)
		}
		own.rows = append(own.rows, slotRow{row, d.x})
		l := link{slot: own, x: d.x}
		for k, x := range d.x {
			s.moved[row] += x * own.delta[k]
		}
		if s.law != nil {
			if l.spread = d.spread; !b.shared {
				l.prior = quadraticOf(own.prior, d.x)
			}
		}
		s.links[row] = append(s.links[row], l)
		touch(own)
	}
	return designs
}

// curveOf returns the block with a core, and its part, nil if it has none.
func (s *state) curveOf(term, core int) (*block, part) {
	for _, b := range s.blocks {
		for _, p := range b.parts {
			if p.term == term && p.core == core {
				return b, p
			}
		}
	}
	return nil, part{}
}

// forgetAverage takes what a core adds to the mean of a row out: the average curve, for an id that gets its own.
func (s *state) forgetAverage(b *block, row int32) {
	c := s.fitted.Field().Terms[b.parts[0].term].Cores[b.parts[0].core]
	s.mean[row] -= float64(c.Slices.Mean[len(c.Slices.Mean)-1])
}

// updatedCurve returns a core with the weights of its slots.
func (s *state) updatedCurve(b *block, p part) *tt.Core {
	c := s.fitted.Field().Terms[p.term].Cores[p.core]
	if len(b.slots) == 0 {
		return c
	}
	weight, variance := slices.Clone(c.Weight), slices.Clone(c.WeightPosterior.Var)
	for _, own := range b.slots {
		for k, row := range c.Map.SystemRows(own.combo) {
			for i := range p.r {
				at, in := row*p.r+i, p.at+k*p.r+i
				weight[at] = float32(own.mean[in] + own.delta[in])
				variance[at] = float32(1 / math.Max(1/math.Max(float64(variance[at]), leastVariance)+own.info[in*b.r+in], leastVariance))
			}
		}
	}
	var rows []float32
	if axes := c.Index.Axes(); len(axes) == 1 {
		for _, code := range c.Index.Combinations() {
			rows = append(rows, float32(s.fitted.TrainingRows(axes[0].Mode, code)))
		}
	}
	return c.WithWeights(s.engine, weight, variance, rows)
}

// Limits of the curves that move together: their weights, and the training rows per weight that their statistics are
// computed from, about, which leave an error of a tenth.
const (
	mostCurves    = 640
	rowsPerWeight = 100
	curveChunk    = 4096
	curveHashing  = 0x9e3779b97f4a7c15
)

// curves returns the statistics of the curves of a model: of those that all rows move together, and of curves per id.
func curves(b backend.Backend, m *model.Model, rows Observed, noise float64) (together ledger.Curves, perID []ledger.Relation) {
	f := m.Field()
	var single [][2]int
	weights := func(at [2]int) int {
		c := f.Terms[at[0]].Cores[at[1]]
		return c.Map.Columns() * c.Slices.Slice()
	}
	for k, t := range f.Terms {
		for p, c := range t.Cores {
			switch {
			case p != 0 && p != len(t.Cores)-1 || !c.Curve() || !history.Smooth(c.Index.Axes(), m.Modes()):
			case c.Map.Systems() == 1:
				single = append(single, [2]int{k, p})
			case len(t.Cores) == 1 && c.Map.Columns() <= mostCurves:
				perID = append(perID, ledger.Relation{Term: k, Core: p, Values: precisions(c, rows, noise)})
			}
		}
	}
	slices.SortStableFunc(single, func(a, b [2]int) int { return weights(a) - weights(b) })
	q := 0
	for i, at := range single {
		if q+weights(at) > mostCurves {
			single = single[:i]
			break
		}
		q += weights(at)
	}
	if q == 0 {
		return ledger.Curves{}, perID
	}
	slices.SortFunc(single, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	s := &state{fitted: m, engine: b}
	return ledger.Curves{Cores: single, Values: s.coupled(curveBlock(f, single), rows, noise)}, perID
}

// precisions returns the sum of the precisions of the training rows of each entity of a core.
func precisions(c *tt.Core, rows Observed, noise float64) []float32 {
	sums := make([]float64, c.Index.Entities())
	n := len(rows.Y)
	column := make([]int32, min(n, curveChunk))
	for from := 0; from < n; from += len(column) {
		column = column[:min(len(column), n-from)]
		c.Index.LookupFrom(column, rows.Codes, from)
		for i, e := range column {
			w := 1.0
			if rows.Weight != nil {
				w = float64(rows.Weight[from+i])
			}
			sums[e] += w / noise
		}
	}
	out := make([]float32, c.TrainedEntities())
	for e := range out {
		out[e] = float32(sums[e])
	}
	return out
}

// coupled returns the lower triangle of 1/s2 sum_n w_n (z z' + C) over the training rows, or over a random
// share of them if they are many.
func (s *state) coupled(b *block, rows Observed, noise float64) []float32 {
	n, q := len(rows.Y), b.r
	share := uint64(n / (rowsPerWeight * q))
	var chosen []int32
	all, sum := 0.0, 0.0
	for i := range n {
		w := 1.0
		if rows.Weight != nil {
			w = float64(rows.Weight[i])
		}
		all += w
		if h := uint64(i+1) * curveHashing; share < 2 || (h^h>>29)*curveHashing>>32%share == 0 {
			chosen = append(chosen, int32(i))
			sum += w
		}
	}
	total := make([]float64, q*q)
	for from := 0; from < len(chosen); from += curveChunk {
		part := chosen[from:min(from+curveChunk, len(chosen))]
		codes := make([][]int32, len(rows.Codes))
		for m, column := range rows.Codes {
			codes[m] = make([]int32, len(part))
			for i, row := range part {
				codes[m][i] = column[row]
			}
		}
		designs, _ := s.curveDesign(b, codes, codes)
		gram(s.engine, total, designs, func(i int) float64 {
			if rows.Weight == nil {
				return 1
			}
			return float64(rows.Weight[part[i]])
		})
	}
	factor := all / math.Max(sum, math.SmallestNonzeroFloat32) / noise
	values := make([]float32, 0, q*(q+1)/2)
	for i := range q {
		for j := range i + 1 {
			values = append(values, float32(factor*total[i*q+j]))
		}
	}
	return values
}

// gatherShared adds the rows from first on, whose weights are known, to the slots of curves that all rows move.
func (s *state) gatherShared(designs [][]design, first int) {
	for b, block := range s.blocks {
		if block.shared && len(block.slots) > 0 {
			gram(s.engine, block.slots[0].info, designs[b], func(i int) float64 { return s.weight[first+i] })
			block.slots[0].stale = true
		}
	}
}

// regather computes the slots of curves that all rows move again, after the weights of rows have changed.
func (s *state) regather() {
	for _, block := range s.blocks {
		if !block.shared || len(block.slots) == 0 {
			continue
		}
		own := block.slots[0]
		designs := make([]design, len(own.rows))
		for i, at := range own.rows {
			designs[i].x = at.x
			for _, l := range s.links[at.row] {
				if l.slot == own {
					designs[i].spread = l.spread
				}
			}
		}
		clear(own.info)
		gram(s.engine, own.info, designs, func(i int) float64 { return s.weight[own.rows[i].row] })
		own.stale = true
	}
}

// gram adds sum_n w_n (z z' + C) over designs to dst.
func gram(b backend.Backend, dst []float64, designs []design, weight func(i int) float64) {
	q := len(designs[0].x)
	sum, spreads := make([]float32, q*q), spreadSums{at: map[string]int{}}
	z, scaled := make([]float32, min(len(designs), curveChunk)*q), make([]float32, min(len(designs), curveChunk)*q)
	for from := 0; from < len(designs); from += curveChunk {
		part := designs[from:min(from+curveChunk, len(designs))]
		backend.ParallelFor(b, len(part), func(i int) {
			w := weight(from + i)
			for k, v := range part[i].x {
				z[i*q+k], scaled[i*q+k] = float32(v), float32(w*v)
			}
		})
		b.Gemm(true, false, q, q, len(part), 1, z, q, scaled, q, 0, sum, q)
		for k, v := range sum {
			dst[k] += float64(v)
		}
		for i, d := range part {
			for _, c := range d.spread {
				spreads.add(c, weight(from+i))
			}
		}
	}
	for _, c := range spreads.all {
		c.addTo(dst, q, 1)
	}
}

// spreadSums are sums of the covariances of designs, by part and combination.
type spreadSums struct {
	at  map[string]int
	all []spread
}

func (s *spreadSums) add(c spread, w float64) {
	key := keyOf(append([]int32{int32(c.at)}, c.combo...))
	i, known := s.at[key]
	if !known {
		i = len(s.all)
		s.at[key] = i
		s.all = append(s.all, spread{c.part, c.combo, c.a, make([]float64, len(c.c))})
	}
	for k, v := range c.c {
		s.all[i].c[k] += w * v
	}
}
