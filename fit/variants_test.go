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
