package penalty

import (
	"fmt"
	"math"
	"testing"
)

// The search descends in both directions, stops at a minimum, refines it, and never
// tries the same penalty twice.
func TestSearchPath(t *testing.T) {
	t.Parallel()
	for _, minimum := range []float64{1e-5, 0.004, 0.02, 0.3, 40} {
		s := Search{Kinds: []Kind{Frequency}}
		var trials []Trial
		tried := map[string]bool{}
		for {
			r, more := s.Next(trials, nil)
			if !more {
				break
			}
			key := fmt.Sprintf("%.6g", r.Lambda)
			if tried[key] || len(trials) > 20 {
				t.Fatalf("minimum %g: tried %s again after %v", minimum, key, trials)
			}
			tried[key] = true
			d := math.Log(r.Lambda / minimum)
			trials = append(trials, Trial{r, 1 + d*d})
		}
		if got := BestRidge(trials).Lambda; math.Abs(math.Log(got/minimum)) > math.Log(searchFactor)/3 {
			t.Errorf("minimum %g: got %g after %d trials", minimum, got, len(trials))
		}
	}
}
