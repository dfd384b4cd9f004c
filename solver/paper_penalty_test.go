package solver

import (
	"math"
	"testing"

	"github.com/kernel-fried-tensor/kft/tt"
)

// TestPaperPenalty compares the penalty of primal weighted regressions with a weight per
// core with the sum in the paper, and checks that no step of als increases the objective.
func TestPaperPenalty(t *testing.T) {
	t.Parallel()
	tc := variantCase{data: twoCores, variant: tt.WLR, terms: []int{0}}
	separate := func(f *tt.Field) {
		for p, c := range f.Terms[0].Cores {
			c.Separate, c.Penalty = true, float64(2+p)
		}
	}
	d := drawnData(t, tc)
	separate(d.field)
	ridge, want := Ridge{Kind: Paper, Lambda: 0.3}, 0.0
	for p, c := range d.field.Terms[0].Cores {
		squares := 0.0
		for _, v := range c.Free[:(c.Slices.N-1)*c.Slices.Slice()] { // without the prior's slice
			squares += float64(v) * float64(v)
		}
		for _, v := range c.Weight {
			squares += float64(v) * float64(v)
		}
		want += 0.3 * float64(2+p) * squares
	}
	rest := *d.field
	rest.Terms = rest.Terms[1:]
	want += ridge.FieldPenalty(d.b, &rest, d.entityWeights[1:])
	if got := ridge.FieldPenalty(d.b, d.field, d.entityWeights); math.Abs(got-want) > 1e-6*want {
		t.Errorf("got penalty %g, want %g", got, want)
	}
	p := tc.problem(t, false)
	separate(p.Field)
	checkDescent(t, p, ridge, 6, 2e-5)
}

// TestGivenPriorMean compares the posterior of an effect with its closed form. With noise
// s2 and prior N(mu, tau), the mean of an entity is (sum (y - offset)/s2 + mu/tau) /
// (n/s2 + 1/tau).
func TestGivenPriorMean(t *testing.T) {
	t.Parallel()
	w := synthetic{sizes: []int{12, 5}, grouping: [][][]int{{{0}}}, ranks: []int{1}, cells: 60, noise: 0.5}
	const mu, tau, s2 = 0.8, 0.4, 0.5
	p := w.problem(t, 3, false)
	if err := p.Field.SetFamily(tt.MeanField); err != nil {
		t.Fatal(err)
	}
	p.Field.SetPriorMean(mu)
	p.Valid = Observations{}
	opt := defaults()
	opt.Solver, opt.NoiseVariance, opt.PriorVariance, opt.Sweeps, opt.Patience = "cavi", s2, tau, 400, 100
	solve(t, p, opt)
	c := p.Field.Terms[0].Cores[0]
	entity := make([]int32, p.Train.Len())
	c.Index.Lookup(entity, p.Train.Codes)
	sum, count := make([]float64, c.Slices.N), make([]float64, c.Slices.N)
	for i, e := range entity {
		sum[e] += float64(p.Train.Y[i] - p.Field.Offset.Mean)
		count[e]++
	}
	for e := range c.Slices.N - 1 {
		want := (sum[e]/s2 + mu/tau) / (count[e]/s2 + 1/tau)
		if got := float64(c.Free[e]); math.Abs(got-want) > 1e-3 {
			t.Errorf("entity %d with %g rows: got mean %g, want %g", e, count[e], got, want)
		}
	}
}
