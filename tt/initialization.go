package tt

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// initialNoise is the standard deviation of the differences between initial slices,
// relative to their shared part.
const initialNoise = 0.5

// AnchorAtOne makes the train a factor that scales others: it starts near the
// constant 1, and the penalty shrinks it toward 1. All cores are plain.
//
// If the penalty shrank it toward 0, a product of trains would vanish where data
// are few. A factor near 0 also leaves the other factors no gradient to learn from.
func (t *Train) AnchorAtOne() {
	scale := t.unit()
	for p, c := range t.Cores {
		c.Anchor = make([]float32, c.Slices.Slice())
		for k := range c.Anchor {
			c.Anchor[k] = float32(scale * t.shared(p, k))
		}
	}
}

// Anchored reports whether the train is anchored at 1.
func (t *Train) Anchored() bool { return t.Cores[0].Anchor != nil }

// Initialize draws initial values for all terms. The first train of two or more
// cores and its partners start at the scale sd of the target. The other terms start
// small, because they fit the residual of that train. Anchored terms start near 1.
//
// The leading train need not be the first term: the posterior of a product that starts small
// collapses to 0. Without a train, regressions and the effects beside them start alike: their prior
// variances start from their initial values, and that of a regression on many columns grows slowly
// if it is small and there are few rows. stream is called for several terms at the same time.
func (f *Field) Initialize(b backend.Backend, stream func(term int) *rand.Rand, sd float64) {
	f.Offset = Offset{}
	lead := slices.IndexFunc(f.Terms, func(t *Train) bool { return len(t.Cores) > 1 && !t.Anchored() })
	alike := lead < 0 && slices.ContainsFunc(f.Terms, func(t *Train) bool { return t.Cores[0].Map != nil })
	lead = max(0, lead)
	parallel.For(b.Threads(), len(f.Terms), func(k int) {
		switch t := f.Terms[k]; {
		case t.Anchored():
			t.initialize(stream(k), t.unit(), 1)
		case alike:
			t.draw(stream(k), sd/math.Sqrt(float64(len(f.Terms))))
		case k == lead || slices.Contains(f.Partners(k), lead):
			t.draw(stream(k), sd)
		default:
			t.draw(stream(k), 0.1*sd)
		}
	})
	for _, t := range f.Terms {
		t.refresh(b)
	}
}

// Initialize draws initial weights such that the values of the train have about the
// given standard deviation.
//
// All slices of a core have a shared part: ones at the ends of the train, with
// alternating signs on the left, and the identity in between. The initial train is
// then a sum of R products of numbers, which a solver can separate. With slices of
// noise alone, one mode would have to be learned before another could be.
//
// A weighted regression starts with V' = 1 plus noise, so it starts as its
// regression. A regression starts with the shared part in the first row of W, which
// the intercept multiplies, and noise in the others.
func (t *Train) Initialize(b backend.Backend, rng *rand.Rand, sd float64) {
	t.draw(rng, sd)
	t.refresh(b)
}

// refresh brings the slices of all cores up to date.
func (t *Train) refresh(b backend.Backend) {
	for _, c := range t.Cores {
		c.Refresh(b, true)
	}
}

// draw is Initialize without the slices that follow from the weights.
func (t *Train) draw(rng *rand.Rand, sd float64) {
	cores := float64(len(t.Cores))
	if cores == 1 {
		t.Cores[0].initialize(rng, sd, 1, func(int) float64 { return 0 })
		return
	}
	// With relative variance v per core, f has variance R ((1 + v)^P - 1) up to the
	// common scale.
	spread := math.Pow(1+initialNoise*initialNoise, cores) - 1
	t.initialize(rng, math.Pow(sd/math.Sqrt(float64(t.Cores[0].Slices.Right)*spread), 1/cores), -1)
}

// initialize draws slices about their shared part, times scale. odd is the sign of
// the odd columns of the leftmost core.
func (t *Train) initialize(rng *rand.Rand, scale, odd float64) {
	for p, c := range t.Cores {
		noise := initialNoise
		if c.Slices.Left > 1 && c.Slices.Right > 1 {
			noise /= math.Sqrt(float64(c.Slices.Right))
		}
		c.initialize(rng, scale, noise, func(k int) float64 {
			if p == 0 && k%c.Slices.Right%2 == 1 {
				return odd * t.shared(p, k)
			}
			return t.shared(p, k)
		})
	}
}

// shared returns the shared part of the slices of core p at entry k, without scale
// and signs.
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
