package likelihood

import (
	"math"
	"math/rand/v2"

	"github.com/kernel-fried-tensor/kft/internal/golden"
)

// Bernoulli is a value of 1 with probability sigma(f) = 1/(1+exp(-f)), otherwise 0:
//
//	log p(y|f) = y f - log(1 + exp f)
//
// Predictions may be calibrated (see [Bernoulli.Calibrated]): then f is replaced by
// Shift + Slope f in Mean, CDF and Draw. A slope of 0 stands for 1.
type Bernoulli struct {
	Shift float64 `json:"shift,omitempty"`
	Slope float64 `json:"slope,omitempty"`
}

// Expect returns E[log p] over f ~ N(m, v), with the functions of softplus:
//
//	E = y m - E[log(1+exp f)],  dE/dm = y - E[sigma(f)],  dE/dv = -E[sigma(f)(1-sigma(f))]/2
func (Bernoulli) Expect(y, m, v float64) Expectation {
	s0, s1, s2 := softplus(m, v)
	return Expectation{Value: y*m - s0, ByMean: y - s1, ByVariance: -s2 / 2}
}

// Sites writes the Gaussian observation that replaces each cell and returns the
// weighted sum of expected log likelihoods. Its cost per cell is that of softplus.
func (b Bernoulli) Sites(cells Cells, out Sites, loop Loop) float64 {
	return sites(cells, out, loop, b.Expect)
}

// Bound is Sites for the bound of Jaakkola and Jordan (2000), see
// [NegativeBinomial.Bound], of which this is the case y + r = 1:
//
//	E >= (y - 1/2) E[f] - log(2 cosh(xi/2)),  xi^2 = E[f^2]
func (Bernoulli) Bound(cells Cells, out Sites, loop Loop) float64 {
	return sums(len(cells.Y), loop, func(i int) [3]float64 {
		w, half := cells.weight(i), float64(cells.Y[i])-0.5
		mu := float64(cells.Mean[i])
		precision, cosh := logisticBound(mu, float64(cells.Variance[i]))
		out.Target[i], out.Precision[i] = float32(half/precision), float32(w*precision)
		return [3]float64{w * (half*mu - cosh)}
	})[0]
}

// logisticBound returns tanh(xi/2)/(2 xi) and log(2 cosh(xi/2)) at xi^2 = mu^2 + v, each with
// a relative error of 1e-7. They are (1/2 - sigma(-xi))/xi and xi/2 + log(1 + exp(-xi)).
func logisticBound(mu, v float64) (precision, logCosh float64) {
	square := mu*mu + max(v, 0)
	xi := math.Sqrt(square)
	s0, s1, _ := softplus(-xi, 0)
	if square < 0.09 {
		return 1.0/4 - square*(1.0/48-square*(1.0/480-square*(17.0/80640))), xi/2 + s0
	}
	return (0.5 - s1) / xi, xi/2 + s0
}

// Damped returns true.
func (Bernoulli) Damped() bool { return true }

// Learn returns b, which has no parameters.
func (b Bernoulli) Learn(Cells, Loop) Law { return b }

// Parameters returns nil.
func (Bernoulli) Parameters() []float64 { return nil }

// At returns b.
func (b Bernoulli) At([]float64) Law { return b }

// LogProb returns log p(y|f).
func (Bernoulli) LogProb(y, f float64) float64 {
	return y*f - max(f, 0) - math.Log1p(math.Exp(-math.Abs(f)))
}

// Mean returns P(Y = 1 | f).
func (b Bernoulli) Mean(f float64) float64 { return logistic(b.calibrate(f)) }

func (b Bernoulli) calibrate(f float64) float64 {
	if b.Slope == 0 {
		return b.Shift + f
	}
	return b.Shift + b.Slope*f
}

// CDF returns P(Y <= k | f) for k = 0, 1.
func (b Bernoulli) CDF(k int, f float64) float64 {
	if k > 0 {
		return 1
	}
	return logistic(-b.calibrate(f))
}

// Values returns the possible values.
func (Bernoulli) Values() []float64 { return []float64{0, 1} }

// Draw returns a value drawn given f.
func (b Bernoulli) Draw(rng *rand.Rand, f float64) float64 {
	if rng.Float64() < b.Mean(f) {
		return 1
	}
	return 0
}

// logistic returns sigma(f).
func logistic(f float64) float64 {
	if f < 0 {
		e := math.Exp(f)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-f))
}

// Limits of the calibration, and the standard deviation that Shift and the logarithm of
// Slope have beforehand: a few rows change little.
const (
	maxShift         = 1.0
	maxLogSlope      = 0.7
	calibrationSD    = 0.2
	calibrationSteps = 12 // golden section steps of one line
	calibrationTurns = 2  // over both lines
)

// Calibrated returns the distribution whose Shift and Slope maximise the log probability
// of rows that the field was not fitted to,
//
//	sum w log E[p(y | Shift + Slope f)],  f ~ N(m, v),
//
// plus a normal log prior (Platt scaling of probabilities). An approximate posterior is
// somewhat too sure of itself or not sure enough, and this corrects it. It costs some
// fifty times the expectations of the cells.
func (Bernoulli) Calibrated(cells Cells, loop Loop) Bernoulli {
	shift, logSlope := 0.0, 0.0
	value := func(shift, logSlope float64) float64 {
		slope := math.Exp(logSlope)
		sum := sums(len(cells.Y), loop, func(i int) [3]float64 {
			_, one, _ := softplus(shift+slope*float64(cells.Mean[i]), slope*slope*float64(cells.Variance[i]))
			if cells.Y[i] == 0 {
				one = 1 - one
			}
			return [3]float64{cells.weight(i) * math.Log(max(one, math.SmallestNonzeroFloat64))}
		})[0]
		return sum - (shift*shift+logSlope*logSlope)/(2*calibrationSD*calibrationSD)
	}
	for range calibrationTurns {
		logSlope = golden.Maximum(-maxLogSlope, maxLogSlope, calibrationSteps, func(t float64) float64 { return value(shift, t) })
		shift = golden.Maximum(-maxShift, maxShift, calibrationSteps, func(t float64) float64 { return value(t, logSlope) })
	}
	return Bernoulli{Shift: shift, Slope: math.Exp(logSlope)}
}
