package likelihood

import (
	"math"
	"math/rand/v2"
)

// NegativeBinomial is a Poisson distribution whose rate is exp f times a gamma
// variable with mean 1 and shape Size: Var[y|f] = mu + mu^2/Size, mu = exp f.
// With psi = f - log Size
//
//	log p(y|f) = lgamma(y+Size) - lgamma(Size) - lgamma(y+1) + y psi - (y+Size) log(1 + exp psi)
//
// Size must be positive. As it grows the distribution approaches the Poisson.
type NegativeBinomial struct {
	Size float64 `json:"size"`
}

// Expect returns E[log p] over f ~ N(m, v). It follows from three functions of
// psi ~ N(m - log Size, v), see softplus:
//
//	E = c(y) + y E[psi] - (y+r) E[log(1+exp psi)]
//	dE/dm = y - (y+r) E[sigma(psi)],  dE/dv = -(y+r)/2 E[sigma(psi)(1-sigma(psi))]
func (n NegativeBinomial) Expect(y, m, v float64) Expectation {
	return n.expect(y, m-math.Log(n.Size), v, n.constant(y))
}

func (n NegativeBinomial) expect(y, mu, v, constant float64) Expectation {
	s0, s1, s2 := softplus(mu, v)
	return Expectation{
		Value:      constant + y*mu - (y+n.Size)*s0,
		ByMean:     y - (y+n.Size)*s1,
		ByVariance: -(y + n.Size) * s2 / 2,
	}
}

// Sites writes the Gaussian observation that replaces each cell and returns the
// weighted sum of expected log likelihoods. Its cost per cell is that of softplus.
func (n NegativeBinomial) Sites(cells Cells, out Sites, loop Loop) float64 {
	constant, shift := n.constants(), math.Log(n.Size)
	return sites(cells, out, loop, func(y, m, v float64) Expectation { return n.expect(y, m-shift, v, constant(y)) })
}

// Bound is Sites for a lower bound of the expectation that is quadratic in f
// (Jaakkola and Jordan 2000; the Polya-gamma augmentation gives the same): with
// xi^2 = E[psi^2]
//
//	E >= c(y) + (y-r)/2 E[psi] - (y+r) log(2 cosh(xi/2))
//
// which is exact at v = 0. Its sites are exact coordinate updates: an ELBO that
// contains this bound never decreases. Its steps are shorter than those of
// Sites, more so for a larger Size. It costs about as much as Sites.
func (n NegativeBinomial) Bound(cells Cells, out Sites, loop Loop) float64 {
	r, shift, constant := n.Size, math.Log(n.Size), n.constants()
	return sums(len(cells.Y), loop, func(i int) [3]float64 {
		w, y := cells.weight(i), float64(cells.Y[i])
		mu := float64(cells.Mean[i]) - shift
		quarter, cosh := logisticBound(mu, float64(cells.Variance[i]))
		precision := (y + r) * quarter
		out.Target[i] = float32(shift + (y-r)/(2*precision))
		out.Precision[i] = float32(w * precision)
		return [3]float64{w * (constant(y) + (y-r)/2*mu - (y+r)*cosh)}
	})[0]
}

// LogProb returns log p(y|f).
func (n NegativeBinomial) LogProb(y, f float64) float64 {
	psi := f - math.Log(n.Size)
	return n.constant(y) + y*psi - (y+n.Size)*(max(psi, 0)+math.Log1p(math.Exp(-math.Abs(psi))))
}

// Mean returns E[y|f] = exp f.
func (n NegativeBinomial) Mean(f float64) float64 { return rate(f) }

// Var returns Var[y|f] = mu + mu^2/Size, mu = exp f.
func (n NegativeBinomial) Var(f float64) float64 {
	mu := rate(f)
	return mu + mu*mu/n.Size
}

// CDF returns P(Y <= y | f) = I(Size, floor(y)+1; Size/(Size+exp f)), the
// incomplete beta function. For large y it uses the gamma distribution with the
// same mean and variance.
func (n NegativeBinomial) CDF(y, f float64) float64 {
	mu := rate(f)
	switch {
	case y < 0:
		return 0
	case y > large && mu > 0:
		shape := n.Size / (1 + n.Size/mu)
		return 1 - upperGamma(shape, shape*((math.Floor(y)+0.5)/mu))
	}
	return incompleteBeta(n.Size, math.Floor(y)+1, mu/n.Size)
}

// Draw returns a count drawn given f.
func (n NegativeBinomial) Draw(rng *rand.Rand, f float64) float64 {
	return drawPoisson(rng, rate(f)*drawGamma(rng, n.Size)/n.Size)
}

// constant returns c(y) = log(Gamma(y+Size) / (Gamma(Size) y!)).
func (n NegativeBinomial) constant(y float64) float64 {
	switch y {
	case 0:
		return 0
	case 1:
		return math.Log(n.Size)
	case 2:
		return math.Log(n.Size * (n.Size + 1) / 2)
	}
	return logRising(n.Size, y) - logFactorial(y)
}

// constants returns constant with its values at small counts computed in advance.
func (n NegativeBinomial) constants() func(y float64) float64 {
	return tabulated(n.constant, func(y float64) float64 { return math.Log((y + n.Size) / (y + 1)) })
}

// logRising returns log(Gamma(r+y)/Gamma(r)). For large r both terms are huge
// and their difference is not, so the difference of Stirling's series is used.
func logRising(r, y float64) float64 {
	if r < 32 {
		return logGamma(r+y) - logGamma(r)
	}
	return (r+y-0.5)*math.Log1p(y/r) + y*(math.Log(r)-1) + stirling(r+y) - stirling(r)
}

// stirling returns lgamma(x) - (x - 1/2) log x + x - log(2 pi)/2, to 1e-13 for
// x >= 32.
func stirling(x float64) float64 {
	q := 1 / (x * x)
	return (1.0/12 - q*(1.0/360-q/1260)) / x
}
