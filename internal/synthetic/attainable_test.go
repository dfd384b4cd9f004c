package synthetic

import (
	"math"
	"testing"
)

// With more training rows the best estimate comes closer to the truth; without any it
// has the side information alone.
func TestAttainableFromRows(t *testing.T) {
	t.Parallel()
	shape, err := NewShape("retail", 60_000)
	if err != nil {
		t.Fatal(err)
	}
	set, err := NewSet(shape, 1)
	if err != nil {
		t.Fatal(err)
	}
	last := math.Inf(-1)
	for _, training := range []float64{0, 0.3, 0.6, 0.9} {
		a := set.Attainable(true, training)
		if a.EstimateLog <= last || a.EstimateLog >= a.TruthLog || a.Estimate >= a.Truth {
			t.Errorf("%g of the rows: got %+v, want an R2 of log1p between %g and the truth", training, a, last)
		}
		last = a.EstimateLog
	}
	owners, items := set.Attainable(false, 0.6), set.Attainable(true, 0.6)
	if owners.TruthLog-owners.EstimateLog > (items.TruthLog-items.EstimateLog)/4 {
		t.Errorf("got a loss of %g for owners and %g for items, want far less for the owners, which have many rows each", owners.TruthLog-owners.EstimateLog, items.TruthLog-items.EstimateLog)
	}
}
