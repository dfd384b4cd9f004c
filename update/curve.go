package update

import (
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/cholesky"
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
func product(dst []float64, a []float32, x []float64) {
	for k, f := range a {
		for i, v := range x {
			dst[k*len(x)+i] = float64(f) * v
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
