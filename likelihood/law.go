package likelihood

import "math"

// A Law is a likelihood that a solver fits through Gaussian sites, together with its
// own parameters. It is an immutable value.
type Law interface {
	// Sites writes the Gaussian observation that replaces each cell and returns the
	// weighted sum of expected log likelihoods.
	Sites(cells Cells, out Sites, loop Loop) float64

	// Bound is Sites for a lower bound of the expectation, whose sites do not overshoot.
	Bound(cells Cells, out Sites, loop Loop) float64

	// Damped reports whether Sites may overshoot, so that its steps are to be damped.
	Damped() bool

	// LogProb returns log p(y|f).
	LogProb(y, f float64) float64

	// Learn returns the law whose parameters maximise the expected log likelihood of the
	// cells, starting at its own.
	Learn(cells Cells, loop Loop) Law

	// Parameters are real numbers that are all 0 at the start of a fit, and At returns
	// the law with given ones.
	Parameters() []float64
	At(parameters []float64) Law
}

// poissonBoundSize is the size of the negative binomial whose bound replaces that of
// Poisson counts, which have no quadratic bound.
const poissonBoundSize = 5

// Bound writes the sites of a negative binomial, whose variance is larger. It returns
// the expected log likelihood of the Poisson distribution.
func (p Poisson) Bound(cells Cells, out Sites, loop Loop) float64 {
	value := p.Sites(cells, out, loop)
	NegativeBinomial{Size: poissonBoundSize}.Bound(cells, out, loop)
	return value
}

// Damped returns true.
func (Poisson) Damped() bool { return true }

// Learn returns p, which has no parameters.
func (p Poisson) Learn(Cells, Loop) Law { return p }

// Parameters returns nil.
func (Poisson) Parameters() []float64 { return nil }

// At returns p.
func (p Poisson) At([]float64) Law { return p }

// Damped returns true.
func (NegativeBinomial) Damped() bool { return true }

// Learn is FitSize.
func (n NegativeBinomial) Learn(cells Cells, loop Loop) Law {
	best, _ := n.FitSize(cells, loop)
	return best
}

// Parameters returns the logarithm of the size.
func (n NegativeBinomial) Parameters() []float64 { return []float64{math.Log(n.Size)} }

// At returns the distribution whose size has the given logarithm.
func (NegativeBinomial) At(parameters []float64) Law {
	return NegativeBinomial{Size: math.Exp(parameters[0])}
}
