package predictive

import (
	"math"
	"testing"

	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// TestHeaped compares a heaped distribution with sums over its probabilities.
func TestHeaped(t *testing.T) {
	t.Parallel()
	cells := NewCells(targetscale.Log1p, 40)
	for _, m := range []float64{0.1, 2, 3.4, 4} {
		d := Gaussian(targetscale.Log1p, m, 0.1, 0.4).NonNegative()
		bare := d
		var h Heaped
		if !h.SetCells(&d, cells) {
			t.Fatalf("level %g: no cells", m)
		}
		for k := range h.Weight {
			if v := h.First + k; v%6 == 0 {
				h.Weight[k] *= 5
			} else if v > 6 {
				h.Weight[k] *= 0.2
			}
		}
		h.Border = 0.5
		d.Heap(&h)
		sum, crps, median := 0.0, 0.0, -1.0
		const y = 13
		for k := 0; k < 20_000; k++ {
			below, upTo := d.CDFLimits(float64(k))
			if math.Abs(below-sum) > 1e-9 || upTo < below {
				t.Fatalf("level %g: P(Y < %d) = %g, P(Y <= %d) = %g, expected %g below", m, k, below, k, upTo, sum)
			}
			if p := math.Exp(d.LogDensity(float64(k))); math.Abs(p-(upTo-below)) > 1e-12 {
				t.Fatalf("level %g: probability %g of %d, expected %g", m, p, k, upTo-below)
			}
			sum = upTo
			f := upTo
			if k >= y {
				f--
			}
			crps += f * f
			if median < 0 && upTo >= 0.5 {
				median = float64(k)
			}
		}
		if math.Abs(sum-1) > 1e-6 {
			t.Errorf("level %g: probabilities add up to %g", m, sum)
		}
		if q := d.Median(); math.Abs(q-median) > 1 || q != median && median < 40 {
			t.Errorf("level %g: median %g, expected %g", m, q, median)
		}
		if got := d.CRPS(y); math.Abs(got-crps) > 0.01*crps+0.01 {
			t.Errorf("level %g: CRPS %g, expected %g", m, got, crps)
		}
		last := -1.0
		for p := 0.01; p < 1; p += 0.01 {
			q := d.Quantile(p)
			if q < last || q != math.Trunc(q) {
				t.Errorf("level %g: quantile %g at %.2f after %g", m, q, p, last)
			}
			last = q
			// A value is inside an interval if its limits are.
			if high, low := d.IntervalLimits(q); p < 0.5 && q < 40 && low < p || p > 0.5 && q < 40 && high > p {
				t.Errorf("level %g: quantile %g at %.2f has the limits %.3f and %.3f", m, q, p, high, low)
			}
		}
		if d.Mean() != bare.Mean() {
			t.Errorf("level %g: the mean changed from %g to %g", m, bare.Mean(), d.Mean())
		}
		e := d.Evaluate(12)
		if high, low := d.IntervalLimits(12); e.Limits != [2]float64{high, low} || e.Quantiles[2] != d.Median() {
			t.Errorf("level %g: evaluation %+v", m, e)
		}
	}
	// The memory of few cells is not taken for that of more.
	var h Heaped
	d := Gaussian(targetscale.Log1p, 3, 0.1, 0.4)
	for _, n := range []int{10, 40, 60} {
		if !h.SetCells(&d, NewCells(targetscale.Log1p, n)) {
			t.Errorf("no cells of %d", n)
		}
	}
	far := Gaussian(targetscale.Log1p, 9, 0.1, 0.4)
	if h := (&Heaped{}); h.SetCells(&far, cells) {
		t.Error("cells for values that are beyond all of them")
	}
}
