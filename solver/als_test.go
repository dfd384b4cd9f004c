package solver

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/ref"
)

// No block of als increases the penalized loss.
func TestALSNeverIncreasesObjective(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]synthetic{"three": threeCores, "sum": sumOfTerms, "four": fourCores} {
		for _, kind := range []RidgeKind{Uniform, Frequency} {
			for _, weighted := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %s, weighted %v", name, kind, weighted), func(t *testing.T) {
					checkDescent(t, w.problem(t, 2, weighted), Ridge{Kind: kind, Lambda: 0.1}, 6, 1e-5)
				})
			}
		}
	}
}

// checkDescent runs sweeps of als. Neither a block nor balancing may increase the
// penalized loss, up to a relative tolerance.
func checkDescent(t *testing.T, p *Problem, ridge Ridge, sweeps int, tolerance float64) {
	t.Helper()
	d := newTestData(t, p)
	a := newALS(d, p.Train, 4)
	a.begin(drawStart(t, d, defaults()), ridge)
	objective := func() float64 {
		a.evaluateAll()
		return a.loss() + ridge.FieldPenalty(d.b, d.field, d.entityWeights)
	}
	before := objective()
	for sweep := range sweeps {
		for i := range a.blocks() + 1 {
			what := "balancing"
			if i < a.blocks() {
				what = a.blockName(i)
				a.update(i)
			} else {
				a.endSweep(true)
			}
			after := objective()
			if !(after <= before*(1+tolerance)) {
				t.Errorf("sweep %d: %s increased the objective from %g to %g", sweep, what, before, after)
			}
			before = after
		}
	}
}

// Exact solves and conjugate gradients agree with a dense ridge solution for the
// explicit design matrix.
func TestBlocksAgainstDenseRidge(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]synthetic{"three": threeCores, "four": fourCores} {
		for _, weighted := range []bool{false, true} {
			w.cells = 600
			p := w.problem(t, 3, weighted)
			d := newTestData(t, p)
			ridge := Ridge{Kind: Frequency, Lambda: 0.05}
			for core := range p.Field.Terms[0].Cores {
				run := drawStart(t, d, defaults())
				a := newALS(d, p.Train, 400)
				a.begin(run, ridge)
				want := denseRidge(p, d, core, ridge)
				a.update(core)
				c := p.Field.Terms[0].Cores[core].Slices
				for i, v := range want {
					if math.Abs(float64(c.Mean[i])-v) > 2e-3*(1+math.Abs(v)) {
						t.Errorf("%s, weighted %v, core %d: weight %d: got %g, want %g", name, weighted, core, i, c.Mean[i], v)
						break
					}
				}
			}
		}
	}
}

// denseRidge solves for one core with an explicit design matrix in float64.
func denseRidge(p *Problem, d *data, core int, ridge Ridge) []float64 {
	train := p.Field.Terms[0]
	c := train.Cores[core]
	n := c.Slices.Len() - c.Slices.Slice() // without the prior's slice
	gram, rhs := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	index := train.Lookup(p.Train.Codes)
	grad := make([]backend.Slices, len(train.Cores))
	row := backend.NewSlices(c.Slices.Shape)
	grad[core] = row
	for i, y := range p.Train.Y {
		cell := make([][]int32, len(index))
		for q := range index {
			cell[q] = index[q][i : i+1]
		}
		plan := backend.NewPlan(train.Shapes(), cell, backend.LeafFirst)
		ref.Backend{}.Pass(plan, train.Slices(), &backend.Job{Adjoint: backend.Given, Target: []float32{1}, Grad: grad})
		size := c.Slices.Slice()
		from := int(index[core][i]) * size
		wt := weightAt(d.w, i)
		for a := from; a < from+size; a++ {
			rhs.SetVec(a, rhs.AtVec(a)+wt*float64(y)*float64(row.Mean[a]))
			for b := a; b < from+size; b++ {
				gram.SetSym(a, b, gram.At(a, b)+wt*float64(row.Mean[a])*float64(row.Mean[b]))
			}
		}
	}
	for a := range n {
		gram.SetSym(a, a, gram.At(a, a)+ridge.LambdaFor(d.entityWeights[0][core][a/c.Slices.Slice()])+1e-12)
	}
	var chol mat.Cholesky
	if !chol.Factorize(gram) {
		panic("not positive definite")
	}
	var x mat.VecDense
	if err := chol.SolveVecTo(&x, rhs); err != nil {
		panic(err)
	}
	return x.RawVector().Data
}

// An observation of weight 2 equals two observations.
func TestObservationWeights(t *testing.T) {
	t.Parallel()
	p := threeCores.problem(t, 4, false)
	twice := *p
	twice.Train = Observations{Y: slices.Concat(p.Train.Y, p.Train.Y[:500])}
	for _, c := range p.Train.Codes {
		twice.Train.Codes = append(twice.Train.Codes, slices.Concat(c, c[:500]))
	}
	weighted := *p
	weighted.Train.W = make([]float32, p.Train.Len())
	for i := range weighted.Train.W {
		weighted.Train.W[i] = 1
		if i < 500 {
			weighted.Train.W[i] = 2
		}
	}
	// Weights are normalized to sum to the number of rows, so the penalty must be
	// scaled too.
	opt := defaults()
	// Conjugate gradients amplify rounding errors until they have converged.
	opt.Sweeps, opt.CGSteps = 2, 30
	twice.Field, weighted.Field = threeCores.field(t, p.Train.Codes), threeCores.field(t, p.Train.Codes)
	solve(t, &twice, opt)
	scaled := opt
	scaled.Ridge = &Ridge{Kind: Uniform, Lambda: opt.Ridge.Lambda * float64(p.Train.Len()) / float64(twice.Train.Len())}
	solve(t, &weighted, scaled)
	a, b := make([]float32, p.Valid.Len()), make([]float32, p.Valid.Len())
	twice.Field.Evaluate(p.Backend, a, p.Valid.Codes)
	weighted.Field.Evaluate(p.Backend, b, p.Valid.Codes)
	for i := range a {
		if math.Abs(float64(a[i]-b[i])) > 5e-3 {
			t.Fatalf("cell %d: got %g with duplicated rows, %g with weight 2", i, a[i], b[i])
		}
	}
}
