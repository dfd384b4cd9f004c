package series

import "testing"

// TestSharpen checks that the precision of sites is raised to about that of the noise where series move, and left alone
// where they are noise only.
func TestSharpen(t *testing.T) {
	t.Parallel()
	const known = 25.0 // precision of the noise
	for name, tc := range map[string]struct {
		truth      Prior
		start      float32 // precision before, that of everything within series
		low, above float32 // of the precision after
	}{
		"walk":  {Prior{Level: 1e-6, Walk: 0.1}, 1, 16, 64},
		"noise": {Prior{Level: 1e-6}, known, known, known},
	} {
		p := simulated(tc.truth, 200, 12, known, 5)
		p.Prior = Prior{Level: 0.1, Walk: 0.01, AR: 0.1, Phi: 0.5}
		for i := range p.Precision {
			p.Precision[i] = tc.start
		}
		p.Sharpen(2, p.Prior)
		if got := p.Precision[0]; got < tc.low || got > tc.above {
			t.Errorf("%s: the precision is %g, want %g to %g", name, got, tc.low, tc.above)
		}
	}
}
