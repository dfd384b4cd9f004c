package likelihood

import "math"

// Censored is normal noise around f of which some values are known only from below: a
// censored value y says that the true one is y or more (sales of a shop that ran out of
// stock):
//
//	log p = log N(y; f, Variance),  censored  log Phi((f-y)/sqrt(Variance))
//
// Cells.Censored marks such values. The weight of a cell is a precision: it divides
// Variance.
type Censored struct {
	Variance float64
}

// NewCensored returns the distribution at which a fit to standardised targets starts.
func NewCensored() Censored { return Censored{Variance: 1} }

func (c Cells) censored(i int) bool { return c.Censored != nil && c.Censored[i] > 0 }

// Sites writes the Gaussian observation that replaces each cell: y itself unless it is
// censored. The expectations of a censored cell are integrals over f, by the trapezoidal
// rule: with x = (f-y)/s and the hazard h = phi(x)/Phi(x)
//
//	dE/dm = E[h]/s,  dE/dv = -E[h (h+x)]/(2 s^2)
func (c Censored) Sites(cells Cells, out Sites, loop Loop) float64 {
	return c.fill(cells, out, loop, func(y, m, v, s2 float64) Expectation {
		s := math.Sqrt(s2)
		e := hazards((m-y)/s, v/s2)
		return Expectation{Value: e[0], ByMean: e[1] / s, ByVariance: -e[2] / (2 * s2)}
	})
}

// Bound is Sites for a bound that is quadratic in f: the second derivative of log Phi(x) is
// above -1, so that
//
//	E[log Phi(x)] >= log Phi(x_m) - v/(2 s^2),  x_m = (m-y)/s,
//
// with the mean of a truncated normal variable, m + s h(x_m), as the target and 1/s^2 as
// the precision.
func (c Censored) Bound(cells Cells, out Sites, loop Loop) float64 {
	return c.fill(cells, out, loop, func(y, m, v, s2 float64) Expectation {
		s := math.Sqrt(s2)
		value, h := logNormalCDF((m - y) / s)
		return Expectation{Value: value - v/(2*s2), ByMean: h / s, ByVariance: -1 / (2 * s2)}
	})
}

// fill writes the sites of all cells, those of censored cells from expect, and returns the
// sum of the values.
func (c Censored) fill(cells Cells, out Sites, loop Loop, expect func(y, m, v, s2 float64) Expectation) float64 {
	return sums(len(cells.Y), loop, func(i int) [3]float64 {
		w := cells.weight(i)
		if w == 0 {
			out.Target[i], out.Precision[i] = cells.Y[i], 0
			return [3]float64{}
		}
		s2 := c.Variance / w
		if !cells.censored(i) {
			out.Target[i], out.Precision[i] = cells.Y[i], float32(1/s2)
			return [3]float64{-(math.Log(2*math.Pi*s2) + cells.squaredError(i)/s2) / 2}
		}
		m := float64(cells.Mean[i])
		e := expect(float64(cells.Y[i]), m, max(float64(cells.Variance[i]), 0), s2)
		target, precision := e.Site(m)
		out.Target[i], out.Precision[i] = float32(target), float32(precision)
		return [3]float64{e.Value}
	})[0]
}

// Damped returns true.
func (Censored) Damped() bool { return true }

// LogProb returns log p(y|f) of a value that is not censored, with weight 1.
func (c Censored) LogProb(y, f float64) float64 {
	return -(math.Log(2*math.Pi*c.Variance) + (y-f)*(y-f)/c.Variance) / 2
}

// LogAbove returns the log probability of a value of y or more, given f.
func (c Censored) LogAbove(y, f float64) float64 {
	value, _ := logNormalCDF((f - y) / math.Sqrt(c.Variance))
	return value
}

// censoredTurns is the number of steps of the variance in one call of Learn.
const censoredTurns = 3

// Learn raises the expected log likelihood by steps of the EM algorithm: the variance is
// the mean of w E(y-f)^2, where the error of a censored value is that of a truncated normal
// variable, E[e^2] = s^2 (1 - x h(x)).
func (c Censored) Learn(cells Cells, loop Loop) Law {
	for range censoredTurns {
		sum := sums(len(cells.Y), loop, func(i int) [3]float64 {
			w := cells.weight(i)
			switch {
			case w == 0:
				return [3]float64{}
			case !cells.censored(i):
				return [3]float64{w * cells.squaredError(i), 1}
			}
			s := math.Sqrt(c.Variance / w)
			e := hazards((float64(cells.Mean[i])-float64(cells.Y[i]))/s, max(float64(cells.Variance[i]), 0)/(s*s))
			return [3]float64{c.Variance * (1 - e[3]), 1}
		})
		c.Variance = max(sum[0]/max(sum[1], 1), minVariance)
	}
	return c
}

// Parameters returns log Variance.
func (c Censored) Parameters() []float64 { return []float64{math.Log(c.Variance)} }

// At returns the distribution with given parameters.
func (Censored) At(p []float64) Law { return Censored{Variance: math.Exp(p[0])} }

// hazards returns E[log Phi(x)], E[h], E[h (h+x)] and E[x h] over x ~ N(mean, v), by the
// trapezoidal rule.
func hazards(mean, v float64) (e [4]float64) {
	sd := math.Sqrt(min(v, maxSD*maxSD))
	const reach = 6
	step := 0.5 / max(1, math.Ceil(sd))
	total := 0.0
	for z := -reach + 0.0; z <= reach; z += step {
		w := math.Exp(-z * z / 2)
		x := mean + sd*z
		value, h := logNormalCDF(x)
		total += w
		e[0] += w * value
		e[1] += w * h
		e[2] += w * h * max(h+x, 0)
		e[3] += w * x * h
		if sd == 0 {
			break
		}
	}
	for i := range e {
		e[i] /= total
	}
	return e
}

const logRoot2Pi = 0.9189385332046727 // log(2 pi)/2

// logNormalCDF returns log Phi(x) and the hazard phi(x)/Phi(x). Far below 0 they follow
// the asymptotic series.
func logNormalCDF(x float64) (value, hazard float64) {
	if x < -20 {
		q := 1 / (x * x)
		value = -x*x/2 - logRoot2Pi - math.Log(-x) + math.Log1p(-q*(1-3*q*(1-5*q)))
	} else {
		value = math.Log(0.5 * math.Erfc(-x/math.Sqrt2))
	}
	return value, math.Exp(-x*x/2 - logRoot2Pi - value)
}
