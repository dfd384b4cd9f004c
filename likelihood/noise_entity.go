package likelihood

import (
	"math"
	"slices"

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
	roundTolerance = 2e-3   // rounds end when no log factor of a mode changes by more on average
	priorEntities  = 20_000 // a prior is fitted to at most about so many entities
	minStrength    = 0.5    // limits of nu0
	maxStrength    = 1e6
	goldenSteps    = 17   // of golden section search over log nu0: to 0.4 %
	nearWidth      = 0.3  // half of the interval of log nu0 around that of the last round
	nearSteps      = 8    // of golden section search there: to 1.3 %
	newtonSteps    = 40   // over log s0^2, at most
	newtonPrecise  = 1e-8 // a step over log s0^2 after which the search ends
	priorPiece     = 2048 // entities of a piece of the sums over entities
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
// of the others. Each step is one pass over the rows. They begin with the factors
// of start, one per mode, which must be those of the same entities; nil stands for
// factors of 1.
func FitByEntity(errors Errors, codes [][]int32, sizes []int, start []ModeFactors, threads int) ByEntity {
	b := ByEntity{Variance: FitConstant(errors, threads).Variance, Modes: slices.Clone(start)}
	if start == nil {
		for _, size := range sizes {
			b.Modes = append(b.Modes, ModeFactors{Unseen: 1, ByCode: slices.Repeat([]float64{1}, size)})
		}
	}
	b.fit(errors, codes, threads)
	return b
}

// fit fits all modes in turn until hardly anything changes.
func (b *ByEntity) fit(errors Errors, codes [][]int32, threads int) {
	rows := newBucketedRows(len(errors.Squared))
	for range maxRounds {
		change := 0.0
		for k := range b.Modes {
			change = max(change, b.fitMode(k, errors, codes, rows, threads))
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
//
// start is that of [FitByEntity].
func FitPowerByEntity(errors Errors, mean []float32, codes [][]int32, sizes []int, start []ModeFactors, threads int) (Power, ByEntity) {
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
	power := FitPower(errors, mean, threads)
	b := FitByEntity(divide(byMean(power)), codes, sizes, start, threads)
	power = FitPower(divide(func(i int) float64 { return b.At(codes, i) }), mean, threads)
	b.fit(divide(byMean(power)), codes, threads)
	return power, b
}

// fitMode fits mode k with the others fixed and returns the mean change of a log factor. rows is memory.
func (b *ByEntity) fitMode(k int, errors Errors, codes [][]int32, rows *bucketedRows, threads int) (change float64) {
	mode := &b.Modes[k]
	size := len(mode.ByCode)
	rows.sort(threads, codes[k], size, func(values []float32, from int) { b.without(k, values, from, errors, codes) })
	sum, count := rows.sums(threads, size)
	prior := fitPrior(thinned(sum, count, threads), mode.Strength)
	mode.Strength = prior.strength
	factors := make([]float64, len(mode.ByCode))
	own := prior.strength * prior.scale
	logs := parallel.Reduce(threads, len(factors), func(from, to int) (t pair) {
		for i := from; i < to; i++ {
			factors[i] = max((own+sum[i])/(prior.strength+count[i]), minShare*prior.scale)
			if count[i] > 0 {
				t = t.add(pair{1, math.Log(factors[i])})
			}
		}
		return t
	}, pair.add)
	seen := logs[0]
	if seen == 0 {
		return 0
	}
	// sum was divided by everything except the mode's own factor, so the
	// geometric mean of the new factors is a correction to the variance.
	level := math.Exp(logs[1] / seen)
	b.Variance = max(b.Variance*level, minVariance)
	means := parallel.Reduce(threads, len(factors), func(from, to int) (t pair) {
		for i := from; i < to; i++ {
			factors[i] /= level
			if count[i] > 0 {
				t = t.add(pair{factors[i], math.Abs(math.Log(factors[i] / mode.ByCode[i]))})
			}
		}
		return t
	}, pair.add)
	mode.Unseen = means[0] / seen
	for i, n := range count {
		if n == 0 {
			factors[i] = mode.Unseen
		}
	}
	mode.ByCode = factors
	return means[1] / seen
}

// without writes the errors of rows divided by all factors but those of mode k, -1 for rows without weight.
func (b *ByEntity) without(k int, values []float32, from int, errors Errors, codes [][]int32) {
	var memory [512]float64
	for len(values) > 0 {
		s2 := memory[:min(len(values), len(memory))]
		for i := range s2 {
			s2[i] = b.Variance
		}
		for j := range b.Modes {
			if j == k {
				continue
			}
			f := &b.Modes[j]
			for i, code := range codes[j][from:][:len(s2)] {
				s2[i] *= f.At(code)
			}
		}
		for i, v := range s2 {
			e, ok := errors.at(from + i)
			if values[i] = float32(e / v); !ok {
				values[i] = -1
			}
		}
		values, from = values[len(s2):], from+len(s2)
	}
}

// A pair is two sums.
type pair [2]float64

func (a pair) add(b pair) pair { return pair{a[0] + b[0], a[1] + b[1]} }

// squares are sums of squares of entities with rows: sum[i] has count[i] terms.
type squares struct {
	sum, count []float64
	threads    int
}

// thinned returns about priorEntities of the entities with rows: two parameters need no more.
func thinned(sum, count []float64, threads int) squares {
	seen := 0
	for _, n := range count {
		if n > 0 {
			seen++
		}
	}
	step, at, s := max(seen/priorEntities, 1), 0, squares{threads: threads}
	for i, c := range count {
		if c == 0 {
			continue
		}
		if at%step == 0 {
			s.sum, s.count = append(s.sum, sum[i]), append(s.count, c)
		}
		at++
	}
	return s
}

// total adds the sums of pieces of the entities in a fixed order.
func (s squares) total(part func(sum, count []float64) pair) pair {
	return parallel.ReduceBy(priorPiece, s.threads, len(s.sum), func(from, to int) pair { return part(s.sum[from:to], s.count[from:to]) }, pair.add)
}

// prior is the distribution scaled-inverse-chi2(strength, scale).
type prior struct{ strength, scale float64 }

// fitPrior maximises the marginal likelihood of sums of squares: golden section search
// over log nu0, with the best s0^2 for each. It looks around the given strength first, if that is not 0.
func fitPrior(s squares, near float64) prior {
	start := s.start()
	search := func(low, high float64, steps int) (best prior) {
		most := math.Inf(-1)
		golden.Maximum(low, high, steps, func(logStrength float64) float64 {
			p := prior{strength: math.Exp(logStrength)}
			p.scale = s.bestScale(p.strength, &start)
			value := p.logMarginal(s)
			if !(value <= most) {
				best, most = p, value
			}
			return value
		})
		return best
	}
	least, most := math.Log(minStrength), math.Log(maxStrength)
	if near > 0 {
		low, high := max(math.Log(near)-nearWidth, least), min(math.Log(near)+nearWidth, most)
		best := search(low, high, nearSteps)
		at, margin := math.Log(best.strength), nearWidth/10
		if (at > low+margin || low == least) && (at < high-margin || high == most) { // not beyond the interval
			return best
		}
	}
	return search(least, most, goldenSteps)
}

// logMarginal returns, up to a constant,
//
//	sum_i lgamma((nu+n)/2) - lgamma(nu/2) + nu/2 log(nu s) - (nu+n)/2 log(nu s + T_i)
//
// in a form without cancellation for large nu.
func (p prior) logMarginal(s squares) float64 {
	own := p.strength * p.scale
	level := math.Log(own)
	return s.total(func(sum, count []float64) pair {
		var rising [64]float64 // of small numbers of rows, 0 if not computed
		total := 0.0
		for i, n := range count {
			var r float64
			if n < float64(len(rising)) {
				if r = rising[int(n)]; r == 0 {
					r = logRising(p.strength/2, n/2)
					rising[int(n)] = r
				}
			} else {
				r = logRising(p.strength/2, n/2)
			}
			total += r - n/2*level - (p.strength+n)/2*math.Log1p(sum[i]/own)
		}
		return pair{total, 0}
	})[0]
}

// A bracket holds the logarithm of the best s0^2: that of the last strength, between the
// least and the largest mean square of an entity.
type bracket struct{ low, at, high float64 }

// start returns the bracket of all strengths.
func (s squares) start() bracket {
	least, most := math.Inf(1), 0.0
	for i, n := range s.count {
		v := max(s.sum[i]/n, minVariance)
		least, most = min(least, v), max(most, v)
	}
	if most == 0 { // no entities
		return bracket{}
	}
	low, high := math.Log(least), math.Log(most)
	return bracket{low: low, at: (low + high) / 2, high: high}
}

// bestScale solves d/d log s = 0, that is
//
//	sum_i [nu - (nu+n) nu s/(nu s + T_i)] = 0,
//
// by Newton's method over log s within the bracket, which the sign of the slope narrows: the
// left side decreases as s grows. It starts from the solution of the last strength.
func (s squares) bestScale(strength float64, start *bracket) float64 {
	low, at, high := start.low, start.at, start.high
	for range newtonSteps {
		own := strength * math.Exp(at)
		slope := s.total(func(sum, count []float64) (t pair) {
			for i, n := range count {
				share := own / (own + sum[i])
				t[0] += strength - (strength+n)*share
				t[1] += (strength + n) * share * (1 - share)
			}
			return t
		})
		if slope[0] > 0 {
			low = at
		} else {
			high = at
		}
		next := at + slope[0]/slope[1]
		if !(next > low && next < high) {
			next = (low + high) / 2
		}
		step := math.Abs(next - at)
		if at = next; step < newtonPrecise {
			break
		}
	}
	start.at = at
	return math.Exp(at)
}
