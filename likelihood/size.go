package likelihood

import "math"

// SmallestSize and LargestSize limit the sizes FitSize returns. Data without
// overdispersion end at the largest, where the distribution is the Poisson for any
// mean much below a million.
const (
	SmallestSize = 1e-3
	LargestSize  = 1e6
)

const (
	sizePasses = 30   // most evaluations of the objective; three or four are usual
	sizeGain   = 1e-4 // a step that promises less than this in log likelihood is not worth a pass
	widestMove = 2.0  // of log Size in one step
)

// FitSize returns the negative binomial whose size maximises the summed expected
// log likelihood Q of the cells, starting at n (at size 1 where n has none), with
// Q there. Newton's steps in t = log r, halved until Q does not fall, so that the
// result is never worse than the start. With psi, sigma as in Expect
//
//	dQ/dt = sum w { r [digamma(y+r) - digamma(r) - E log(1+exp psi)] - y + (y+r) E sigma }
//
// A pass over the cells costs about as much as Sites.
func (n NegativeBinomial) FitSize(cells Cells, each Loop) (NegativeBinomial, float64) {
	if !(n.Size > 0) {
		n.Size = 1
	}
	lowest, highest := math.Log(SmallestSize), math.Log(LargestSize)
	t := min(max(math.Log(n.Size), lowest), highest)
	best := sizeObjective(math.Exp(t), cells, each)
	for pass := 1; pass < sizePasses; {
		move := -best[1] / best[2]
		if !(best[2] < 0) || math.Abs(move) > widestMove {
			move = math.Copysign(widestMove, best[1])
		}
		move = min(max(t+move, lowest), highest) - t
		if best[1]*move < 2*sizeGain {
			break
		}
		for ; pass < sizePasses; pass++ {
			q := sizeObjective(math.Exp(t+move), cells, each)
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

// sizeObjective returns Q and its first two derivatives by log r.
func sizeObjective(r float64, cells Cells, each Loop) [3]float64 {
	shift, di, tri := math.Log(r), digamma(r), trigamma(r)
	constant := tabled(NegativeBinomial{r}.constant)
	// Of lgamma(y+r) - lgamma(r), by r.
	first := tabled(func(y float64) float64 { return digamma(y+r) - di })
	second := tabled(func(y float64) float64 { return trigamma(y+r) - tri })
	return sums(len(cells.Y), each, func(i int) [3]float64 {
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
