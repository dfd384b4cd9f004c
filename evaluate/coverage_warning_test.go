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

// A test set of a few periods has few rows, which suffice to see that intervals are wrong.
func TestCoverageOfSmallTestSets(t *testing.T) {
	t.Parallel()
	low := slices.Repeat([]metrics.Number{0.02}, 20)
	low[0], low[19] = 0.32, 0.32
	for share, want := range map[metrics.Number]bool{0.4: true, 0.8: false} {
		pit := low
		if share == 0.8 {
			pit = slices.Repeat([]metrics.Number{0.8 / 18}, 20)
			pit[0], pit[19] = 0.1, 0.1
		}
		score := metrics.Score{N: 100, Calibration: &metrics.Calibration{PIT: pit, XiByLevel: []metrics.LevelShare{{Level: 0.9, Share: share}}}}
		if _, gap := wrongLevel(score); gap > 0 != want {
			t.Errorf("%g of 100 values inside 90 %% intervals: got the gap %g", share, gap)
		}
	}
}
