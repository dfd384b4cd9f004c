package likelihood

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Parameters without a distribution give NaN. The rejection loops would not end.
func TestDrawsOfInvalidParameters(t *testing.T) {
	t.Parallel()
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		name string
		draw func(rng *rand.Rand) float64
	}{
		{"Poisson, rate NaN", func(rng *rand.Rand) float64 { return drawPoisson(rng, nan) }},
		{"Poisson, rate +Inf", func(rng *rand.Rand) float64 { return drawPoisson(rng, inf) }},
		{"Poisson, rate -Inf", func(rng *rand.Rand) float64 { return drawPoisson(rng, -inf) }},
		{"Poisson, f NaN", func(rng *rand.Rand) float64 { return Poisson{}.Draw(rng, nan) }},
		{"gamma, shape NaN", func(rng *rand.Rand) float64 { return drawGamma(rng, nan) }},
		{"gamma, shape 0", func(rng *rand.Rand) float64 { return drawGamma(rng, 0) }},
		{"gamma, shape -2", func(rng *rand.Rand) float64 { return drawGamma(rng, -2) }},
		{"gamma, shape +Inf", func(rng *rand.Rand) float64 { return drawGamma(rng, inf) }},
		{"negative binomial, f NaN", func(rng *rand.Rand) float64 { return NegativeBinomial{Size: 2}.Draw(rng, nan) }},
		{"zero-inflated, f NaN", func(rng *rand.Rand) float64 { return NewZeroInflated().Draw(rng, nan) }},
		{"hurdle, f NaN", func(rng *rand.Rand) float64 { return NewHurdle().Draw(rng, nan) }},
		{"hurdle, size NaN", func(rng *rand.Rand) float64 { return Hurdle{Size: nan, Slope: 1}.Draw(rng, 1) }},
		{"negative binomial, size NaN", func(rng *rand.Rand) float64 { return NegativeBinomial{Size: nan}.Draw(rng, 1) }},
	} {
		if got := c.draw(rand.New(rand.NewPCG(1, 2))); !math.IsNaN(got) {
			t.Errorf("%s: got %v, want NaN", c.name, got)
		}
	}
}
