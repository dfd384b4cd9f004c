package likelihood

import (
	"math"
	"math/rand/v2"
)

// Poisson is y ~ Poisson(exp f): log p(y|f) = y f - exp f - log y!.
type Poisson struct{}

// Expect returns E[log p] = y m - exp(m + v/2) - log y!, in closed form.
func (p Poisson) Expect(y, m, v float64) Expectation {
	return p.expect(y, m, v, logFactorial(y))
}

func (Poisson) expect(y, m, v, logFactorial float64) Expectation {
	t := m + max(v, 0)/2
	in := min(max(t, lowestLog), highestLog)
	rate := math.Exp(in)
	return Expectation{
		Value:      y*m - rate*(1+t-in) - logFactorial,
		ByMean:     y - rate,
		ByVariance: -rate / 2,
	}
}

// Sites writes the Gaussian observation that replaces each cell and returns the
// weighted sum of expected log likelihoods. It costs one exponential per cell.
func (p Poisson) Sites(cells Cells, out Sites, loop Loop) float64 {
	constant := tabulated(logFactorial, func(y float64) float64 { return math.Log(y + 1) })
	return sites(cells, out, loop, func(y, m, v float64) Expectation { return p.expect(y, m, v, constant(y)) })
}

// LogProb returns log p(y|f).
func (Poisson) LogProb(y, f float64) float64 {
	return y*f - rate(f) - logFactorial(y)
}

// Mean returns E[y|f] = exp f.
func (Poisson) Mean(f float64) float64 { return rate(f) }

// Var returns Var[y|f] = exp f.
func (Poisson) Var(f float64) float64 { return rate(f) }

// CDF returns P(Y <= y | f) = Q(floor(y)+1, exp f), the upper incomplete gamma
// function.
func (Poisson) CDF(y, f float64) float64 {
	if y < 0 {
		return 0
	}
	return upperGamma(math.Floor(y)+1, rate(f))
}

// Draw returns a count drawn given f.
func (Poisson) Draw(rng *rand.Rand, f float64) float64 { return drawPoisson(rng, rate(f)) }

// rate returns exp f, clamped to a finite value.
func rate(f float64) float64 { return math.Exp(min(f, highestLog)) }

func logFactorial(y float64) float64 { return logGamma(y + 1) }
