package series

import (
	"math"
	"testing"
)

// The change over a long gap, which is computed by doubling, is that of many single steps.
func TestLongGaps(t *testing.T) {
	t.Parallel()
	for _, p := range []Prior{
		{Level: 1, Walk: 0.1, Slope: 1, SlopeWalk: 0.01, Damping: 0.98},
		{Level: 1, Walk: 0.1, Slope: 1, SlopeWalk: 0.01, Damping: 1, AR: 1, Phi: 0.999},
	} {
		m := newMachine(p)
		for _, gap := range []int32{longGap - 1, longGap, longGap + 1, 3 * longGap, maxTable + 7} {
			got := *m.transition(gap)
			want := transition{damp: 1, levelNoise: p.Walk * float64(gap)}
			step := p.slopesOver(1)
			for range gap {
				want = want.then(step)
			}
			for _, pair := range [][2]float64{{got.gain, want.gain}, {got.damp, want.damp}, {got.levelNoise, want.levelNoise}, {got.crossNoise, want.crossNoise}, {got.slopeNoise, want.slopeNoise}} {
				if math.Abs(pair[0]-pair[1]) > 1e-9*math.Abs(pair[1]) {
					t.Errorf("damping %g, gap %d: got %+v, want %+v", p.Damping, gap, got, want)
					break
				}
			}
			if decay := math.Pow(p.Phi, float64(gap)); m.ar >= 0 && (got.decay != decay || got.arNoise != p.AR*(1-decay*decay)) {
				t.Errorf("gap %d: got ar %g and %g", gap, got.decay, got.arNoise)
			}
		}
	}
	start := newMachine(Prior{Level: 1, Slope: 1, SlopeWalk: 0.01, Damping: 0.98}).transition(math.MaxInt32)
	if math.IsNaN(start.levelNoise) || math.IsInf(start.levelNoise, 0) {
		t.Errorf("got level noise %g over the longest gap", start.levelNoise)
	}
}
