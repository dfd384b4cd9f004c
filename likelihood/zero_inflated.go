package likelihood

import (
	"math"
	"math/rand/v2"
)

// ZeroInflated is a negative binomial count with further zeros: with probability Zero
// the value is 0 whatever f is, otherwise it is a count with mean mu = exp f and the given
// Size. An item that a shop does not carry sells nothing; one that it carries may also
// sell nothing.
//
//	P(0|f) = Zero + (1-Zero) NB(0|f),  P(y|f) = (1-Zero) NB(y|f) for y > 0
type ZeroInflated struct {
	Zero float64 `json:"zero"`
	Size float64 `json:"size"`
}

// startZero is the share of further zeros at which a fit starts.
const startZero = 0.1

// NewZeroInflated returns the distribution at which a fit starts.
func NewZeroInflated() ZeroInflated { return ZeroInflated{Zero: startZero, Size: 1} }

// Base returns the distribution of the counts that are not further zeros.
func (z ZeroInflated) Base() NegativeBinomial { return NegativeBinomial{Size: z.Size} }

// Sites writes the sites of [NegativeBinomial.Sites], whose precision at a zero is
// multiplied by the probability 1-q that the zero is one of the count. With E = E[log
// NB(0|f)], that probability maximises a lower bound of the expected log likelihood (the
// step of the EM algorithm):
//
//	E[log P(0|f)] >= log(Zero + (1-Zero) exp E),  q = Zero / (Zero + (1-Zero) exp E)
func (z ZeroInflated) Sites(cells Cells, out Sites, loop Loop) float64 {
	n := z.Base()
	constant, shift, inflate := n.constants(), math.Log(n.Size), z.inflation()
	return sites(cells, out, loop, func(y, m, v float64) Expectation {
		return inflate(y, n.expect(y, m-shift, v, constant(y)))
	})
}

// Bound is Sites with the bound of [NegativeBinomial.Bound] in place of the expectation.
func (z ZeroInflated) Bound(cells Cells, out Sites, loop Loop) float64 {
	n := z.Base()
	constant, shift, inflate := n.constants(), math.Log(n.Size), z.inflation()
	return sums(len(cells.Y), loop, func(i int) [3]float64 {
		w, y := cells.weight(i), float64(cells.Y[i])
		mu := float64(cells.Mean[i]) - shift
		quarter, cosh := logisticBound(mu, float64(cells.Variance[i]))
		precision := (y + n.Size) * quarter
		e := inflate(y, Expectation{Value: constant(y) + (y-n.Size)/2*mu - (y+n.Size)*cosh, ByVariance: -precision / 2})
		out.Target[i] = float32(shift + (y-n.Size)/(2*precision))
		out.Precision[i] = float32(w * max(-2*e.ByVariance, minPrecision))
		return [3]float64{w * e.Value}
	})[0]
}

// inflation returns the function that turns the expectation of a count into that of a
// count with further zeros.
func (z ZeroInflated) inflation() func(y float64, e Expectation) Expectation {
	logZero, logRest := math.Log(z.Zero), math.Log1p(-z.Zero)
	return func(y float64, e Expectation) Expectation {
		e.Value += logRest
		if y != 0 {
			return e
		}
		own := logistic(e.Value - logZero) // 1 - q
		return Expectation{Value: logSum(logZero, e.Value), ByMean: own * e.ByMean, ByVariance: own * e.ByVariance}
	}
}

// logSum returns log(exp a + exp b).
func logSum(a, b float64) float64 { return max(a, b) + math.Log1p(math.Exp(-math.Abs(a-b))) }

// Damped returns true.
func (ZeroInflated) Damped() bool { return true }

// LogProb returns log P(y|f).
func (z ZeroInflated) LogProb(y, f float64) float64 {
	value := z.Base().LogProb(y, f) + math.Log1p(-z.Zero)
	if y == 0 {
		return logSum(math.Log(z.Zero), value)
	}
	return value
}

// Limits of Zero, and the steps of the searches for the parameters.
const (
	leastZero = 1e-6
	mostZero  = 0.9999
	zeroSteps = 10
	zeroGain  = 1e-9 // smallest gain of a Newton step, relative to the number of cells, for which it is taken
)

// Learn raises the bound in both parameters together, because a small size and further
// zeros explain much the same: by a search of the size around its value, with the best
// Zero for each. It costs about five times Sites.
func (z ZeroInflated) Learn(cells Cells, loop Loop) Law {
	none := make([]float64, len(cells.Y)) // exp E[log NB(0|f)] of zeros, -1 of others
	at := func(size float64) (ZeroInflated, float64) {
		n, shift := NegativeBinomial{Size: size}, math.Log(size)
		constant := n.constants()
		above := sums(len(cells.Y), loop, func(i int) [3]float64 {
			w, y := cells.weight(i), float64(cells.Y[i])
			e := n.expect(y, float64(cells.Mean[i])-shift, float64(cells.Variance[i]), constant(y)).Value
			if y == 0 {
				none[i] = math.Exp(e)
				return [3]float64{}
			}
			none[i] = -1
			return [3]float64{w, w * e}
		})
		zero, value := bestZero(z.Zero, above[0], none, cells, loop)
		return ZeroInflated{Size: size, Zero: zero}, value + above[1]
	}
	found := map[float64]ZeroInflated{}
	t := bestSize(math.Log(z.Size), func(t float64) float64 {
		law, value := at(math.Exp(t))
		found[t] = law
		return value
	})
	return found[t]
}

// bestZero returns the share of further zeros that maximises
//
//	above log(1-p) + sum w log(p + (1-p) none)
//
// and the maximum. It is concave in p: Newton steps within the interval that its slope
// leaves.
func bestZero(p, above float64, none []float64, cells Cells, loop Loop) (zero, value float64) {
	low, high := leastZero, mostZero
	for step := 0; ; step++ {
		p = min(max(p, low), high)
		sum := sums(len(none), loop, func(i int) [3]float64 {
			if none[i] < 0 {
				return [3]float64{}
			}
			w, all := cells.weight(i), p+(1-p)*none[i]
			slope := (1 - none[i]) / all
			return [3]float64{w * math.Log(all), w * slope, w * slope * slope}
		})
		slope, bend := sum[1]-above/(1-p), sum[2]+above/((1-p)*(1-p))
		if step == zeroSteps || low == high || slope*slope < 2*zeroGain*bend*float64(len(none)) {
			return p, sum[0] + above*math.Log1p(-p)
		}
		if slope > 0 {
			low = p
		} else {
			high = p
		}
		next := p + slope/bend
		if !(next > low && next < high) {
			next = (low + high) / 2
		}
		p = next
	}
}

// Parameters returns the logarithm of the size, and the logarithmic odds of Zero relative
// to their start.
func (z ZeroInflated) Parameters() []float64 {
	return []float64{math.Log(z.Size), logit(z.Zero) - logit(startZero)}
}

// At returns the distribution with given parameters.
func (ZeroInflated) At(p []float64) Law {
	return ZeroInflated{Size: math.Exp(p[0]), Zero: logistic(p[1] + logit(startZero))}
}

// logit returns log(p/(1-p)).
func logit(p float64) float64 { return math.Log(p) - math.Log1p(-p) }

// Mean returns E[y|f] = (1-Zero) exp f.
func (z ZeroInflated) Mean(f float64) float64 { return (1 - z.Zero) * rate(f) }

// Var returns Var[y|f] = (1-Zero) (mu + mu^2/Size + Zero mu^2).
func (z ZeroInflated) Var(f float64) float64 {
	mu := rate(f)
	return (1 - z.Zero) * (mu + mu*mu/z.Size + z.Zero*mu*mu)
}

// CDF returns P(Y <= y | f).
func (z ZeroInflated) CDF(y, f float64) float64 {
	if y < 0 {
		return 0
	}
	return z.Zero + (1-z.Zero)*z.Base().CDF(y, f)
}

// Draw returns a count drawn given f.
func (z ZeroInflated) Draw(rng *rand.Rand, f float64) float64 {
	if rng.Float64() < z.Zero && !math.IsNaN(f) {
		return 0
	}
	return z.Base().Draw(rng, f)
}
