package solver

import (
	"fmt"
	"math"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/tt"
)

// passesOnly is a backend without equations of the middle core.
type passesOnly struct{ backend.Backend }

// The equations of the middle core, slice by slice, give the weights and variances that passes give, up to rounding.
func TestSolveMiddle(t *testing.T) {
	t.Parallel()
	for _, rank := range []int{2, 5, 12} {
		for _, weighted := range []bool{false, true} {
			t.Run(fmt.Sprintf("rank=%d/weighted=%v", rank, weighted), func(t *testing.T) {
				w := threeCores
				w.sizes, w.ranks = []int{20, 40, 8}, []int{rank}
				update := func(open func(b backend.Backend) backend.Backend) (value, variance []float32, passes int) {
					p := w.problem(t, 4, weighted)
					p.Backend = open(p.Backend)
					a := newTestCAVI(t, p, tt.MeanField, 3) // with more steps, rounding errors of the start become visible
					for i, at := range a.ids {
						if at.core == 1 {
							before := a.d.passes
							a.update(i)
							_, _, b := a.at(i)
							value, variance, passes = b.Value, b.Posterior.Var, a.d.passes-before
						}
					}
					return value, variance, passes
				}
				got, variance, few := update(func(b backend.Backend) backend.Backend { return b })
				want, wantVariance, many := update(func(b backend.Backend) backend.Backend { return passesOnly{b} })
				if few >= many {
					t.Fatalf("%d passes instead of %d", few, many)
				}
				for i, v := range want {
					if math.Abs(float64(got[i]-v)) > 1e-3 {
						t.Fatalf("weight %d is %g, by passes %g", i, got[i], v)
					}
					if s := wantVariance[i]; math.Abs(float64(variance[i]/s)-1) > 1e-4 {
						t.Fatalf("variance %d is %g, by passes %g", i, variance[i], s)
					}
				}
			})
		}
	}
}
