package likelihood

import "math"

// ByEntity is a noise variance that is a product of one factor a mode:
//
//	s2(i, j) = Variance * a_i * b_j
//
// Each mode's factors have mean log 0 over the entities seen. An entity without rows,
// or with a code outside the table, takes the mean of its mode's factors: the variance to
// expect of one more entity like the others.
type ByEntity struct {
	Variance float64  `json:"variance"`
	Modes    []Factor `json:"modes"`
}

// Factor holds one mode of ByEntity. Strength is nu0, the number of rows the prior
// counts for.
type Factor struct {
	Strength float64   `json:"strength"`
	Unseen   float64   `json:"unseen"`
	Of       []float64 `json:"of"` // by code
}

func (f Factor) at(code int32) float64 {
	if code < 0 || int(code) >= len(f.Of) {
		return f.Unseen
	}
	return f.Of[code]
}

// At returns the noise variance of a row; codes holds a column for each mode.
func (b ByEntity) At(codes [][]int32, row int) float64 {
	s2 := b.Variance
	for k, f := range b.Modes {
		s2 *= f.at(codes[k][row])
	}
	return s2
}

const (
	turns      = 50   // most rounds over the modes
	settled    = 1e-4 // change of any log factor at which rounds end
	weakest    = 0.5  // limits of nu0
	strongest  = 1e6
	sections   = 25   // golden sections of log nu0: to 1e-4
	halvings   = 40   // of log s0^2
	leastShare = 1e-8 // of s0^2, for entities fitted exactly
)

// FitByEntity fits factors for one or more modes, codes holding a column of codes below
// the entry of sizes for each (negative: no entity). A mode's entities have
// s2_i ~ scaled-inverse-chi2(nu0, s0^2), estimated as
//
//	s2_i = (nu0 s0^2 + sum e_n) / (nu0 + n_i)
//
// with nu0 and s0^2 where the marginal likelihood of the sums is largest. Several modes
// take turns, each fitted to the errors divided by the others' factors. A pass over the
// rows a turn.
func FitByEntity(errors Errors, codes [][]int32, sizes []int) ByEntity {
	pooled := FitConstant(errors).Variance
	b := ByEntity{Variance: pooled, Modes: make([]Factor, len(codes))}
	for k, size := range sizes {
		b.Modes[k] = Factor{Unseen: 1, Of: make([]float64, size)}
		for i := range b.Modes[k].Of {
			b.Modes[k].Of[i] = 1
		}
	}
	for range turns {
		change := 0.0
		for k := range b.Modes {
			change = max(change, b.turn(k, errors, codes))
		}
		if change < settled || len(codes) == 1 {
			break
		}
	}
	return b
}

// turn fits mode k with the others fixed and returns the largest change of a log factor.
func (b *ByEntity) turn(k int, errors Errors, codes [][]int32) (change float64) {
	mode := &b.Modes[k]
	sum, count := make([]float64, len(mode.Of)), make([]float64, len(mode.Of))
	for row, code := range codes[k] {
		e, ok := errors.at(row)
		if !ok || code < 0 || int(code) >= len(mode.Of) {
			continue
		}
		sum[code] += e * mode.at(code) / b.At(codes, row)
		count[code]++
	}
	prior := fitPrior(sum, count)
	mode.Strength = prior.strength
	seen, logs, mean := 0.0, 0.0, 0.0
	of := make([]float64, len(mode.Of))
	for i, n := range count {
		of[i] = max((prior.strength*prior.scale+sum[i])/(prior.strength+n), leastShare*prior.scale)
		if n > 0 {
			seen++
			logs += math.Log(of[i])
		}
	}
	if seen == 0 {
		return 0
	}
	// sum was divided by everything but the mode's own factor, so the level of the
	// new factors is a correction to the variance.
	level := math.Exp(logs / seen)
	b.Variance = max(b.Variance*level, leastVariance)
	for i, n := range count {
		of[i] /= level
		if n > 0 {
			mean += of[i] / seen
			change = max(change, math.Abs(math.Log(of[i]/mode.Of[i])))
		}
	}
	mode.Unseen = mean
	for i, n := range count {
		if n == 0 {
			of[i] = mean
		}
	}
	mode.Of = of
	return change
}

// prior is scaled-inverse-chi2(strength, scale).
type prior struct{ strength, scale float64 }

// fitPrior maximises the marginal likelihood of sums of squares, count[i] of them in
// sum[i]: golden section over log nu0, for each the best s0^2.
func fitPrior(sum, count []float64) prior {
	at := func(logStrength float64) (float64, prior) {
		p := prior{strength: math.Exp(logStrength)}
		p.scale = bestScale(p.strength, sum, count)
		return p.logMarginal(sum, count), p
	}
	const golden = 0.6180339887498949
	low, high := math.Log(weakest), math.Log(strongest)
	a, b := high-golden*(high-low), low+golden*(high-low)
	atA, pA := at(a)
	atB, pB := at(b)
	for range sections {
		if atA >= atB {
			high, b, atB, pB = b, a, atA, pA
			a = high - golden*(high-low)
			atA, pA = at(a)
		} else {
			low, a, atA, pA = a, b, atB, pB
			b = low + golden*(high-low)
			atB, pB = at(b)
		}
	}
	if atA >= atB {
		return pA
	}
	return pB
}

// logMarginal returns, up to a constant,
//
//	sum_i lgamma((nu+n)/2) - lgamma(nu/2) + nu/2 log(nu s) - (nu+n)/2 log(nu s + T_i)
//
// written so that nothing cancels when nu is large.
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

// bestScale solves d/d log s = 0, that is sum_i [nu - (nu+n) nu s/(nu s + T_i)] = 0, by
// bisection: the left side falls as s grows.
func bestScale(strength float64, sum, count []float64) float64 {
	least, most := math.Inf(1), 0.0
	for i, n := range count {
		if n > 0 {
			v := max(sum[i]/n, leastVariance)
			least, most = min(least, v), max(most, v)
		}
	}
	if most == 0 {
		return 1
	}
	low, high := math.Log(least), math.Log(most)
	for range halvings {
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
