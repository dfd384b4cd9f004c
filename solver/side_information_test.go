package solver

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/regression"
)

// jointCoreCase returns terms of a core and a joint core, of which only the last mode
// has an operator.
func jointCoreCase(copies int) (synthetic, []regression.Operator) {
	w := synthetic{sizes: []int{20, 30, 8}, cells: 6000, noise: 0.3}
	for range copies {
		w.grouping, w.ranks = append(w.grouping, [][]int{{0}, {1, 2}}), append(w.ranks, 2)
	}
	return w, []regression.Operator{nil, nil, operator(rand.New(rand.NewPCG(4, 4)), 8, 3)}
}

// If a joint core has an operator for one of its modes, neither a block nor balancing
// increases the objective.
func TestJointCoreNeverIncreasesObjective(t *testing.T) {
	t.Parallel()
	w, ops := jointCoreCase(1)
	p := w.problem(t, 3, true)
	addOperators(t, w, p, tt.WLR, ops, false, false, 0)
	checkDescent(t, p, Ridge{Kind: Frequency, Lambda: 0.05}, 3, 2e-5)
}

// A product of trains learns a true product. It neither vanishes nor leaves
// everything to the bias.
func TestLatentScalingLearnsProduct(t *testing.T) {
	t.Parallel()
	w, ops := jointCoreCase(3)
	p := w.problem(t, 3, false)
	addOperators(t, w, p, tt.Side, ops, false, false, 1)
	p.Field.Group = []int{0, 0, 1}
	p.Field.Terms[0].AnchorAtOne()
	// A level per id of a, times a profile of c that depends on b.
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
	opt.Ridge = &Ridge{Kind: Uniform, Lambda: 3}
	r := solve(t, p, opt)
	if limit := 0.25; !(r.Score < limit) {
		t.Errorf("got validation error %.3f, want less than %.2f", r.Score, limit)
	}
	product := 0.0
	value := make([][]float32, 2)
	for k := range value {
		value[k] = make([]float32, p.Valid.Len())
		(&tt.Field{Terms: p.Field.Terms[k : k+1]}).Evaluate(p.Backend, value[k], p.Valid.Codes)
	}
	for i, v := range value[0] {
		product += math.Pow(float64(v)*float64(value[1][i]), 2) / float64(len(value[0]))
	}
	if product < 0.3 {
		t.Errorf("the mean square of the product is %.3f, want at least 0.3", product)
	}
}

// A weighted regression on a constant table is as good as no table, even if the
// slices of a core have so little in common that V' is not near 1.
func TestConstantTableIsNoWorseThanPlain(t *testing.T) {
	t.Parallel()
	w := threeCores
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
	opt.Ridge, opt.PenaltySearch = nil, PenaltySearch{Kinds: []RidgeKind{Uniform}}
	plain := solve(t, problem(), opt).Score
	for _, coupled := range []bool{false, true} {
		p := problem()
		var ops []regression.Operator
		for _, n := range w.sizes {
			ops = append(ops, matrix{n, 1, slices.Repeat([]float32{1}, n)})
		}
		addOperators(t, w, p, tt.WLR, ops, coupled, false, 0)
		if score := solve(t, p, opt).Score; score > 1.02*plain {
			t.Errorf("coupled %v: got validation error %.4f, want at most 1.02 times the plain %.4f", coupled, score, plain)
		}
	}
}
