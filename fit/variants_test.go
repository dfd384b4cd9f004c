package fit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/tt"
)

// matrix is an operator given by its entries.
type matrix struct {
	n, m int
	a    []float32
}

func (o matrix) Rows() int         { return o.n }
func (o matrix) Columns() int      { return o.m }
func (o matrix) Matrix() []float32 { return o.a }

// operator draws a table of m columns, the first of ones.
func operator(rng *rand.Rand, n, m int) matrix {
	o := matrix{n, m, make([]float32, n*m)}
	for i := range o.a {
		o.a[i] = float32(rng.NormFloat64())
		if i%m == 0 {
			o.a[i] = 1
		}
	}
	return o
}

// with gives every core of the terms named side information in a variant.
func with(t *testing.T, w world, p *Problem, v tt.Variant, coupled, norm bool, terms ...int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(4, 4))
	var ops []tt.Operator
	for _, n := range w.sizes {
		ops = append(ops, operator(rng, n, 4))
	}
	inform(t, w, p, v, ops, coupled, norm, terms...)
}

// inform gives the cores of the terms named that have one the operators of
// their modes, nil for none.
func inform(t *testing.T, w world, p *Problem, v tt.Variant, ops []tt.Operator, coupled, norm bool, terms ...int) {
	t.Helper()
	for _, k := range terms {
		for q, core := range w.grouping[k] {
			c := p.Field.Terms[k].Cores[q]
			var mine []tt.Operator
			for _, m := range core {
				mine = append(mine, ops[m])
			}
			if !slices.ContainsFunc(mine, func(o tt.Operator) bool { return o != nil }) {
				continue
			}
			m, err := tt.NewMap(c.Index, mine, c.Slices.Slice())
			if err != nil {
				t.Fatal(err)
			}
			c.Regress(v, m, nil)
			c.Coupled = coupled
			if norm {
				c.Norm = doubled
			}
		}
	}
}

type variantCase struct {
	name    string
	world   world
	variant tt.Variant
	coupled bool
	terms   []int
	group   []int
	norm    bool
}

// doubled is a norm K: twice the identity plus the mean of neighbouring rows.
func doubled(dst, x []float32) {
	for i, v := range x {
		dst[i] = 2 * v
		if i >= 4 {
			dst[i] += x[i-4] / 2
		}
		if i+4 < len(x) {
			dst[i] += x[i+4] / 2
		}
	}
}

// matrixOfTwo is a matrix of rank 4, so that doubled's neighbours are rows of W.
var matrixOfTwo = world{sizes: []int{20, 25}, grouping: [][][]int{{{0}, {1}}}, ranks: []int{4}, cells: 3000, noise: 0.2}

func variantCases() []variantCase {
	ls := world{sizes: three.sizes, grouping: [][][]int{{{0}, {1}, {2}}, {{0}, {1}, {2}}, {{0}, {1}, {2}}}, ranks: []int{2, 2, 2}, cells: 3000, noise: 0.2}
	return []variantCase{
		{"side", three, tt.Side, false, []int{0}, nil, false},
		{"wlr", three, tt.WLR, false, []int{0}, nil, false},
		{"wlr coupled", three, tt.WLR, true, []int{0}, nil, false},
		{"side, norm", three, tt.Side, false, []int{0}, nil, true},
		{"wlr coupled, norm", matrixOfTwo, tt.WLR, true, []int{0}, nil, true},
		{"additive", three, tt.Additive, false, []int{0}, nil, false},
		{"sum, wlr with joint cores", sum, tt.WLR, true, []int{0, 1}, nil, false},
		{"sum, additive with joint cores", sum, tt.Additive, false, []int{0, 1, 2}, nil, false},
		{"four, wlr", four, tt.WLR, true, []int{0}, nil, false},
		{"latent scaling", ls, tt.Side, false, []int{1}, []int{0, 0, 1}, false},
	}
}

func (c variantCase) problem(t *testing.T, weighted bool) *Problem {
	p := c.world.problem(t, 3, weighted)
	with(t, c.world, p, c.variant, c.coupled, c.norm, c.terms...)
	if p.Field.Group = c.group; c.group != nil {
		p.Field.Terms[0].AnchorAtOne()
	}
	return p
}

// No block of als raises the penalised loss, in any variant.
func TestVariantsNeverRise(t *testing.T) {
	for _, tc := range variantCases() {
		for _, kind := range []RidgeKind{Uniform, Frequency} {
			p := tc.problem(t, kind == Frequency)
			opt := defaults()
			opt.Ridge = &Ridge{kind, 0.05}
			d, err := newData(p)
			if err != nil {
				t.Fatal(err)
			}
			s := &session{d: d, opt: opt, state: &State{}}
			if err := s.fresh(); err != nil {
				t.Fatal(err)
			}
			a := newALS(d, p.Train, 4)
			a.begin(&s.state.Run, *opt.Ridge)
			objective := func() float64 {
				a.evaluateAll()
				return a.loss() + opt.Ridge.total(d.field, d.counts)
			}
			before := objective()
			for sweep := range 4 {
				for block := range a.blocks() {
					a.update(block)
					after := objective()
					if !(after <= before*(1+2e-5)) {
						t.Errorf("%s, %s: sweep %d, block %s raised the objective from %g to %g", tc.name, kind, sweep, a.blockName(block), before, after)
					}
					before = after
				}
				a.endSweep(true)
				if after := objective(); !(after <= before*(1+2e-5)) {
					t.Errorf("%s, %s: balancing raised the objective from %g to %g", tc.name, kind, before, after)
				} else {
					before = after
				}
			}
		}
	}
}

// After a block was solved to the end, no weight of it lowers the objective:
// its gradient, by central differences, is zero.
func TestVariantsReachTheMinimumOfABlock(t *testing.T) {
	for _, tc := range variantCases() {
		p := tc.problem(t, true)
		ridge := Ridge{Uniform, 0.5}
		d, err := newData(p)
		if err != nil {
			t.Fatal(err)
		}
		s := &session{d: d, opt: defaults(), state: &State{}}
		if err := s.fresh(); err != nil {
			t.Fatal(err)
		}
		a := newALS(d, p.Train, 200)
		a.begin(&s.state.Run, ridge)
		objective := func() float64 {
			for _, term := range d.field.Terms {
				for _, c := range term.Cores {
					c.Refresh(d.b, c.Map != nil)
				}
			}
			a.evaluateAll()
			return a.loss() + ridge.total(d.field, d.counts)
		}
		for i := range a.blocks() {
			a.update(i)
			at := a.block[i]
			c := d.field.Terms[at.term].Cores[at.core]
			b := c.Blocks()[at.block]
			n := len(b.Value)
			if b.Map == nil {
				n -= c.Slices.Slice()
			}
			best := objective()
			for k := 0; k < n; k += 1 + n/12 {
				for _, h := range []float32{0.02, -0.02} {
					old := b.Value[k]
					b.Value[k] = old + h
					moved := objective()
					b.Value[k] = old
					// A quadratic at its minimum: any step raises it.
					if moved < best-1e-5*math.Abs(best) {
						t.Errorf("%s, %s: weight %d moved by %g lowers the objective from %.8g to %.8g", tc.name, a.blockName(i), k, h, best, moved)
					}
				}
			}
			objective()
		}
	}
}

// Both solvers learn every variant where the side information is the truth's.
func TestVariantsLearn(t *testing.T) {
	for _, tc := range variantCases() {
		for _, solver := range []string{"als", "adam"} {
			// The targets come from a field of the same form.
			truth := tc.problem(t, false)
			rng := rand.New(rand.NewPCG(8, 8))
			for _, term := range truth.Field.Terms {
				term.Draw(truth.Backend, rng, 1)
				for _, c := range term.Cores {
					for i := range c.Weight {
						c.Weight[i] += float32(0.3 * rng.NormFloat64())
					}
					c.Refresh(truth.Backend, true)
				}
			}
			p := tc.problem(t, false)
			for _, o := range []*Observations{&p.Train, &p.Valid} {
				y := make([]float32, o.Len())
				truth.Field.Evaluate(p.Backend, y, o.Codes)
				o.Y = y
			}
			center, spread := standardise(p.Train.Y)
			for _, o := range []*Observations{&p.Train, &p.Valid} {
				for i := range o.Y {
					o.Y[i] = float32((float64(o.Y[i])-center)/spread + 0.1*rng.NormFloat64())
				}
			}
			opt := defaults()
			opt.Ridge, opt.Solver = &Ridge{Uniform, 0.1}, solver
			if solver == "adam" {
				opt.Sweeps, opt.Rate = 80, 0.03
			}
			r := solve(t, p, opt)
			if limit := 0.35; !(r.Score < limit) {
				t.Errorf("%s, %s: validation error %.3f above %.2f of the variance", tc.name, solver, r.Score, limit)
			}
		}
	}
}

// An observation whose partner is zero says nothing of a factor: it gets no
// weight, and its target no quotient.
func TestZeroPartner(t *testing.T) {
	cases := variantCases()
	p := cases[len(cases)-1].problem(t, false)
	d, err := newData(p)
	if err != nil {
		t.Fatal(err)
	}
	s := &session{d: d, opt: defaults(), state: &State{}}
	if err := s.fresh(); err != nil {
		t.Fatal(err)
	}
	a := newALS(d, p.Train, 4)
	a.begin(&s.state.Run, Ridge{Uniform, 0.1})
	a.terms[1].mean[0], a.terms[1].mean[1], a.terms[1].mean[2] = 0, 1e-30, 2
	a.leave(0)
	if a.weight[0] != 0 || a.weight[1] != 0 || a.rest[0] != 0 || a.rest[1] != 0 {
		t.Errorf("weights %v, targets %v", a.weight[:2], a.rest[:2])
	}
	if want := (d.y[2] - a.terms[2].mean[2]) / 2; a.weight[2] != 4 || a.rest[2] != want {
		t.Errorf("weight %g, target %g, want 4 and %g", a.weight[2], a.rest[2], want)
	}
}

func standardise(y []float32) (center, spread float64) {
	for _, v := range y {
		center += float64(v) / float64(len(y))
	}
	for _, v := range y {
		spread += (float64(v) - center) * (float64(v) - center) / float64(len(y))
	}
	return center, math.Sqrt(spread)
}

func ExampleRidge() {
	fmt.Println(Ridge{Frequency, 0.02})
	// Output: frequency 0.02
}

// twoWay is a term of a core and a joint core whose last mode alone has an
// operator, times copies.
func twoWay(copies int) (world, []tt.Operator) {
	w := world{sizes: []int{20, 30, 8}, cells: 6000, noise: 0.3}
	for range copies {
		w.grouping, w.ranks = append(w.grouping, [][]int{{0}, {1, 2}}), append(w.ranks, 2)
	}
	return w, []tt.Operator{nil, nil, operator(rand.New(rand.NewPCG(4, 4)), 8, 3)}
}

// No block and no balancing raises the objective where a joint core has an
// operator for one of its modes.
func TestJointOfOneOperatorNeverRises(t *testing.T) {
	w, ops := twoWay(1)
	p := w.problem(t, 3, true)
	inform(t, w, p, tt.WLR, ops, false, false, 0)
	d, err := newData(p)
	if err != nil {
		t.Fatal(err)
	}
	s := &session{d: d, opt: defaults(), state: &State{}}
	if err := s.fresh(); err != nil {
		t.Fatal(err)
	}
	ridge := Ridge{Frequency, 0.05}
	a := newALS(d, p.Train, 4)
	a.begin(&s.state.Run, ridge)
	before := math.Inf(1)
	for sweep := range 3 {
		for block := range a.blocks() + 1 {
			if block < a.blocks() {
				a.update(block)
			} else {
				a.endSweep(true)
			}
			a.evaluateAll()
			after := a.loss() + ridge.total(d.field, d.counts)
			if !(after <= before*(1+2e-5)) {
				t.Errorf("sweep %d, step %d raised the objective from %g to %g", sweep, block, before, after)
			}
			before = after
		}
	}
}

// A product of trains learns a truth that is one: it neither dies out nor leaves
// everything to the bias.
func TestLatentScalingLearnsAProduct(t *testing.T) {
	w, ops := twoWay(3)
	p := w.problem(t, 3, false)
	inform(t, w, p, tt.Side, ops, false, false, 1)
	p.Field.Group = []int{0, 0, 1}
	p.Field.Terms[0].AnchorAtOne()
	// The level of a pair of a and b, times a profile of c that depends on b.
	rng := rand.New(rand.NewPCG(2, 7))
	level, slope := make([]float64, 20), make([]float64, 30)
	for i := range level {
		level[i] = rng.NormFloat64()
	}
	for i := range slope {
		slope[i] = rng.NormFloat64()
	}
	season := ops[2].Matrix()
	for _, o := range []*Observations{&p.Train, &p.Valid} {
		for i := range o.Y {
			a, b, c := o.Codes[0][i], o.Codes[1][i], o.Codes[2][i]
			o.Y[i] = float32(level[a]*(1+slope[b]*float64(season[3*c+1])) + w.noise*rng.NormFloat64())
		}
	}
	center, spread := standardise(p.Train.Y)
	for _, o := range []*Observations{&p.Train, &p.Valid} {
		for i := range o.Y {
			o.Y[i] = float32((float64(o.Y[i]) - center) / spread)
		}
	}
	opt := defaults()
	opt.Ridge = &Ridge{Uniform, 3}
	r := solve(t, p, opt)
	if limit := 0.25; !(r.Score < limit) {
		t.Errorf("validation error %.3f above %.2f of the variance", r.Score, limit)
	}
	product := 0.0
	value := make([][]float32, 2)
	for k := range value {
		value[k] = make([]float32, p.Valid.Len())
		p.Field.EvalTerm(p.Backend, value[k], k, p.Field.NewChunk(p.Valid.Codes))
	}
	for i, v := range value[0] {
		product += math.Pow(float64(v)*float64(value[1][i]), 2) / float64(len(value[0]))
	}
	if product < 0.3 {
		t.Errorf("the product's mean square is %.3f, of a target's of 1", product)
	}
}

// A weighted regression on a table that says nothing is as good as no table,
// also where the slices of a core have little in common for V' to be near 1.
func TestConstantTableIsNoWorseThanPlain(t *testing.T) {
	w := three
	w.sizes, w.ranks, w.cells = []int{60, 50, 8}, []int{4}, 12000
	problem := func() *Problem {
		p := w.problem(t, 3, false)
		rng := rand.New(rand.NewPCG(2, 7))
		truth := w.field(t, p.Train.Codes)
		for _, c := range truth.Terms[0].Cores {
			for i := range c.Free {
				c.Free[i] = float32(0.5 + rng.NormFloat64())
			}
			c.Refresh(p.Backend, false)
		}
		for _, o := range []*Observations{&p.Train, &p.Valid} {
			o.Y = make([]float32, o.Len())
			truth.Evaluate(p.Backend, o.Y, o.Codes)
		}
		center, spread := standardise(p.Train.Y)
		for _, o := range []*Observations{&p.Train, &p.Valid} {
			for i := range o.Y {
				o.Y[i] = float32((float64(o.Y[i])-center)/spread + 0.7*rng.NormFloat64())
			}
		}
		return p
	}
	opt := defaults()
	opt.Ridge, opt.Search = nil, Search{Kinds: []RidgeKind{Uniform}}
	plain := solve(t, problem(), opt).Score
	for _, coupled := range []bool{false, true} {
		p := problem()
		var ops []tt.Operator
		for _, n := range w.sizes {
			ops = append(ops, matrix{n, 1, slices.Repeat([]float32{1}, n)})
		}
		inform(t, w, p, tt.WLR, ops, coupled, false, 0)
		if score := solve(t, p, opt).Score; score > 1.02*plain {
			t.Errorf("coupled %v: validation error %.4f, plain %.4f", coupled, score, plain)
		}
	}
}
