package likelihood

import "math"

// MinSize and MaxSize limit the sizes that FitSize returns. Data without
// overdispersion give the largest, for which the distribution is the Poisson
// for any mean much below a million.
const (
	MinSize = 1e-3
	MaxSize = 1e6
)

const (
	sizePasses = 30   // largest number of evaluations of the objective; three or four are usual
	sizeGain   = 1e-2 // smallest predicted gain in log likelihood for which a step is evaluated
	maxMove    = 2.0  // largest change of log Size in one step
)

// FitSize returns the negative binomial whose size maximises the summed
// expected log likelihood Q of the cells, and the value of Q. The search starts
// at n, or at size 1 if n has none. It takes Newton steps in t = log r, halved
// until Q does not decrease, so that the result is never worse than the start.
// With psi, sigma as in Expect
//
//	dQ/dt = sum w { r [digamma(y+r) - digamma(r) - E log(1+exp psi)] - y + (y+r) E sigma }
//
// A pass over the cells costs about as much as Sites.
func (n NegativeBinomial) FitSize(cells Cells, loop Loop) (NegativeBinomial, float64) {
	if !(n.Size > 0) {
		n.Size = 1
	}
	lowest, highest := math.Log(MinSize), math.Log(MaxSize)
	t := min(max(math.Log(n.Size), lowest), highest)
	best := sizeObjective(math.Exp(t), cells, loop)
	for pass := 1; pass < sizePasses; {
		move := -best[1] / best[2]
		if !(best[2] < 0) || math.Abs(move) > maxMove {
			move = math.Copysign(maxMove, best[1])
		}
		move = min(max(t+move, lowest), highest) - t
		if best[1]*move < 2*sizeGain {
			break
		}
		for ; pass < sizePasses; pass++ {
			q := sizeObjective(math.Exp(t+move), cells, loop)
			if q[0] >= best[0] {
				t, best = t+move, q
				pass++
				break
			}
			move /= 2
		}
	}
	return NegativeBinomial{Size: math.Exp(t)}, best[0]
}

// sizeObjective returns Q and its first two derivatives with respect to log r.
func sizeObjective(r float64, cells Cells, loop Loop) [3]float64 {
	shift, di, tri := math.Log(r), digamma(r), trigamma(r)
	constant := NegativeBinomial{r}.constants()
	// Derivatives of lgamma(y+r) - lgamma(r) with respect to r.
	first := tabulated(func(y float64) float64 { return digamma(y+r) - di }, func(y float64) float64 { return 1 / (y + r) })
	second := tabulated(func(y float64) float64 { return trigamma(y+r) - tri }, func(y float64) float64 { return -1 / ((y + r) * (y + r)) })
	return sums(len(cells.Y), loop, func(i int) [3]float64 {
		w, y := cells.weight(i), float64(cells.Y[i])
		mu := float64(cells.Mean[i]) - shift
		s0, s1, s2 := softplus(mu, float64(cells.Variance[i]))
		value := constant(y) + y*mu - (y+r)*s0
		rise := r * (first(y) - s0)
		by := rise - y + (y+r)*s1
		curve := rise + r*r*second(y) + 2*r*s1 - (y+r)*s2
		return [3]float64{w * value, w * by, w * curve}
	})
}
