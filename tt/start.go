package tt

import (
	"math"
	"math/rand/v2"

	"github.com/kernel-fried-tensor/kft/backend"
)

// startNoise is how far the slices of a start differ from one another,
// relative to what they share.
const startNoise = 0.5

// Draw gives the weights start values, such that the train's values have about
// the given standard deviation.
//
// All slices of a core share a part: ones at the ends of the train, with signs
// that cancel on the left, and the identity between them. So a start
// is a sum of R products of numbers, which a solver can tell apart, and no mode
// has to be learned before another can be, as with slices of noise alone.
//
// A weighted regression starts with V' = 1 but for the noise, so that it begins
// as its regression; the regressions themselves start with that shared part in
// the row of W that the intercept multiplies, the first, and noise in the
// others.
func (t *Train) Draw(b backend.Backend, rng *rand.Rand, sd float64) {
	cores := float64(len(t.Cores))
	scale, shared := sd, 0.0
	if len(t.Cores) > 1 {
		// With relative variance v a core, f has variance R ((1 + v)^P - 1)
		// but for the common scale.
		spread := math.Pow(1+startNoise*startNoise, cores) - 1
		scale, shared = math.Pow(sd/math.Sqrt(float64(t.Cores[0].Slices.Right)*spread), 1/cores), 1
	}
	for p, c := range t.Cores {
		left, right := c.Slices.Left, c.Slices.Right
		noise := startNoise
		switch {
		case len(t.Cores) == 1:
			noise = 1
		case left > 1 && right > 1:
			noise /= math.Sqrt(float64(right))
		}
		common := func(k int) float64 {
			a, b := k/right%left, k%right
			switch {
			case p == 0:
				return shared * (1 - 2*float64(b%2))
			case p == len(t.Cores)-1 || a == b:
				return shared
			}
			return 0
		}
		c.draw(b, rng, scale, noise, common)
	}
}
