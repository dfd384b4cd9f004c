package tt

import (
	"math"
	"math/rand/v2"

	"github.com/kernel-fried-tensor/kft/backend"
)

// startNoise is how far the slices of a start differ from one another,
// relative to what they share.
const startNoise = 0.5

// Draw gives the terms start values. The first group starts at the target's
// scale, the others small, for they begin with what it leaves. Of a group's
// factors the first starts so and the others about 1: the group then begins as
// its first factor alone, and what the others are to learn has the weight of
// that one's square. Were all of them small about 0, none would have anything to
// learn from and any penalty would end them.
func (f *Field) Draw(b backend.Backend, stream func(term int) *rand.Rand, sd float64) {
	for k, t := range f.Terms {
		switch {
		case !f.leads(k):
			t.start(b, stream(k), 1, false)
		case k == 0:
			t.Draw(b, stream(k), sd)
		default:
			t.Draw(b, stream(k), 0.1*sd)
		}
	}
}

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
func (t *Train) Draw(b backend.Backend, rng *rand.Rand, sd float64) { t.start(b, rng, sd, true) }

// start draws values of standard deviation size about 0, or, unless centred,
// values about size.
func (t *Train) start(b backend.Backend, rng *rand.Rand, size float64, centred bool) {
	cores := float64(len(t.Cores))
	rank := float64(t.Cores[0].Slices.Right)
	scale, shared := size, 0.0
	switch {
	case !centred:
		scale, shared = math.Pow(size/rank, 1/cores), 1
	case len(t.Cores) > 1:
		// With relative variance v a core, f has variance R ((1 + v)^P - 1)
		// but for the common scale.
		spread := math.Pow(1+startNoise*startNoise, cores) - 1
		scale, shared = math.Pow(size/math.Sqrt(rank*spread), 1/cores), 1
	}
	for p, c := range t.Cores {
		left, right := c.Slices.Left, c.Slices.Right
		noise := startNoise
		switch {
		case len(t.Cores) == 1 && centred:
			noise = 1
		case left > 1 && right > 1:
			noise /= math.Sqrt(float64(right))
		}
		common := func(k int) float64 {
			a, b := k/right%left, k%right
			switch {
			case p == 0 && centred:
				return shared * (1 - 2*float64(b%2))
			case p == 0 || p == len(t.Cores)-1 || a == b:
				return shared
			}
			return 0
		}
		c.draw(b, rng, scale, noise, common)
	}
}
