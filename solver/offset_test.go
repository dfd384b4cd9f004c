package solver

import (
	"context"
	"math"
	"testing"

	"github.com/kernel-fried-tensor/kft/tt"
)

// The offset absorbs the mean of the target, which a product of cores with random
// signs cannot: the weighted residuals average to zero, and the posterior variance is
// s2 / sum w.
func TestOffsetIsLearned(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		solver string
		family tt.Family
	}{{"als", tt.Point}, {"cavi", tt.MeanField}, {"adam", tt.Point}, {"adam", tt.MeanField}} {
		t.Run(tc.solver+" "+string(tc.family), func(t *testing.T) {
			t.Parallel()
			w := threeCores
			w.cells = 1500
			p := w.problem(t, 1, false)
			for i := range p.Train.Y {
				p.Train.Y[i] += 0.7
			}
			p.Offset = true
			if err := p.Field.SetFamily(tc.family); err != nil {
				t.Fatal(err)
			}
			opt := Options{Solver: tc.solver, Sweeps: 12, Patience: 12, CGSteps: 6, LearningRate: 0.02, Batch: 0.1, Schedule: Joint, Seed: 1}
			if tc.solver != "cavi" {
				opt.Ridge = &Ridge{Kind: Uniform, Lambda: 1}
			}
			if _, err := Solve(context.Background(), p, opt); err != nil {
				t.Fatal(err)
			}
			f := make([]float32, p.Train.Len())
			p.Field.Evaluate(p.Backend, f, p.Train.Codes)
			mean := 0.0
			for i, y := range p.Train.Y {
				mean += float64(y-f[i]) / float64(len(f))
			}
			if math.Abs(mean) > 5e-3 {
				t.Errorf("got a mean residual of %g, want 0", mean)
			}
			if got := p.Field.Offset.Var; (got > 0) != (tc.family != tt.Point) || got > 1e-2 {
				t.Errorf("got offset variance %g", got)
			}
		})
	}
}
