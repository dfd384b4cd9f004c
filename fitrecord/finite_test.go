package fitrecord

import (
	"math"
	"testing"
)

// A record holds no infinite numbers: candidates whose distributions have no mean have no CRPS in it.
func TestFinite(t *testing.T) {
	t.Parallel()
	for _, crps := range []float64{math.Inf(1), math.NaN()} {
		if got := Finite(crps); got != nil {
			t.Errorf("got %g for %g, want none", *got, crps)
		}
	}
	if got := Finite(2); got == nil || *got != 2 {
		t.Errorf("got %v, want 2", got)
	}
}
