package solver

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/tt"
)

// Effects whose curves can stand in for each other reach their common optimum in one update, where sweeps over single
// blocks are still far from it.
func TestCorrelatedEffectsReachTheirOptimum(t *testing.T) {
	t.Parallel()
	const modes, levels, rows = 6, 40, 600
	w := synthetic{sizes: make([]int, modes), grouping: make([][][]int, modes), ranks: make([]int, modes), cells: rows}
	for m := range modes {
		w.sizes[m], w.grouping[m] = levels, [][]int{{m}}
	}
	rng := rand.New(rand.NewPCG(2, 7))
	p := w.problem(t, 3, false)
	for n := range p.Train.Y { // all modes follow one number
		x := rng.IntN(levels - 3)
		p.Train.Y[n] = float32(0.4 * rng.NormFloat64())
		for m := range modes {
			p.Train.Codes[m][n] = int32(x + rng.IntN(3))
			p.Train.Y[n] += float32(m-2) * float32(p.Train.Codes[m][n]) / levels
		}
	}
	p.Field = w.field(t, p.Train.Codes)
	line := matrix{levels, 2, make([]float32, 2*levels)}
	for e := range levels {
		line.a[2*e], line.a[2*e+1] = float32(e)/levels-0.5, float32(math.Cos(float64(e)*math.Pi/levels))
	}
	ops, terms := make([]tt.Operator, modes), make([]int, modes)
	for m := range modes {
		ops[m], terms[m] = line, m
	}
	addOperators(t, w, p, tt.Side, ops, false, false, terms...)
	a := newTestCAVI(t, p, tt.MeanField, 20)
	a.fixed = true
	a.d.noise[0] = 0.1
	sweep := func() float64 {
		for i := range a.ids {
			a.update(i)
		}
		return a.elbo()
	}
	sweep()
	slow := sweep()
	a.updateJointEffects()
	joint := a.elbo()
	least := joint
	for range 500 {
		least = sweep()
	}
	if gap := least - joint; !(joint > slow+20*gap) || gap > 0.02*(least-slow)+0.5 {
		t.Errorf("got the bound %.3f after two sweeps, %.3f after one update of all effects and %.3f after 500 sweeps more", slow, joint, least)
	}
}
