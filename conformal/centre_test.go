package conformal

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestCentre checks that errors lose what all rows of a period have in common, and keep their size, however few rows a period has.
func TestCentre(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		periods, rows int
		shock         float64
	}{{3, 1000, 0}, {3, 1000, 1}, {600, 5, 0}, {600, 5, 1}, {1500, 2, 0}, {1500, 2, 1}, {3000, 1, 0}} {
		rng := rand.New(rand.NewPCG(3, 4))
		var errors, location []float64
		var horizon []int32
		for h := range c.periods {
			common := c.shock * rng.NormFloat64()
			for range c.rows {
				errors, location, horizon = append(errors, common+rng.NormFloat64()), append(location, rng.Float64()), append(horizon, int32(h+1))
			}
		}
		Centre(errors, location, horizon, 5)
		total, squares := 0.0, 0.0
		for _, e := range errors {
			total, squares = total+e, squares+e*e
		}
		n := float64(len(errors))
		if math.Abs(total/n) > 1e-9 || math.Abs(squares/n-1) > 0.1 {
			t.Errorf("%d periods of %d rows, shocks of %g: got the mean %g and the variance %g, want 0 and 1", c.periods, c.rows, c.shock, total/n, squares/n)
		}
	}
}

// Rows that are no forecasts, and errors that are not finite, stay as they are.
func TestCentreOthers(t *testing.T) {
	t.Parallel()
	errors := []float64{5, math.Inf(1), 1, 3}
	Centre(errors, make([]float64, 4), []int32{0, 1, 1, 1}, 1)
	if errors[0] != 5 || !math.IsInf(errors[1], 1) || errors[2] != -1 || errors[3] != 1 {
		t.Errorf("got %v", errors)
	}
	Centre(nil, nil, nil, 1)
}
