package conformal

import (
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/peers"
	"github.com/kernel-fried-tensor/kft/internal/radix"
	"github.com/kernel-fried-tensor/kft/predictive"
)

// MinMeanRows is the least number of rows of a bin, and so of a correction of means.
const MinMeanRows = 100

const (
	// A correction has maxMeanBins bins with equally many rows, fewer if they would have too few.
	maxMeanBins = 40
	// varianceReach is how many neighbours on each side share the variance of a bin.
	varianceReach = 2
	// The curve is fitted in curveRounds rounds, because interpolation between the
	// knots changes the sums of the bins a little.
	curveRounds = 8
)

// NewMeanCurve returns the correction of predicted means that calibration rows
// give, from the predicted means, the actual values and the weights of the rows (nil
// for 1). It returns nil for fewer than MinMeanRows rows.
//
// The rows are divided into bins by the size of the prediction. The factor of a bin
// is the ratio of actual to predicted total, shrunk to those of its neighbours and to 1
// as its standard error requires. If some actual value is negative, shifts take the
// place of factors, and 0 that of 1. The corrected mean is a non-decreasing function
// of the predicted one.
//
// The processes of a group, nil for one, have the same rows and share the work.
func NewMeanCurve(group peers.Group, threads int, predicted, actual, weight []float64) *predictive.MeanCurve {
	return newMeanCurve(group, threads, predicted, actual, weight, maxMeanBins)
}

// NewMeanFactor is [NewMeanCurve] with one bin: a factor, or a shift, for all predictions.
func NewMeanFactor(group peers.Group, threads int, predicted, actual, weight []float64) *predictive.MeanCurve {
	return newMeanCurve(group, threads, predicted, actual, weight, 1)
}

func newMeanCurve(group peers.Group, threads int, predicted, actual, weight []float64, bins int) *predictive.MeanCurve {
	mustMatch(len(predicted), len(actual))
	rows := sortedRows(group, threads, predicted, actual, weight)
	f := meanFit{group: group, threads: threads, rows: rows, signed: slices.ContainsFunc(rows, func(r meanRow) bool { return r.actual < 0 })}
	f.signed = f.signed || f.farFromZero()
	f.makeBins(bins)
	if len(f.bins) == 0 {
		return nil
	}
	f.shrink()
	return f.curve()
}

// A meanRow is a calibration row.
type meanRow struct{ predicted, actual, weight float64 }

// sortedRows returns the rows with a positive weight, by predicted mean.
func sortedRows(group peers.Group, threads int, predicted, actual, weight []float64) []meanRow {
	rows := make([]meanRow, 0, len(predicted))
	for i, p := range predicted {
		r := meanRow{p, actual[i], 1}
		if weight != nil {
			r.weight = weight[i]
		}
		if r.weight > 0 && !math.IsNaN(p) && !math.IsInf(p, 0) {
			rows = append(rows, r)
		}
	}
	keys := make([]uint64, len(rows))
	parallel.Blocks(threads, len(rows), func(from, to int) {
		for i, r := range rows[from:to] {
			keys[from+i] = radix.Float(r.predicted + 0) // 0 for -0
		}
	})
	order := radix.OrderOver(group, threads, keys)
	sorted := make([]meanRow, len(rows))
	parallel.Blocks(threads, len(rows), func(from, to int) {
		for i, at := range order[from:to] {
			sorted[from+i] = rows[at]
		}
	})
	return sorted
}

// meanFit is the state of fitting a curve.
type meanFit struct {
	group   peers.Group
	threads int

	rows   []meanRow // sorted
	signed bool
	bins   []meanBin
}

// A meanBin is a bin of rows[from:to].
type meanBin struct {
	from, to                  int
	weight, predicted, actual float64 // sums; the last two are weighted
	effect, variance          float64 // factor or shift, and the variance of its estimate
}

// sumPredicted returns the weighted sum of the predictions.
func (b *meanBin) sumPredicted(rows []meanRow) (sum float64) {
	for _, r := range rows[b.from:b.to] {
		sum += r.weight * r.predicted
	}
	return sum
}

// sum fills the sums, the effect and its variance.
func (b *meanBin) sum(rows []meanRow, signed bool) {
	b.predicted = b.sumPredicted(rows)
	for _, r := range rows[b.from:b.to] {
		b.weight += r.weight
		b.actual += r.weight * r.actual
	}
	squares, unit := 0.0, b.predicted
	if signed {
		unit = b.weight
		b.effect = (b.actual - b.predicted) / unit
	} else {
		b.effect = b.actual / unit
	}
	for _, r := range rows[b.from:b.to] {
		e := r.weight * (r.actual - b.effect*r.predicted)
		if signed {
			e = r.weight * (r.actual - r.predicted - b.effect)
		}
		squares += e * e
	}
	b.variance = squares / (unit * unit)
}

// shiftFrom is the distance of a target from 0, in standard deviations, beyond which a
// factor tells nothing that a shift does not: all values differ by a few percent.
const shiftFrom = 100

// farFromZero reports whether the unit of the target is not relative to 0.
func (f *meanFit) farFromZero() bool {
	var sum, squares, n float64
	for _, r := range f.rows {
		n++
		d := r.actual - sum
		sum += d / n
		squares += d * (r.actual - sum)
	}
	return squares > 0 && sum*sum > shiftFrom*shiftFrom*squares/n
}

// makeBins divides the rows into at most so many bins. Equal predictions are in one bin.
func (f *meanFit) makeBins(most int) {
	n := len(f.rows)
	count := min(most, n/MinMeanRows)
	from := 0
	for k := 1; k <= count; k++ {
		to := k * n / count
		for to < n && to > 0 && f.rows[to].predicted == f.rows[to-1].predicted {
			to++
		}
		b := meanBin{from: from, to: to}
		if to == from || !f.signed && !(b.sumPredicted(f.rows) > 0) {
			continue // without a factor it becomes part of the next bin
		}
		f.bins = append(f.bins, b)
		from = to
	}
	parallel.For(f.threads, len(f.bins), func(i int) { f.bins[i].sum(f.rows, f.signed) })
}

// shrink replaces the effects by shrunk ones. The unit of a shift is the standard
// deviation of the actual values.
func (f *meanFit) shrink() {
	none, unit := 1.0, 1.0
	if f.signed {
		none, unit = 0, f.deviation()
	}
	if unit == 0 {
		return
	}
	estimate, variance := make([]float64, len(f.bins)), make([]float64, len(f.bins))
	for i, b := range f.bins {
		estimate[i], variance[i] = (b.effect-none)/unit, b.variance/(unit*unit)
	}
	share := f.shares()
	shrunk := shrunkEffects(share, estimate, smoothed(variance, varianceReach))
	// The posterior of the bins weighs them by precision, so where their differences
	// are lost in the noise, their total is not right. It has an estimate of its own.
	all := meanBin{to: len(f.rows)}
	all.sum(f.rows, f.signed)
	missing := shrunkEffect((all.effect-none)/unit, all.variance/(unit*unit))
	for i, s := range share {
		missing -= s * shrunk[i]
	}
	for i, e := range shrunk {
		if f.bins[i].effect = none + unit*(e+missing); !f.signed {
			f.bins[i].effect = max(f.bins[i].effect, 0)
		}
	}
}

// smoothed returns the means of values over windows of neighbours. Skewed values make
// the total of a bin and the variance of its estimate small or large together; without
// smoothing, bins that are too small by chance would count more than others.
func smoothed(values []float64, reach int) []float64 {
	means := make([]float64, len(values))
	for i := range values {
		near := values[max(i-reach, 0):min(i+reach+1, len(values))]
		for _, v := range near {
			means[i] += v / float64(len(near))
		}
	}
	return means
}

// shares returns the shares of the bins in the predicted total, or in the rows for
// shifts.
func (f *meanFit) shares() []float64 {
	share, total := make([]float64, len(f.bins)), 0.0
	for i, b := range f.bins {
		if share[i] = b.predicted; f.signed {
			share[i] = b.weight
		}
		total += share[i]
	}
	for i := range share {
		share[i] /= total
	}
	return share
}

// deviation returns the standard deviation of the actual values.
func (f *meanFit) deviation() float64 {
	var weight, mean, squares float64
	for _, r := range f.rows {
		weight += r.weight
		mean += r.weight * r.actual
	}
	mean /= weight
	for _, r := range f.rows {
		squares += r.weight * (r.actual - mean) * (r.actual - mean)
	}
	return math.Sqrt(squares / weight)
}

// curve returns the curve whose bins have the shrunk effects.
func (f *meanFit) curve() *predictive.MeanCurve {
	n := len(f.bins)
	x, goal, weight := make([]float64, n), make([]float64, n), make([]float64, n)
	for i, b := range f.bins {
		x[i] = b.predicted / b.weight
		weight[i] = b.weight
		if goal[i] = x[i] * b.effect; f.signed {
			goal[i] = x[i] + b.effect
		}
	}
	pool(goal, weight)
	y := slices.Clone(goal)
	for round := 0; ; round++ {
		c, err := predictive.NewMeanCurve(f.signed, x, y)
		if err != nil {
			return nil // the sums of the rows are too large for their type
		}
		if round == curveRounds {
			return c
		}
		sums := f.correctedSums(c)
		for i, b := range f.bins {
			if got := sums[i] / b.weight; f.signed {
				y[i] += goal[i] - got
			} else if got > 0 {
				y[i] *= goal[i] / got
			}
		}
		pool(y, weight)
	}
}

// correctedSums returns the weighted sum of the corrected means of each bin.
func (f *meanFit) correctedSums(c *predictive.MeanCurve) []float64 {
	sums := make([]float64, len(f.bins))
	first, last, bounds := ownRun(f.group, len(f.bins))
	parallel.For(f.threads, last-first, func(i int) {
		b, sum := &f.bins[first+i], 0.0
		for _, r := range f.rows[b.from:b.to] {
			sum += r.weight * c.At(r.predicted)
		}
		sums[first+i] = sum
	})
	if f.group != nil {
		peers.Values(f.group, sums, bounds, 1)
	}
	return sums
}

// pool makes values non-decreasing by pooling adjacent violators: each run of
// decreasing values is replaced by its weighted mean.
func pool(values, weight []float64) {
	type block struct {
		sum, weight float64
		n           int
	}
	var blocks []block
	for i, v := range values {
		b := block{v * weight[i], weight[i], 1}
		for len(blocks) > 0 {
			last := blocks[len(blocks)-1]
			if last.sum*b.weight < b.sum*last.weight {
				break
			}
			b = block{last.sum + b.sum, last.weight + b.weight, last.n + b.n}
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, b)
	}
	i := 0
	for _, b := range blocks {
		for range b.n {
			if b.n > 1 {
				values[i] = b.sum / b.weight
			}
			i++
		}
	}
}
