package likelihood

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Ordinal is one of few ordered values, such as a number of stars. A latent variable f + e,
// e standard normal, falls between two cut points c(k-1) and c(k), which are learned:
//
//	P(Y <= Level(k) | f) = Phi(c(k) - f),  log p(k|f) = log(Phi(c(k)-f) - Phi(c(k-1)-f))
//
// so the distances between neighbouring values need not be equal, and the share of a value
// may be small between those of its neighbours. Levels are in increasing order and one
// more than Cuts.
type Ordinal struct {
	Levels []float64 `json:"levels"`
	Cuts   []float64 `json:"cuts"`

	start []float64 // the cuts at the start of a fit
}

// MaxLevels is the largest number of values of an ordinal target.
const MaxLevels = 30

// leastGap is the smallest distance between two cuts.
const leastGap = 1e-3

// NewOrdinal returns the distribution at which a fit starts: the cuts of a field that is 0,
// by the shares of the values. The counts of the levels must be 0 or more.
func NewOrdinal(levels, counts []float64) Ordinal {
	total, sum := 0.0, 0.0
	for _, n := range counts {
		total += n + 1
	}
	o := Ordinal{Levels: levels}
	for _, n := range counts[:len(counts)-1] {
		sum += n + 1
		o.start = append(o.start, math.Sqrt2*math.Erfinv(2*sum/total-1))
	}
	o.Cuts = slices.Clone(o.start)
	return o
}

// level returns the position of a value, or -1.
func (o Ordinal) level(y float64) int {
	if k, found := slices.BinarySearch(o.Levels, y); found {
		return k
	}
	return -1
}

// limits returns the cuts around level k.
func (o Ordinal) limits(k int) (low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	if k > 0 {
		low = o.Cuts[k-1]
	}
	if k < len(o.Cuts) {
		high = o.Cuts[k]
	}
	return low, high
}

// between returns log(Phi(high)-Phi(low)) and the densities phi(low) and phi(high) relative
// to that probability.
func between(low, high float64) (value, atLow, atHigh float64) {
	if low > 0 { // the other tail has more digits
		value, atHigh, atLow = between(-high, -low)
		return value, atLow, atHigh
	}
	value, _ = logNormalCDF(high)
	if !math.IsInf(low, -1) {
		below, _ := logNormalCDF(low)
		value += math.Log1p(-math.Exp(min(below-value, -1e-12)))
	}
	density := func(x float64) float64 {
		if math.IsInf(x, 0) {
			return 0
		}
		return math.Exp(-x*x/2 - logRoot2Pi - value)
	}
	return value, density(low), density(high)
}

// times returns x a, and 0 for an infinite x, whose density a is 0.
func times(x, a float64) float64 {
	if a == 0 {
		return 0
	}
	return x * a
}

// at returns log p(k|f) and its first two derivatives in f.
func (o Ordinal) at(k int, f float64) [3]float64 {
	low, high := o.limits(k)
	value, a, b := between(low-f, high-f)
	slope := a - b
	return [3]float64{value, slope, min(times(low-f, a)-times(high-f, b)-slope*slope, 0)}
}

// Sites writes the Gaussian observation that replaces each cell and returns the weighted sum of
// expected log likelihoods. It costs two error functions at 7 or more values of f per cell.
func (o Ordinal) Sites(cells Cells, out Sites, loop Loop) float64 {
	return sites(cells, out, loop, func(y, m, v float64) Expectation {
		k := o.level(y)
		var e [3]float64
		eachNode(m, v, func(f, w float64) {
			at := o.at(k, f)
			for i := range e {
				e[i] += w * at[i]
			}
		})
		return Expectation{Value: e[0], ByMean: e[1], ByVariance: e[2] / 2}
	})
}

// Bound is Sites for the bound log p(k|m) - v/2: the second derivative is above -1.
func (o Ordinal) Bound(cells Cells, out Sites, loop Loop) float64 {
	return sites(cells, out, loop, func(y, m, v float64) Expectation {
		at := o.at(o.level(y), m)
		return Expectation{Value: at[0] - max(v, 0)/2, ByMean: at[1], ByVariance: -0.5}
	})
}

// eachNode calls visit with values of f ~ N(m, v) and weights that sum to 1: seven
// Gauss-Hermite nodes for a small v, the trapezoidal rule for others.
func eachNode(m, v float64, visit func(f, w float64)) {
	sd := math.Sqrt(min(max(v, 0), maxSD*maxSD))
	if sd <= 2*smallSD {
		visit(m, hermiteWeights[0])
		for k, z := range hermiteNodes[1:] {
			visit(m+sd*z, hermiteWeights[k+1])
			visit(m-sd*z, hermiteWeights[k+1])
		}
		return
	}
	step := 0.5 / math.Ceil(sd)
	nodes := int(6 / step)
	total := 0.0
	for k := -nodes; k <= nodes; k++ {
		z := float64(k) * step
		total += math.Exp(-z * z / 2)
	}
	for k := -nodes; k <= nodes; k++ {
		z := float64(k) * step
		visit(m+sd*z, math.Exp(-z*z/2)/total)
	}
}

// Damped returns true.
func (Ordinal) Damped() bool { return true }

// LogProb returns log p(y|f), -Inf for other values.
func (o Ordinal) LogProb(y, f float64) float64 {
	k := o.level(y)
	if k < 0 {
		return math.Inf(-1)
	}
	return o.at(k, f)[0]
}

// cutSteps is the number of Newton steps in one call of Learn, and cutHalvings how often
// one is halved.
const (
	cutSteps    = 2
	cutHalvings = 5
)

// Learn moves the cuts by Newton steps on the diagonal, halved until the expected log
// likelihood does not decrease.
func (o Ordinal) Learn(cells Cells, loop Loop) Law {
	now, slope, curve := o.derivatives(cells, loop)
	for range cutSteps {
		length, moved := 1.0, false
		for range cutHalvings {
			next := Ordinal{Levels: o.Levels, Cuts: slices.Clone(o.Cuts), start: o.start}
			for k := range next.Cuts {
				next.Cuts[k] += length * slope[k] / max(curve[k], 1e-9)
				if k > 0 {
					next.Cuts[k] = max(next.Cuts[k], next.Cuts[k-1]+leastGap)
				}
			}
			value, s, c := next.derivatives(cells, loop)
			if value >= now {
				o, now, slope, curve, moved = next, value, s, c, true
				break
			}
			length /= 2
		}
		if !moved {
			break
		}
	}
	return o
}

// derivatives returns the expected log likelihood, its derivatives with respect to the cuts
// and the negative of the second ones.
func (o Ordinal) derivatives(cells Cells, loop Loop) (value float64, slope, curve []float64) {
	n := len(o.Cuts)
	blocks := make([][]float64, (len(cells.Y)+blockCells-1)/blockCells)
	work := func(block int) {
		sum := make([]float64, 1+2*n)
		for i := block * blockCells; i < min((block+1)*blockCells, len(cells.Y)); i++ {
			k, weight := o.level(float64(cells.Y[i])), cells.weight(i)
			low, high := o.limits(k)
			eachNode(float64(cells.Mean[i]), float64(cells.Variance[i]), func(f, w float64) {
				w *= weight
				value, a, b := between(low-f, high-f)
				sum[0] += w * value
				if k < n {
					sum[1+k] += w * b
					sum[1+n+k] += w * (times(high-f, b) + b*b)
				}
				if k > 0 {
					sum[k] -= w * a
					sum[n+k] += w * (a*a - times(low-f, a))
				}
			})
		}
		blocks[block] = sum
	}
	loop.run(len(blocks), work)
	total := make([]float64, 1+2*n)
	for _, sum := range blocks {
		for i, v := range sum {
			total[i] += v
		}
	}
	return total[0], total[1 : 1+n], total[1+n:]
}

// Parameters returns the shift of the first cut and the logarithms of the factors of the
// gaps between the others, relative to the start.
func (o Ordinal) Parameters() []float64 {
	p := make([]float64, len(o.Cuts))
	for k := range p {
		if k == 0 {
			p[k] = o.Cuts[0] - o.start[0]
			continue
		}
		p[k] = math.Log((o.Cuts[k] - o.Cuts[k-1]) / (o.start[k] - o.start[k-1]))
	}
	return p
}

// At returns the distribution with given parameters.
func (o Ordinal) At(p []float64) Law {
	next := Ordinal{Levels: o.Levels, Cuts: make([]float64, len(p)), start: o.start}
	for k := range p {
		if k == 0 {
			next.Cuts[k] = o.start[0] + p[0]
			continue
		}
		next.Cuts[k] = next.Cuts[k-1] + (o.start[k]-o.start[k-1])*math.Exp(p[k])
	}
	return next
}

// Values returns the possible values.
func (o Ordinal) Values() []float64 { return o.Levels }

// Mean returns E[Y | f] = sum over k of Level(k) P(Y = Level(k) | f).
func (o Ordinal) Mean(f float64) float64 {
	mean, below := 0.0, 0.0
	for k, level := range o.Levels {
		upTo := o.CDF(k, f)
		mean, below = mean+level*(upTo-below), upTo
	}
	return mean
}

// CDF returns P(Y <= Levels[k] | f).
func (o Ordinal) CDF(k int, f float64) float64 {
	if k >= len(o.Cuts) {
		return 1
	}
	return 0.5 * math.Erfc((f-o.Cuts[k])/math.Sqrt2)
}

// Draw returns a value drawn given f.
func (o Ordinal) Draw(rng *rand.Rand, f float64) float64 {
	latent := f + rng.NormFloat64()
	k := 0
	for k < len(o.Cuts) && latent > o.Cuts[k] {
		k++
	}
	return o.Levels[k]
}
