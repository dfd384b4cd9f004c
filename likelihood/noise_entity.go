package likelihood

import (
	"math"

	"github.com/kernel-fried-tensor/kft/internal/golden"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// ByEntity is a noise variance that is a product of one factor per mode, or per
// combination of modes:
//
//	s2(i, j) = Variance * a_i * b_j * c_ij
//
// The logarithms of the factors of a mode have mean 0 over the entities seen.
// An entity without rows, or with a code outside the table, takes the mean of
// its mode's factors: the expected variance of one more entity like the others.
type ByEntity struct {
	Variance float64       `json:"variance"`
	Modes    []ModeFactors `json:"modes"`
}

// ModeFactors holds the factors of one mode of ByEntity. Strength is nu0, the
// equivalent number of rows of the prior.
type ModeFactors struct {
	Strength float64   `json:"strength"`
	Unseen   float64   `json:"unseen"`
	ByCode   []float64 `json:"of,omitempty"` // by code
}

// At returns the factor of a code.
func (f *ModeFactors) At(code int32) float64 {
	if code < 0 || int(code) >= len(f.ByCode) {
		return f.Unseen
	}
	return f.ByCode[code]
}

// At returns the noise variance of a row. codes holds one column per mode.
func (b ByEntity) At(codes [][]int32, row int) float64 {
	s2 := b.Variance
	for k := range b.Modes {
		s2 *= b.Modes[k].At(codes[k][row])
	}
	return s2
}

const (
	maxRounds      = 50     // over the modes
	roundTolerance = 1e-3   // rounds end when no log factor of a mode changes by more on average
	priorEntities  = 20_000 // a prior is fitted to at most about so many entities
	minStrength    = 0.5    // limits of nu0
	maxStrength    = 1e6
	goldenSteps    = 25   // of golden section search over log nu0: to 1e-4
	bisectionSteps = 40   // over log s0^2
	minShare       = 1e-8 // lower limit of s2_i relative to s0^2, for entities fitted exactly
)

// FitByEntity fits factors for one or more modes. codes holds one column of
// codes per mode; codes are less than the mode's entry of sizes, and negative
// for no entity. The variances of a mode's entities have the prior s2_i ~
// scaled-inverse-chi2(nu0, s0^2) and are estimated as
//
//	s2_i = (nu0 s0^2 + sum e_n) / (nu0 + n_i)
//
// with nu0 and s0^2 at the maximum of the marginal likelihood of the sums.
// Several modes are fitted in turn, each to the errors divided by the factors
// of the others. Each step is one pass over the rows.
func FitByEntity(errors Errors, codes [][]int32, sizes []int, threads int) ByEntity {
	pooled := FitConstant(errors).Variance
	b := ByEntity{Variance: pooled, Modes: make([]ModeFactors, len(codes))}
	for k, size := range sizes {
		b.Modes[k] = ModeFactors{Unseen: 1, ByCode: make([]float64, size)}
		for i := range b.Modes[k].ByCode {
			b.Modes[k].ByCode[i] = 1
		}
	}
	b.fit(errors, codes, threads)
	return b
}

// fit fits all modes in turn until hardly anything changes.
func (b *ByEntity) fit(errors Errors, codes [][]int32, threads int) {
	for range maxRounds {
		change := 0.0
		for k := range b.Modes {
			change = max(change, b.fitMode(k, errors, codes, threads))
		}
		if change < roundTolerance || len(codes) == 1 {
			return
		}
	}
}

// FitPowerByEntity fits the product of a power of the predicted mean and factors of
// entities,
//
//	s2(m, i, j) = Scale * max(m, Floor)^Exponent * Variance * a_i * b_j
//
// in turn, each to the errors divided by the other.
func FitPowerByEntity(errors Errors, mean []float32, codes [][]int32, sizes []int, threads int) (Power, ByEntity) {
	relative := Errors{Squared: make([]float32, len(errors.Squared)), Weight: errors.Weight}
	divide := func(by func(row int) float64) Errors {
		parallel.Blocks(threads, len(relative.Squared), func(from, to int) {
			for i := from; i < to; i++ {
				relative.Squared[i] = float32(float64(errors.Squared[i]) / by(i))
			}
		})
		return relative
	}
	byMean := func(p Power) func(int) float64 { return func(i int) float64 { return p.At(float64(mean[i])) } }
	power := FitPower(errors, mean)
	b := FitByEntity(divide(byMean(power)), codes, sizes, threads)
	power = FitPower(divide(func(i int) float64 { return b.At(codes, i) }), mean)
	b.fit(divide(byMean(power)), codes, threads)
	return power, b
}

// fitMode fits mode k with the others fixed and returns the mean change of a log factor.
func (b *ByEntity) fitMode(k int, errors Errors, codes [][]int32, threads int) (change float64) {
	mode := &b.Modes[k]
	relative := make([]float32, len(codes[k])) // negative for a row that does not count
	parallel.Blocks(threads, len(relative), func(from, to int) {
		for row := from; row < to; row++ {
			code := codes[k][row]
			e, ok := errors.at(row)
			if !ok || code < 0 || int(code) >= len(mode.ByCode) {
				relative[row] = -1
				continue
			}
			relative[row] = float32(e * mode.At(code) / b.At(codes, row))
		}
	})
	sum, count := make([]float64, len(mode.ByCode)), make([]float64, len(mode.ByCode))
	for row, code := range codes[k] {
		if e := relative[row]; e >= 0 {
			sum[code] += float64(e)
			count[code]++
		}
	}
	prior := fitPrior(thinned(sum, count))
	mode.Strength = prior.strength
	seen, logs, mean := 0.0, 0.0, 0.0
	factors := make([]float64, len(mode.ByCode))
	for i, n := range count {
		factors[i] = max((prior.strength*prior.scale+sum[i])/(prior.strength+n), minShare*prior.scale)
		if n > 0 {
			seen++
			logs += math.Log(factors[i])
		}
	}
	if seen == 0 {
		return 0
	}
	// sum was divided by everything except the mode's own factor, so the
	// geometric mean of the new factors is a correction to the variance.
	level := math.Exp(logs / seen)
	b.Variance = max(b.Variance*level, minVariance)
	for i, n := range count {
		factors[i] /= level
		if n > 0 {
			mean += factors[i] / seen
			change += math.Abs(math.Log(factors[i]/mode.ByCode[i])) / seen
		}
	}
	mode.Unseen = mean
	for i, n := range count {
		if n == 0 {
			factors[i] = mean
		}
	}
	mode.ByCode = factors
	return change
}

// thinned returns about priorEntities of the entities with rows: two parameters need no more.
func thinned(sum, count []float64) (s, n []float64) {
	seen := 0
	for _, n := range count {
		if n > 0 {
			seen++
		}
	}
	step, at := max(seen/priorEntities, 1), 0
	for i, c := range count {
		if c == 0 {
			continue
		}
		if at%step == 0 {
			s, n = append(s, sum[i]), append(n, c)
		}
		at++
	}
	return s, n
}

// prior is the distribution scaled-inverse-chi2(strength, scale).
type prior struct{ strength, scale float64 }

// fitPrior maximises the marginal likelihood of sums of squares, where sum[i]
// has count[i] terms: golden section search over log nu0, with the best s0^2
// for each.
func fitPrior(sum, count []float64) prior {
	var best prior
	most := math.Inf(-1)
	golden.Maximum(math.Log(minStrength), math.Log(maxStrength), goldenSteps, func(logStrength float64) float64 {
		p := prior{strength: math.Exp(logStrength)}
		p.scale = bestScale(p.strength, sum, count)
		value := p.logMarginal(sum, count)
		if !(value <= most) {
			best, most = p, value
		}
		return value
	})
	return best
}

// logMarginal returns, up to a constant,
//
//	sum_i lgamma((nu+n)/2) - lgamma(nu/2) + nu/2 log(nu s) - (nu+n)/2 log(nu s + T_i)
//
// in a form without cancellation for large nu.
func (p prior) logMarginal(sum, count []float64) float64 {
	total, own := 0.0, p.strength*p.scale
	for i, n := range count {
		if n > 0 {
			total += logRising(p.strength/2, n/2) - n/2*math.Log(own) -
				(p.strength+n)/2*math.Log1p(sum[i]/own)
		}
	}
	return total
}

// bestScale solves d/d log s = 0, that is sum_i [nu - (nu+n) nu s/(nu s + T_i)]
// = 0, by bisection: the left side decreases as s grows.
func bestScale(strength float64, sum, count []float64) float64 {
	least, most := math.Inf(1), 0.0
	for i, n := range count {
		if n > 0 {
			v := max(sum[i]/n, minVariance)
			least, most = min(least, v), max(most, v)
		}
	}
	if most == 0 {
		return 1
	}
	low, high := math.Log(least), math.Log(most)
	for range bisectionSteps {
		middle := (low + high) / 2
		own, slope := strength*math.Exp(middle), 0.0
		for i, n := range count {
			if n > 0 {
				slope += strength - (strength+n)*own/(own+sum[i])
			}
		}
		if slope > 0 {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Exp((low + high) / 2)
}
