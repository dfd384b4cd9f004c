package evaluate

import (
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/metrics"
)

// An interval of a count that is mostly 0 holds more values than its level; the randomised
// PIT shows whether the distribution is right.
func TestCoverageOfCounts(t *testing.T) {
	t.Parallel()
	uniform := slices.Repeat([]metrics.Number{0.05}, 20)
	score := metrics.Score{N: 5000, Calibration: &metrics.Calibration{PIT: uniform, XiByLevel: []metrics.LevelShare{{Level: 0.5, Share: 0.96}, {Level: 0.9, Share: 0.99}}}}
	if got := CoverageWarnings(nil, score, "the test set"); got != nil {
		t.Errorf("got %q for a uniform PIT", got)
	}
	for level, want := range map[float64]float64{0.9: 0.9, 0.5: 0.5, 0.1: 0.1, 0.25: 0.25} {
		if got := CentralShare(uniform, level); got < want-1e-9 || got > want+1e-9 {
			t.Errorf("level %g: got %g", level, got)
		}
	}
	few := score
	few.N = coverageRows - 1
	few.Calibration = &metrics.Calibration{PIT: append(make([]metrics.Number, 19), 1), XiByLevel: []metrics.LevelShare{{Level: 0.5, Share: 0}}}
	if got := CoverageWarnings(nil, few, "the test set"); got != nil {
		t.Errorf("got %q for few rows", got)
	}
}
