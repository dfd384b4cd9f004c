package series

import (
	"encoding/json"
	"math"
	"testing"
)

// The variances of all harmonics add up to that of the season, and those of a smooth one fall. A
// prior of an earlier file has equal ones.
func TestSeasonVariance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		ratio float64 // of the first to the third
	}{{`{"period":52.18,"harmonics":6,"variance":2}`, 1}, {`{"period":52.18,"harmonics":6,"variance":2,"smooth":true}`, 9}} {
		var s Season
		if err := json.Unmarshal([]byte(c.text), &s); err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for k := 1; k <= s.Harmonics; k++ {
			sum += s.variance(k)
		}
		if ratio := s.variance(1) / s.variance(3); math.Abs(sum-2) > 1e-12 || math.Abs(ratio-c.ratio) > 1e-12 {
			t.Errorf("%s: sum %g, ratio %g", c.text, sum, ratio)
		}
	}
}
