// Package likelihood provides the distributions of observations given the field
// f.
//
// For counts, with log link: Poisson and NegativeBinomial. A variational solver
// knows the mean m and variance v of f at each cell. It needs E = E[log p(y|f)]
// over f ~ N(m, v) and the derivatives of E. By the theorems of Bonnet and
// Price
//
//	dE/dm = E[l'(f)],  dE/dv = E[l''(f)]/2,  l = log p(y|f)
//
// and a natural-gradient step replaces the cell by a Gaussian observation with
// precision lambda = -2 dE/dv and target m + (dE/dm)/lambda. Both likelihoods
// are concave in f, so lambda > 0. Sites computes these observations for all
// cells.
//
// Such a step may overshoot, most of all if y is far above exp(m): then lambda
// is small and the target is far away. Mix (lambda, lambda target) with those
// of the previous step, or use NegativeBinomial.Bound, whose sites never lower
// the bound.
//
// For Gaussian noise on the modelling scale: Constant, ByEntity and Power, each
// fitted to expected squared errors e_n = (y_n - E f_n)^2 + Var f_n.
package likelihood

import "math"

// Exponents are clamped to these limits. exp(40) = 2e17 is beyond any count
// that float32 can distinguish from its neighbours, and its square is still a
// float32; exp(-30) = 1e-13 keeps every precision positive and every target
// finite. Expectations are continued linearly outside, so that values and
// derivatives are consistent there too.
const (
	lowestLog  = -30
	highestLog = 40
)

// minPrecision is exp(lowestLog).
const minPrecision = 9.357622968840175e-14

// Expectation is E[log p(y|f)] over f ~ N(m, v) with its derivatives with
// respect to m and v.
type Expectation struct {
	Value, ByMean, ByVariance float64
}

// Site returns the Gaussian observation with the same derivatives at mean m.
func (e Expectation) Site(m float64) (target, precision float64) {
	precision = max(-2*e.ByVariance, minPrecision)
	return m + e.ByMean/precision, precision
}

// Cells are observations with the moments of the field at their cells. Weight
// multiplies the log likelihood of a cell; nil means 1.
type Cells struct {
	Y, Mean, Variance, Weight []float32

	// Censored is above 0 for a value that is known from below only, see [Censored]; nil
	// for none.
	Censored []float32
}

func (c Cells) weight(i int) float64 {
	if c.Weight == nil {
		return 1
	}
	return float64(c.Weight[i])
}

// Sites receives one Gaussian observation per cell. The precision includes the
// weight of the cell.
type Sites struct {
	Target, Precision []float32
}

// Loop calls work(0), ..., work(n-1), in any order and possibly in parallel. A
// nil Loop is sequential. Sums do not depend on the Loop.
type Loop func(n int, work func(i int))

// run calls work for 0 to n-1, one after the other without a loop.
func (loop Loop) run(n int, work func(k int)) {
	if loop != nil {
		loop(n, work)
		return
	}
	for k := range n {
		work(k)
	}
}

// blockCells is the number of cells of one partial sum.
const blockCells = 4096

// sums3 are three sums over cells.
type sums3 [3]float64

// sums adds the results of add over all cells: in order within a block of
// cells, then block by block, so that the bits are the same for any loop.
func sums(cells int, loop Loop, add func(i int) [3]float64) sums3 {
	blocks := make([][3]float64, (cells+blockCells-1)/blockCells)
	work := func(k int) {
		var sum [3]float64
		for i := k * blockCells; i < min((k+1)*blockCells, cells); i++ {
			a := add(i)
			sum[0] += a[0]
			sum[1] += a[1]
			sum[2] += a[2]
		}
		blocks[k] = sum
	}
	loop.run(len(blocks), work)
	var sum sums3
	for _, a := range blocks {
		sum[0] += a[0]
		sum[1] += a[1]
		sum[2] += a[2]
	}
	return sum
}

// sites fills out from expect and returns the weighted sum of values. A cell
// with weight 0 gets precision 0.
func sites(cells Cells, out Sites, loop Loop, expect func(y, m, v float64) Expectation) float64 {
	return sums(len(cells.Y), loop, func(i int) [3]float64 {
		w, m := cells.weight(i), float64(cells.Mean[i])
		e := expect(float64(cells.Y[i]), m, float64(cells.Variance[i]))
		target, precision := e.Site(m)
		out.Target[i], out.Precision[i] = float32(target), float32(w*precision)
		return [3]float64{w * e.Value}
	})[0]
}

// tabulated returns f with its values at small counts computed in advance, from
// f(0) and the differences f(y+1) - f(y). Most counts are small, and a logarithm
// of the gamma function costs as much as several exponentials.
func tabulated(f, difference func(y float64) float64) func(y float64) float64 {
	var table [256]float64
	table[0] = f(0)
	for i := range table[1:] {
		table[i+1] = table[i] + difference(float64(i))
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
