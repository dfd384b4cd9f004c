package calibrate_test

import (
	"math"
	"testing"

	"github.com/kernel-fried-tensor/kft/calibrate"
	"github.com/kernel-fried-tensor/kft/likelihood"
)

// A field that knows nothing, or less, is answered all the same: quantiles rise
// and end where counts do.
func TestFieldsWithoutBounds(t *testing.T) {
	for _, law := range []calibrate.CountLaw{likelihood.Poisson{}, likelihood.NegativeBinomial{Size: 60}} {
		for _, f := range [][2]float64{{21, 154}, {-26, 70}, {33, 1}, {300, 1}, {800, 4}, {-800, 4}, {0, 1e4}} {
			p := calibrate.Count(law, f[0], f[1])
			var q [5]float64
			p.Quantiles(q[:], []float64{.001, .05, .5, .95, .999})
			last := 0.0
			for _, v := range q {
				if !(v >= last && v < 2e15) {
					t.Errorf("%T, f ~ N(%g, %g): quantiles %g", law, f[0], f[1], q)
					break
				}
				last = v
			}
			if crps := p.CRPS(3); math.IsNaN(crps) || crps < 0 {
				t.Errorf("%T, f ~ N(%g, %g): CRPS %g", law, f[0], f[1], crps)
			}
		}
	}
}
