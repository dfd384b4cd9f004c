package solver

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/regression"
)

// Effects whose curves can stand in for each other reach their common optimum in one update, where sweeps over single
// blocks are still far from it.
func TestCorrelatedEffectsReachTheirOptimum(t *testing.T) {
	t.Parallel()
	a := newCorrelatedEffects(t)
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

// newCorrelatedEffects returns a posterior of curves of six modes that follow one number.
func newCorrelatedEffects(t *testing.T) *cavi {
	t.Helper()
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
	ops, terms := make([]regression.Operator, modes), make([]int, modes)
	for m := range modes {
		ops[m], terms[m] = line, m
	}
	addOperators(t, w, p, tt.Side, ops, false, false, terms...)
	return newTestCAVI(t, p, tt.MeanField, 20)
}

// The Gram matrix of effects gives the products and diagonals of passes over the observations.
func TestGramOfEffects(t *testing.T) {
	t.Parallel()
	a := newCorrelatedEffects(t)
	effects := a.newJointEffects()
	gram := a.gramOf(effects)
	if gram == nil || a.gramOf(a.newJointEffects()) != gram {
		t.Fatal("there is no Gram matrix, or it is computed again")
	}
	rng := rand.New(rand.NewPCG(4, 1))
	for _, e := range effects {
		for _, b := range e.blocks {
			for k := range b.direction {
				b.direction[k] = float32(rng.NormFloat64())
			}
		}
	}
	a.applyGram(gram, effects)
	gram.diagonal(effects)
	var got [][]float32
	for _, e := range effects {
		for _, b := range e.blocks {
			got = append(got, slices.Clone(b.image), slices.Clone(b.diagonal))
		}
	}
	a.applyEffects(effects)
	for i, e := range effects {
		b := &e.blocks[0]
		a.passEffect(e, backend.Given)
		b.Adjoint(a.d.b, b.diagonal, e.sums.Mean, true)
		for k := range b.weights {
			for j, want := range []float32{b.image[k], b.diagonal[k]} {
				if diff := math.Abs(float64(got[2*i+j][k] - want)); diff > 1e-3*(1+math.Abs(float64(want))) {
					t.Errorf("effect %d, weight %d, vector %d: got %g, want %g", i, k, j, got[2*i+j][k], want)
				}
			}
		}
	}
}
