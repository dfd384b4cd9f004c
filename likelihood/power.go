package likelihood

import "math"

// Power is a noise variance that grows with the predicted mean:
//
//	s2(m) = Scale * max(m, Floor)^Exponent
//
// The means are positive numbers on most scales (counts and amounts, in the target's
// units or their logarithm); the floor makes the others safe.
type Power struct {
	Scale    float64 `json:"scale"`
	Exponent float64 `json:"exponent"`
	Floor    float64 `json:"floor"`
}

// At returns the noise variance at a predicted mean.
func (p Power) At(mean float64) float64 {
	return p.Scale * math.Exp(p.Exponent*math.Log(max(mean, p.Floor)))
}

// floorShares are the floors tried, as shares of the average positive mean.
var floorShares = [...]float64{0.01, 0.03, 0.1, 0.3}

const (
	leastExponent = -2 // beyond these limits the fit follows a few outliers
	mostExponent  = 6
	powerSteps    = 50
)

// FitPower fits scale and exponent for each of some floors by maximum likelihood, and
// keeps the best. With x = log max(m, Floor), the likelihood
//
//	-1/2 sum [a + b x_n + w e_n exp(-a - b x_n)]
//
// is concave in (a, b), so Newton's steps, halved until it does not fall, find its
// maximum from anywhere. Rows are first summed by x in bins a hundredth wide. Without any
// positive mean the result is constant.
func FitPower(errors Errors, mean []float32) Power {
	best, bestValue := Power{Scale: FitConstant(errors).Variance, Floor: 1}, math.Inf(-1)
	sum, positive := 0.0, 0
	for i, m := range mean {
		if _, ok := errors.at(i); ok && m > 0 {
			sum += float64(m)
			positive++
		}
	}
	if positive == 0 {
		return best
	}
	for _, share := range floorShares {
		p := Power{Floor: share * sum / float64(positive)}
		value := p.fit(errors, mean)
		if value > bestValue {
			best, bestValue = p, value
		}
	}
	return best
}

const binWidth = 0.01 // of log mean: the variance within a bin varies by a percent or two

// bin holds rows of nearly the same mean: their number, and the sums of x and w e.
type bin struct{ count, x, squared float64 }

// fit sets scale and exponent and returns the log likelihood.
func (p *Power) fit(errors Errors, mean []float32) float64 {
	var bins []bin
	start := math.Log(p.Floor)
	for i, m := range mean {
		e, ok := errors.at(i)
		if !ok {
			continue
		}
		x := start
		if float64(m) > p.Floor {
			x = math.Log(min(float64(m), math.MaxFloat32))
		}
		at := int((x - start) / binWidth)
		for len(bins) <= at {
			bins = append(bins, bin{})
		}
		bins[at].count++
		bins[at].x += x
		bins[at].squared += e
	}
	var count, squared, centre float64
	for k := range bins {
		if b := &bins[k]; b.count > 0 {
			count += b.count
			squared += b.squared
			centre += b.x
			b.x /= b.count
		}
	}
	centre /= count // keeps a and b nearly uncorrelated
	a, b := math.Log(max(squared/count, leastVariance)), 0.0
	value, ga, gb, haa, hab, hbb := powerObjective(bins, centre, a, b)
	for range powerSteps {
		det := haa*hbb - hab*hab
		if !(det > 1e-12*haa*hbb) {
			break // a single mean: the exponent is not determined
		}
		stepA, stepB := (hbb*ga-hab*gb)/det, (haa*gb-hab*ga)/det
		if b == leastExponent && stepB < 0 || b == mostExponent && stepB > 0 {
			stepA, stepB = ga/haa, 0
		}
		if ga*stepA+gb*stepB < 1e-9 {
			break
		}
		for {
			tryB := min(max(b+stepB, leastExponent), mostExponent)
			v, a1, b1, aa, ab, bb := powerObjective(bins, centre, a+stepA, tryB)
			if v >= value {
				a, b = a+stepA, tryB
				value, ga, gb, haa, hab, hbb = v, a1, b1, aa, ab, bb
				break
			}
			stepA, stepB = stepA/2, stepB/2
			if math.Abs(stepA)+math.Abs(stepB) < 1e-12 {
				haa = 0 // no further: ends the outer loop
				break
			}
		}
	}
	p.Scale, p.Exponent = max(math.Exp(a-b*centre), leastVariance), b
	return value
}

// powerObjective returns the log likelihood and its gradient, and the negative of its
// Hessian, by a and b.
func powerObjective(bins []bin, centre, a, b float64) (value, ga, gb, haa, hab, hbb float64) {
	for _, k := range bins {
		if k.count == 0 {
			continue
		}
		x := k.x - centre
		level := a + b*x
		ratio := k.squared * math.Exp(-level)
		value -= (k.count*level + ratio) / 2
		ga += (ratio - k.count) / 2
		gb += (ratio - k.count) / 2 * x
		haa += ratio / 2
		hab += ratio / 2 * x
		hbb += ratio / 2 * x * x
	}
	return value, ga, gb, haa, hab, hbb
}
