package likelihood

import (
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// Power is a noise variance that grows with the predicted mean:
//
//	s2(m) = Scale * max(m, Floor)^Exponent
//
// On most scales the means are positive (counts and amounts, in the units of
// the target or their logarithm); the floor handles the others.
type Power struct {
	Scale    float64 `json:"scale"`
	Exponent float64 `json:"exponent"`
	Floor    float64 `json:"floor"`
}

// At returns the noise variance at a predicted mean.
func (p Power) At(mean float64) float64 {
	return p.Scale * math.Exp(p.Exponent*math.Log(max(mean, p.Floor)))
}

// floorShares are the candidate floors, relative to the average positive mean.
var floorShares = [...]float64{0.01, 0.03, 0.1, 0.3}

const (
	minExponent = -2 // beyond these limits the fit follows a few outliers
	maxExponent = 6
	powerSteps  = 50
)

// FitPower fits scale and exponent by maximum likelihood for each of several
// floors and keeps the best. With x = log max(m, Floor), the likelihood
//
//	-1/2 sum [a + b x_n + w e_n exp(-a - b x_n)]
//
// is concave in (a, b), so Newton steps, halved until it does not decrease,
// find its maximum from any start. Rows are first summed by x in bins of width
// 0.01, which costs one logarithm per row. Without any positive mean the result
// is constant.
func FitPower(errors Errors, mean []float32, threads int) Power {
	best, bestValue := Power{Scale: FitConstant(errors, threads).Variance, Floor: 1}, math.Inf(-1)
	positive := parallel.Reduce(threads, len(mean), func(from, to int) (t pair) {
		for i, m := range mean[from:to] {
			if _, ok := errors.at(from + i); ok && m > 0 {
				t[0] += float64(m)
				t[1]++
			}
		}
		return t
	}, pair.add)
	if positive[1] == 0 {
		return best
	}
	average := positive[0] / positive[1]
	bins := binByMean(errors, mean, average*floorShares[0], threads)
	for _, share := range floorShares {
		p := Power{Floor: share * average}
		if value := p.fit(bins); value > bestValue {
			best, bestValue = p, value
		}
	}
	return best
}

const binWidth = 0.01 // of log mean: the variance within a bin varies by a few percent

// bin holds rows with nearly the same mean: their number, x = log mean, and the
// sum of w e.
type bin struct{ count, x, squared float64 }

func (b *bin) add(other bin) {
	b.count += other.count
	b.x += other.x
	b.squared += other.squared
}

// binByMean sums the rows with positive weight by mean. Means below the floor
// are replaced by the floor.
func binByMean(errors Errors, mean []float32, floor float64, threads int) []bin {
	start := math.Log(floor)
	bins := parallel.Reduce(threads, len(mean), func(from, to int) (bins []bin) {
		for i, m := range mean[from:to] {
			e, ok := errors.at(from + i)
			if !ok {
				continue
			}
			x := start
			if float64(m) > floor {
				x = math.Log(min(float64(m), math.MaxFloat32))
			}
			at := int((x - start) / binWidth)
			if at >= len(bins) {
				bins = append(bins, make([]bin, at+1-len(bins))...)
			}
			bins[at].add(bin{1, x, e})
		}
		return bins
	}, func(a, b []bin) []bin {
		if len(a) < len(b) {
			a = append(a, make([]bin, len(b)-len(a))...)
		}
		for i := range b {
			a[i].add(b[i])
		}
		return a
	})
	kept := bins[:0]
	for _, b := range bins {
		if b.count > 0 {
			b.x /= b.count
			kept = append(kept, b)
		}
	}
	return kept
}

// fit sets scale and exponent for the floor and returns the log likelihood.
func (p *Power) fit(bins []bin) float64 {
	bins = slices.Clone(bins)
	var count, squared, centre float64
	for k := range bins {
		b := &bins[k]
		b.x = max(b.x, math.Log(p.Floor))
		count += b.count
		squared += b.squared
		centre += b.count * b.x
	}
	centre /= count // keeps a and b nearly uncorrelated
	a, b := math.Log(max(squared/count, minVariance)), 0.0
	now := powerObjective(bins, centre, a, b)
	for range powerSteps {
		stepA, stepB, ok := now.newton(b)
		if !ok {
			break
		}
		length := 1.0
		for ; length > 1e-9; length /= 2 {
			tryA, tryB := a+length*stepA, min(max(b+length*stepB, minExponent), maxExponent)
			if next := powerObjective(bins, centre, tryA, tryB); next.value >= now.value {
				a, b, now = tryA, tryB, next
				break
			}
		}
		if length <= 1e-9 {
			break
		}
	}
	p.Scale, p.Exponent = max(math.Exp(a-b*centre), minVariance), b
	return now.value
}

// newton returns the step to the maximum of the quadratic approximation at (a,
// b), along a only if b is at a limit. It returns false if there is nothing to
// gain.
func (q quadratic) newton(b float64) (stepA, stepB float64, ok bool) {
	stepA = q.byA / q.aa
	det := q.aa*q.bb - q.ab*q.ab
	if det > 1e-12*q.aa*q.bb { // otherwise all means are equal and the exponent is undetermined
		joint := (q.aa*q.byB - q.ab*q.byA) / det
		if !(b == minExponent && joint < 0 || b == maxExponent && joint > 0) {
			stepA, stepB = (q.bb*q.byA-q.ab*q.byB)/det, joint
		}
	}
	return stepA, stepB, q.byA*stepA+q.byB*stepB > 1e-9
}

// quadratic is a log likelihood with its gradient and the negative of its
// Hessian.
type quadratic struct{ value, byA, byB, aa, ab, bb float64 }

func powerObjective(bins []bin, centre, a, b float64) (q quadratic) {
	for _, k := range bins {
		x := k.x - centre
		level := a + b*x
		ratio := k.squared * math.Exp(-level)
		q.value -= (k.count*level + ratio) / 2
		q.byA += (ratio - k.count) / 2
		q.byB += (ratio - k.count) / 2 * x
		q.aa += ratio / 2
		q.ab += ratio / 2 * x
		q.bb += ratio / 2 * x * x
	}
	return q
}
