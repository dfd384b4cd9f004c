package conformal

import (
	"math"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

// Rows of the same size whose scores are wider where the spread is large are covered at
// their level only if they are grouped by spread too.
func TestBySpread(t *testing.T) {
	t.Parallel()
	const n = 20_000
	rng := randstream.New(5, "spread")
	var z, location, spread []float64
	for range 2 * n {
		s := 1 + rng.Float64()
		location, spread = append(location, rng.NormFloat64()), append(spread, s)
		z = append(z, rng.NormFloat64()*math.Pow(s, 3))
	}
	mean, err := NewByMean(2, z[:n], location[:n], 10)
	if err != nil {
		t.Fatal(err)
	}
	both, err := NewBySpread(nil, 2, z[:n], location[:n], spread[:n], 10, 5)
	if err != nil {
		t.Fatal(err)
	}
	if both.Groups() != 50 {
		t.Errorf("got %d groups, want 50", both.Groups())
	}
	narrow := func(c *Correction) float64 { // coverage of 90 % intervals where the spread is small
		hits, rows := 0.0, 0.0
		for i := n; i < 2*n; i++ {
			if spread[i] > 1.2 {
				continue
			}
			rows++
			if own := c.scores(location[i], spread[i], 0); own.Quantile(.05) <= z[i] && z[i] <= own.Quantile(.95) {
				hits++
			}
		}
		return hits / rows
	}
	if got := narrow(mean); got < 0.95 {
		t.Errorf("by mean: got a coverage of %.3f where the spread is small, want far more than 0.9", got)
	}
	if got := narrow(both); math.Abs(got-0.9) > 0.02 {
		t.Errorf("by mean and spread: got a coverage of %.3f where the spread is small, want about 0.9", got)
	}
	for range 1000 { // any values have a group
		if got := both.scores(10*rng.NormFloat64(), math.Abs(10*rng.NormFloat64()), 0); got == both.pool {
			t.Fatal("a value has no group")
		}
	}
}
