package likelihood

import (
	"math"
	"math/rand/v2"

	"github.com/kernel-fried-tensor/kft/internal/golden"
)

// StudentT is y = f + e, where e/sqrt(Variance) has a Student t distribution with DF
// degrees of freedom. Values far from f, such as errors of data entry, influence f less
// than with normal noise:
//
//	log p(y|f) = c - log(Variance)/2 - (DF+1)/2 log(1 + (y-f)^2/(DF Variance))
//
// The weight of a cell is a precision: it divides Variance.
type StudentT struct {
	Variance float64 `json:"variance"`
	DF       float64 `json:"df"`
}

// Limits of the degrees of freedom. Below 2 there is no variance, and from 200 on the
// distribution is normal for all practical purposes.
const (
	MinDF   = 2.1
	MaxDF   = 200
	startDF = 8
)

// NewStudentT returns the distribution at which a fit to standardised targets starts.
func NewStudentT() StudentT { return StudentT{Variance: 1, DF: startDF} }

// Bound writes sites whose precision falls with the distance of a value from the field.
// The logarithm of a t density is a convex decreasing function of the squared distance,
// so with r = E(y-f)^2
//
//	E[log p] >= c - log(Variance)/2 - (DF+1)/2 log(1 + r/(DF Variance)),
//
// which is exact at v = 0. The tangent at r gives a Gaussian site with target y and
// precision (DF+1)/(DF Variance + r), the expected precision of the scale mixture of
// normal distributions. It costs one logarithm per cell.
func (s StudentT) Bound(cells Cells, out Sites, loop Loop) float64 {
	own := s.DF * s.Variance
	return sums(len(cells.Y), loop, func(i int) [3]float64 {
		w, r := cells.weight(i), cells.squaredError(i)
		out.Target[i], out.Precision[i] = cells.Y[i], float32(w*(s.DF+1)/(own+w*r))
		if w == 0 {
			return [3]float64{}
		}
		return [3]float64{(math.Log(w) - (s.DF+1)*math.Log1p(w*r/own)) / 2, 1}
	}).withConstant(s.constant())
}

// withConstant returns the first sum plus a constant for each cell counted by the second.
func (sum sums3) withConstant(c float64) float64 { return sum[0] + c*sum[1] }

// squaredError returns E(y-f)^2.
func (c Cells) squaredError(i int) float64 {
	d := float64(c.Y[i]) - float64(c.Mean[i])
	return d*d + max(float64(c.Variance[i]), 0)
}

// constant returns the logarithm of the density at f.
func (s StudentT) constant() float64 {
	return logGamma((s.DF+1)/2) - logGamma(s.DF/2) - math.Log(math.Pi*s.DF*s.Variance)/2
}

// Sites is Bound.
func (s StudentT) Sites(cells Cells, out Sites, loop Loop) float64 { return s.Bound(cells, out, loop) }

// Damped returns false: sites are those of the bound.
func (StudentT) Damped() bool { return false }

// LogProb returns log p(y|f) of a cell with weight 1.
func (s StudentT) LogProb(y, f float64) float64 {
	return s.constant() - (s.DF+1)/2*math.Log1p((y-f)*(y-f)/(s.DF*s.Variance))
}

const (
	studentTurns = 2 // over the two parameters, in one call of Learn
	dfMove       = 0.7
	dfSteps      = 8
)

// Learn raises the bound in Variance, by the closed form of the mixture, and in DF, by a
// search around its value. Both depend on the cells by their squared errors only, which are
// binned first. It costs less than Bound for many cells.
func (s StudentT) Learn(cells Cells, loop Loop) Law {
	errors := binErrors(cells, loop)
	total := 0.0
	for _, e := range errors {
		total += e.cells
	}
	for range studentTurns {
		for range 2 {
			sum := 0.0
			for _, e := range errors {
				sum += e.cells * e.mean * (s.DF + 1) / (s.DF + e.mean/s.Variance)
			}
			s.Variance = max(sum/max(total, 1), minVariance)
		}
		now := math.Log(s.DF)
		s.DF = math.Exp(golden.Maximum(max(now-dfMove, math.Log(MinDF)), min(now+dfMove, math.Log(MaxDF)), dfSteps, func(logDF float64) float64 {
			try := StudentT{s.Variance, math.Exp(logDF)}
			own, sum := try.DF*try.Variance, 0.0
			for _, e := range errors {
				sum += e.cells * math.Log1p(e.mean/own)
			}
			return total*try.constant() - (try.DF+1)/2*sum
		}))
	}
	return s
}

// errorBin has the number of cells whose squared errors, times their weights, are in one bin, and their mean.
type errorBin struct{ cells, mean float64 }

const (
	binBits      = 4  // of the mantissa: bins are a sixteenth of their lower end wide, at most
	binExponents = 40 // squared errors from 2^-40 to 2^40 have bins of their own
	errorBins    = 2 * binExponents << binBits
	binnedCells  = 1 << 16 // of one partial histogram
)

// binErrors returns the bins with cells, in the order of size. In each of them a smooth function
// has the value at the mean to second order in the width: log(1 + x) to 4e-5. A cell with weight 0
// is left out.
func binErrors(cells Cells, loop Loop) []errorBin {
	const lowest = (1023 - binExponents) << binBits
	n := len(cells.Y)
	parts := make([][]errorBin, (n+binnedCells-1)/binnedCells) // with sums in place of means
	loop.run(len(parts), func(k int) {
		bins := make([]errorBin, errorBins)
		for i := k * binnedCells; i < min((k+1)*binnedCells, n); i++ {
			w := cells.weight(i)
			if w == 0 {
				continue
			}
			r := w * cells.squaredError(i)
			bin := &bins[min(max(int(math.Float64bits(r)>>(52-binBits))-lowest, 0), errorBins-1)]
			bin.cells++
			bin.mean += r
		}
		parts[k] = bins
	})
	var bins []errorBin
	for b := range errorBins {
		var bin errorBin
		for _, part := range parts {
			bin.cells += part[b].cells
			bin.mean += part[b].mean
		}
		if bin.cells > 0 {
			bin.mean /= bin.cells
			bins = append(bins, bin)
		}
	}
	return bins
}

// Parameters returns log Variance and the logarithm of DF relative to its start.
func (s StudentT) Parameters() []float64 {
	return []float64{math.Log(s.Variance), math.Log(s.DF / startDF)}
}

// At returns the distribution with given parameters.
func (StudentT) At(p []float64) Law {
	return StudentT{Variance: math.Exp(p[0]), DF: startDF * math.Exp(p[1])}
}

// CDF returns the probability that e/sqrt(Variance) is at most z, with the incomplete
// beta function.
func (s StudentT) CDF(z float64) float64 {
	tail := incompleteBeta(s.DF/2, 0.5, z*z/s.DF) / 2
	if z > 0 {
		return 1 - tail
	}
	return tail
}

// LogDensity returns the logarithm of the density of e/sqrt(Variance).
func (s StudentT) LogDensity(z float64) float64 {
	return StudentT{Variance: 1, DF: s.DF}.LogProb(z, 0)
}

// Quantile returns the z at which CDF(z) is p, by bisection.
func (s StudentT) Quantile(p float64) float64 {
	if p > 0.5 {
		return -s.Quantile(1 - p)
	}
	low, high := -1.0, 0.0
	for low > -1e18 && s.CDF(low) > p {
		low, high = 2*low, low
	}
	for range 100 {
		middle := (low + high) / 2
		if middle == low || middle == high {
			break
		}
		if s.CDF(middle) < p {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}

// Noise draws e/sqrt(Variance).
func (s StudentT) Noise(rng *rand.Rand) float64 {
	return rng.NormFloat64() / math.Sqrt(drawGamma(rng, s.DF/2)/(s.DF/2))
}
