package tt

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
)

// startNoise is how far the slices of a start differ from one another,
// relative to what they share.
const startNoise = 0.5

// AnchorAtOne makes the train a factor that scales others: it starts about the
// constant 1, and the penalty draws it there. All cores are plain.
//
// Drawn to 0 instead, a product of trains is worth nothing where data are few,
// and its factors end each other: one that is small leaves the others nothing to
// learn from.
func (t *Train) AnchorAtOne() {
	scale := t.unit()
	for p, c := range t.Cores {
		c.Anchor = make([]float32, c.Slices.Slice())
		for k := range c.Anchor {
			c.Anchor[k] = float32(scale * t.shared(p, k))
		}
	}
}

// Anchored tells whether the train is drawn to 1.
func (t *Train) Anchored() bool { return t.Cores[0].Anchor != nil }

// Draw gives the terms start values: the first train of two cores or more and
// its partners at the target's scale, the others small, for they begin with what
// it leaves; anchored ones about 1.
//
// That an effect of one core stands before it makes no difference: it needs no
// start, while a posterior of a product that starts small is drawn to 0, where it
// stays.
func (f *Field) Draw(b backend.Backend, stream func(term int) *rand.Rand, sd float64) {
	lead := max(0, slices.IndexFunc(f.Terms, func(t *Train) bool { return len(t.Cores) > 1 && !t.Anchored() }))
	for k, t := range f.Terms {
		switch {
		case t.Anchored():
			t.draw(b, stream(k), t.unit(), 1)
		case k == lead || slices.Contains(f.Partners(k), lead):
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
func (t *Train) Draw(b backend.Backend, rng *rand.Rand, sd float64) {
	cores := float64(len(t.Cores))
	if cores == 1 {
		t.Cores[0].draw(b, rng, sd, 1, func(int) float64 { return 0 })
		return
	}
	// With relative variance v a core, f has variance R ((1 + v)^P - 1) but for
	// the common scale.
	spread := math.Pow(1+startNoise*startNoise, cores) - 1
	t.draw(b, rng, math.Pow(sd/math.Sqrt(float64(t.Cores[0].Slices.Right)*spread), 1/cores), -1)
}

// draw gives slices of a core about what they share, times scale; odd is the
// sign of odd columns on the left.
func (t *Train) draw(b backend.Backend, rng *rand.Rand, scale, odd float64) {
	for p, c := range t.Cores {
		noise := startNoise
		if c.Slices.Left > 1 && c.Slices.Right > 1 {
			noise /= math.Sqrt(float64(c.Slices.Right))
		}
		c.draw(b, rng, scale, noise, func(k int) float64 {
			if p == 0 && k%c.Slices.Right%2 == 1 {
				return odd * t.shared(p, k)
			}
			return t.shared(p, k)
		})
	}
}

// shared returns what the slices of core p share at entry k of any of them, but
// for scale and signs.
func (t *Train) shared(p, k int) float64 {
	left, right := t.Cores[p].Slices.Left, t.Cores[p].Slices.Right
	if p == 0 || p == len(t.Cores)-1 || k/right%left == k%right {
		return 1
	}
	return 0
}

// unit returns the scale at which the product of the shared slices is 1.
func (t *Train) unit() float64 {
	paths := 1
	for p, c := range t.Cores[:len(t.Cores)-1] {
		if p == 0 || c.Slices.Right < paths {
			paths = c.Slices.Right
		}
	}
	return math.Pow(float64(paths), -1/float64(len(t.Cores)))
}
