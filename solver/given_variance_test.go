package solver

import (
	"math"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/tt"
)

// Given noise and prior variances are kept, and no step decreases the bound.
func TestGivenVariances(t *testing.T) {
	t.Parallel()
	for _, tc := range posteriorCases() {
		tc.data.cells = 500
		for _, family := range []tt.Family{tt.MeanField, tt.Multivariate, tt.EntityCovariance} {
			for _, given := range [][2]float32{{0.3, 0.7}, {0.3, 0}, {0, 0.7}} {
				a := newTestCAVI(t, tc.problem(t, true), family, 6)
				a.d.givenNoise, a.d.givenPrior = given[0], given[1]
				a.d.startPosterior()
				a.evaluateAll()
				before := a.elbo()
				for range 4 {
					for i := range a.blocks() {
						a.update(i)
						a.evaluateAll()
						now := a.elbo()
						if !(now >= before-1e-5*math.Abs(before)) {
							t.Fatalf("%s %s %v: %s decreased the bound from %.6f to %.6f", tc.name, family, given, a.blockName(i), before, now)
						}
						before = now
					}
					a.endSweep(false)
					before = a.elbo()
				}
				if got := a.d.noise[0]; (got == given[0]) != (given[0] > 0) {
					t.Errorf("%s %s %v: got noise %g", tc.name, family, given, got)
				}
				for i := range a.ids {
					_, _, b := a.at(i)
					if got := b.Posterior.PriorVar[0]; (got == given[1]) != (given[1] > 0) {
						t.Errorf("%s %s %v: got prior variance %g of %s", tc.name, family, given, got, a.blockName(i))
					}
				}
			}
		}
	}
}

func TestGivenVariancesOfSolvers(t *testing.T) {
	t.Parallel()
	w := synthetic{sizes: []int{20, 25, 8}, ranks: []int{2}, cells: 2500, noise: 0.3, grouping: [][][]int{{{0}, {1}, {2}}}}
	for _, name := range []string{"cavi", "adam"} {
		p := w.problem(t, 3, false)
		if err := p.Field.SetFamily(tt.MeanField); err != nil {
			t.Fatal(err)
		}
		opt := defaults()
		opt.Solver, opt.Sweeps, opt.NoiseVariance, opt.PriorVariance = name, 6, 0.25, 2
		r := solve(t, p, opt)
		if r.Noise != 0.25 {
			t.Errorf("%s: got noise %g, want 0.25", name, r.Noise)
		}
		for _, c := range p.Field.Terms[0].Cores {
			for _, b := range c.Blocks() {
				if got := b.Posterior.PriorVar[0]; got != 2 {
					t.Errorf("%s: got prior variance %g, want 2", name, got)
				}
			}
		}
	}
	p := w.problem(t, 3, false)
	for _, wrong := range []float64{-1, math.NaN(), math.Inf(1), 1e-60} {
		opt := defaults()
		opt.NoiseVariance = wrong
		if _, err := Solve(t.Context(), p, opt); fielderr.Path(err) != "uncertainty.noise-variance" {
			t.Errorf("noise variance %g: got error %v", wrong, err)
		}
		opt.NoiseVariance, opt.PriorVariance = 0, wrong
		if _, err := Solve(t.Context(), p, opt); fielderr.Path(err) != "uncertainty.prior-variance" {
			t.Errorf("prior variance %g: got error %v", wrong, err)
		}
	}
}
