package series

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestScaledSeries checks that a series with a scale is the series of the same sites
// divided by the scale, times the scale: in its moments, its divergence and its draws.
func TestScaledSeries(t *testing.T) {
	t.Parallel()
	const c = 4 // a power of two, so that divided sites are exact
	for name, prior := range priors {
		plain := simulated(prior, 6, 20, 4, 2)
		scaled := &Process{Prior: prior, Start: plain.Start, Step: plain.Step}
		scaled.Prior.ScaleSpread = 1e9 // no penalty
		for range plain.Series() {
			scaled.Scale = append(scaled.Scale, c)
		}
		for i := range plain.Value {
			scaled.Value, scaled.Precision = append(scaled.Value, c*plain.Value[i]), append(scaled.Precision, plain.Precision[i]/c/c)
		}
		n := len(plain.Step)
		mean, variance, wantMean, wantVariance := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
		wantKL, _ := plain.Smooth(1, wantMean, wantVariance)
		if kl, _ := scaled.Smooth(1, mean, variance); math.Abs(kl-wantKL) > 1e-9*math.Abs(wantKL) {
			t.Errorf("%s: divergence %g, want %g", name, kl, wantKL)
		}
		for i := range mean {
			if mean[i] != c*wantMean[i] || variance[i] != c*c*wantVariance[i] {
				t.Fatalf("%s: site %d has mean %g and variance %g, want %g and %g", name, i, mean[i], variance[i], c*wantMean[i], c*c*wantVariance[i])
			}
		}
		steps := []int32{0, 3, 19, 25}
		draw, want := make([]float32, len(steps)), make([]float32, len(steps))
		scaled.NewReader().Draw(rand.New(rand.NewPCG(1, 1)), 2, steps, draw)
		plain.NewReader().Draw(rand.New(rand.NewPCG(1, 1)), 2, steps, want)
		for i := range draw {
			if draw[i] != c*want[i] {
				t.Errorf("%s: draw %g, want %g", name, draw[i], c*want[i])
			}
		}
	}
}

// TestLearnRecoversScales checks series that differ by known factors.
func TestLearnRecoversScales(t *testing.T) {
	t.Parallel()
	truth := Prior{Level: 0.5, Walk: 0.1}
	p := simulated(truth, 60, 80, 8, 3)
	p.Prior.ScaleSpread = 1.5
	p.Scale = p.Prior.NewScales(p.Series())
	want := make([]float64, p.Series())
	for e := range want {
		want[e] = float64(e%7) - 3
		for i := p.Start[e]; i < p.Start[e+1]; i++ {
			p.Value[i] *= float32(math.Exp(want[e]))
			p.Precision[i] *= float32(math.Exp(-2 * want[e]))
		}
	}
	for i := range 10 {
		p.Learn(2, i == 0)
	}
	center := 0.0 // a factor that all share belongs to the prior
	for e := range want {
		center += (math.Log(float64(p.Scale[e])) - want[e]) / float64(len(want))
	}
	for e := range want {
		if d := math.Log(float64(p.Scale[e])) - want[e] - center; math.Abs(d) > 0.6 {
			t.Errorf("series %d: the logarithm of the scale is %.2f from %.0f", e, d, want[e])
		}
	}
	if got := p.Prior.Walk * math.Exp(2*center); math.Abs(math.Log(got/truth.Walk)) > 0.3 {
		t.Errorf("walk %g, want %g", got, truth.Walk)
	}
}
