// Package likelihood holds how an observation scatters around the field f.
//
// Counts, with log link: Poisson and NegativeBinomial. A variational solver knows the
// mean m and variance v of f at each cell; it needs E = E[log p(y|f)] over
// f ~ N(m, v) and the derivatives of E. By the theorems of Bonnet and Price
//
//	dE/dm = E[l'(f)],  dE/dv = E[l''(f)]/2,  l = log p(y|f)
//
// and a natural-gradient step makes the cell a Gaussian observation of precision
// lambda = -2 dE/dv and target m + (dE/dm)/lambda. Both likelihoods are concave in
// f, so lambda > 0. Sites computes that for all cells.
//
// Such a step climbs but may overshoot, most of all where y is far above exp(m):
// there lambda is small and the target far away. Mix (lambda, lambda target) with
// those of the step before, or use NegativeBinomial.Bound, whose sites never
// lower the bound.
//
// Gaussian noise on the modelling scale: Constant, ByEntity and Power, each fitted to
// expected squared errors e_n = (y_n - E f_n)^2 + Var f_n.
package likelihood

import "math"

// Exponents stay within these limits. exp(40) = 2e17 is beyond any count that a
// float32 tells from its neighbours, and its square still is a float32; exp(-30) =
// 1e-13 keeps every precision positive and every target finite. Expectations are
// continued linearly outside, so that values and derivatives agree there too.
const (
	lowestLog  = -30
	highestLog = 40
)

// leastPrecision is exp(lowestLog).
const leastPrecision = 9.357622968840175e-14

// Expectation is E[log p(y|f)] over f ~ N(m, v) with its derivatives by m and v.
type Expectation struct {
	Value, ByMean, ByVariance float64
}

// Site returns the Gaussian observation with the same derivatives at mean m.
func (e Expectation) Site(m float64) (target, precision float64) {
	precision = max(-2*e.ByVariance, leastPrecision)
	return m + e.ByMean/precision, precision
}

// Cells are observations with the moments of the field there. Weight multiplies a
// cell's log likelihood; nil means one.
type Cells struct {
	Y, Mean, Variance, Weight []float32
}

func (c Cells) weight(i int) float64 {
	if c.Weight == nil {
		return 1
	}
	return float64(c.Weight[i])
}

// Sites receives a Gaussian observation for each cell; the precision includes the
// cell's weight.
type Sites struct {
	Target, Precision []float32
}

// Loop calls work for each i in [0, n), in any order and at once if it likes. Nil
// means one after the other. Sums do not depend on it.
type Loop func(n int, work func(i int))

// run is the number of cells that make one partial sum.
const run = 4096

// sums adds what add returns over all cells: in order within a run of cells, then run
// by run, so that the bits are the same for any loop.
func sums(cells int, each Loop, add func(i int) [3]float64) [3]float64 {
	runs := make([][3]float64, (cells+run-1)/run)
	work := func(k int) {
		var sum [3]float64
		for i := k * run; i < min((k+1)*run, cells); i++ {
			a := add(i)
			sum[0] += a[0]
			sum[1] += a[1]
			sum[2] += a[2]
		}
		runs[k] = sum
	}
	if each == nil {
		for k := range runs {
			work(k)
		}
	} else {
		each(len(runs), work)
	}
	var sum [3]float64
	for _, a := range runs {
		sum[0] += a[0]
		sum[1] += a[1]
		sum[2] += a[2]
	}
	return sum
}

// sites fills out by expect and returns the weighted sum of values. A cell of weight
// zero gets the precision zero.
func sites(cells Cells, out Sites, each Loop, expect func(y, m, v float64) Expectation) float64 {
	return sums(len(cells.Y), each, func(i int) [3]float64 {
		w, m := cells.weight(i), float64(cells.Mean[i])
		e := expect(float64(cells.Y[i]), m, float64(cells.Variance[i]))
		target, precision := e.Site(m)
		out.Target[i], out.Precision[i] = float32(target), float32(w*precision)
		return [3]float64{w * e.Value}
	})[0]
}

// tabled returns f with its values at small counts, which most counts are, computed
// beforehand: a logarithm of the gamma function costs as much as several exponentials.
func tabled(f func(y float64) float64) func(y float64) float64 {
	var table [256]float64
	for i := range table {
		table[i] = f(float64(i))
	}
	return func(y float64) float64 {
		if y >= 0 && y < float64(len(table)) {
			if i := int(y); float64(i) == y {
				return table[i]
			}
		}
		return f(y)
	}
}

func logGamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}
