package fit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/tt"
)

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
