package solver

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/series"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/entity"
)

// factorProblem has items with weights of autoregressions of order one with the coefficient
// phi. A third of the cells and step 5 are missing.
func factorProblem(t *testing.T, steps, rank int, phi float64) *Problem {
	t.Helper()
	const items = 25
	rng := rand.New(rand.NewPCG(4, 2))
	weight, state := make([]float64, items*rank), make([]float64, rank)
	for i := range weight {
		weight[i] = rng.NormFloat64()
	}
	train := Observations{Codes: make([][]int32, 2)}
	var all []int32
	for s := range int32(steps) {
		all = append(all, s)
		for k := range state {
			state[k] = phi*state[k] + math.Sqrt(1-phi*phi)*rng.NormFloat64()
		}
		for i := range items {
			y := .3 * rng.NormFloat64()
			for k, v := range state {
				y += v * weight[i*rank+k]
			}
			if s != 5 && rng.IntN(3) > 0 {
				train.Codes[0], train.Codes[1] = append(train.Codes[0], int32(i)), append(train.Codes[1], s)
				train.Y = append(train.Y, float32(y))
			}
		}
	}
	item, err := entity.NewIndex([]int{0}, []int{items, steps}, train.Codes)
	if err != nil {
		t.Fatal(err)
	}
	time, err := entity.NewAxisIndex(1, []entity.Axis{tt.StepAxis(1, steps)}, train.Codes)
	if err == nil {
		time, err = time.Extend(1, [][]int32{nil, all})
	}
	if err != nil {
		t.Fatal(err)
	}
	f := &tt.Field{Terms: []*tt.Train{tt.NewTrain([][]string{{"item"}, {"time"}}, []*entity.Index{item, time}, []int{rank})}}
	f.Terms[0].Cores[1].SetAlong(series.Prior{Level: .1, Walk: .01, AR: .05, Phi: .8}, all)
	return &Problem{Field: f, Backend: cpu.New(cpu.Paths()[0], 1), Train: train}
}

// The update of a core along time does not decrease the bound, nor does balancing.
func TestAlongBoundNeverDecreases(t *testing.T) {
	t.Parallel()
	a := newTestCAVI(t, factorProblem(t, 60, 3, .9), tt.MeanField, 6)
	slack := func(bound float64) float64 { return 3e-6 * (math.Abs(bound) + float64(len(a.d.y))) }
	before := math.Inf(-1)
	for sweep := range 12 {
		for i := range a.blocks() {
			a.update(i)
			a.evaluateAll()
			now := a.elbo()
			// Before its first update the core has no sites, and its divergence is not defined.
			if !(now >= before-slack(before)) && (sweep > 0 || i > 1) {
				t.Errorf("sweep %d, %s: the bound decreased from %.6f to %.6f", sweep, a.blockName(i), before, now)
			}
			before = now
		}
		a.endSweep(true)
		if now := a.elbo(); math.Abs(now-before) > slack(before) {
			t.Errorf("sweep %d: balancing changed the bound from %.6f to %.6f", sweep, before, now)
		}
	}
}

// The coefficient of a factor is recovered, and a missing step lies between its
// neighbours.
func TestAlongRecoversFactor(t *testing.T) {
	t.Parallel()
	p := factorProblem(t, 400, 1, .9)
	c := p.Field.Terms[0].Cores[1]
	c.Along.Prior.Walk = 0
	c.Along.Reset()
	if err := p.Field.SetFamily(tt.MeanField); err != nil {
		t.Fatal(err)
	}
	opt := defaults()
	opt.Solver = "cavi"
	solve(t, p, opt)
	if prior := c.Along.PriorOf(0); math.Abs(prior.Phi-.9) > .06 || prior.Level > .2*prior.AR {
		t.Errorf("got %+v, want a coefficient of .9", prior)
	}
	at := func(step int) int {
		for e, s := range c.Along.Of {
			if int(s) == step {
				return e
			}
		}
		return -1
	}
	g := c.Slices
	before, missing, after := g.Mean[at(4)], g.Mean[at(5)], g.Mean[at(6)]
	if want := (before + after) / 2; math.Abs(float64(missing-want)) > .1 || !(g.Var[at(5)] > 3*g.Var[at(4)]) {
		t.Errorf("a missing step has the mean %g and the variance %g, its neighbours %g, %g and %g", missing, g.Var[at(5)], before, after, g.Var[at(4)])
	}
}
