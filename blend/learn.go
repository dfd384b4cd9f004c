package blend

import (
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/baseline"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// Rows are forecasts whose values are known.
type Rows struct {
	Codes    [][]int32
	Horizon  []int32
	Location []float64 // of the model, on its scale
	Mean     []float64 // of the model
	Y        []float64
	Weight   []float32 // nil for 1
}

// size returns the mean size of the model's means.
func (r *Rows) size() (size float64) {
	for _, m := range r.Mean {
		size += math.Abs(m) / float64(len(r.Mean))
	}
	return size
}

const (
	leastRows = 1000 // of a class
	folds     = 10
	// Out of fold, the squared error of the first class must fall by this number of standard
	// errors for its means to be mixed.
	leastErrors = 1.0
	// leastShare is the share below which a part is left out.
	leastShare = 0.02
	// Squares are divided by the size of the mean plus this share of the mean size: without
	// that, a few large series decide.
	leastSize = 0.1
)

// classLevels are the levels of the location from which classes begin.
var classLevels = []float64{0.9, 0.99}

// Learn returns the table with the shares that are best for forecasts it did not see, or if they
// are not better than the model alone, the table itself if it has moves, else nil. Each class of
// forecasts by size has its own; they are the mean of those of several fits, each without the
// series of one fold, shrunk to those of the class before it, or to the model alone for the first.
// It costs O(n log n).
func (t *Table) Learn(threads int, rows Rows) *Table {
	var none *Table
	if t.move != nil {
		none = t
	}
	if len(rows.Y) < leastRows {
		return none
	}
	changed := *t
	changed.edges, changed.shares = nil, nil
	sorted := slices.Sorted(slices.Values(rows.Location))
	for _, level := range classLevels {
		at := int(level * float64(len(sorted)))
		if n := len(sorted); n-at >= leastRows {
			changed.edges = append(changed.edges, sorted[at])
		}
	}
	l := t.prepare(threads, rows, changed.edges)
	shares := t.alone()
	for c := range len(changed.edges) + 1 {
		own, errors := l.shares(uint8(c), shares)
		if c > 0 || errors >= leastErrors {
			shares = shrunk(own, shares, errors)
		}
		changed.shares = append(changed.shares, shares)
	}
	if shares[0] == 1 && changed.shares[0][0] == 1 {
		return none
	}
	return &changed
}

// shrunk returns the shares between others and own, whose gain is so many standard errors.
// Parts with a small share are left to the model.
func shrunk(own, others []float64, errors float64) []float64 {
	keep := kept(errors)
	shares := make([]float64, len(own))
	shares[0] = 1
	for k := 1; k < len(own); k++ {
		if s := keep*own[k] + (1-keep)*others[k]; s >= leastShare {
			shares[k] = s
			shares[0] -= s
		}
	}
	shares[0] = max(shares[0], 0)
	return shares
}

// kept returns the share of a gain of so many standard errors that chance does not explain.
func kept(errors float64) float64 {
	if !(errors > 0) {
		return 0
	}
	return 1 - 1/(1+errors*errors)
}

// standardErrors returns the number of standard errors of a gain, the sum over folds, given
// the sum of its squares.
func standardErrors(gain, squares float64) float64 {
	if deviation := math.Sqrt(max(squares-gain*gain/folds, 0) * folds / (folds - 1)); deviation > 0 {
		return gain / deviation
	}
	return 0
}

// foldOf returns the fold of the series of a row.
func (t *Table) foldOf(codes [][]int32, row int) uint8 {
	key := uint64(0)
	for _, m := range t.series.Keys {
		key = (key ^ uint64(uint32(codes[m][row]))) * 0x9e3779b97f4a7c15
	}
	return uint8(key >> 32 % folds)
}

// learner holds what the rows say, multiplied by the roots of their weights.
type learner struct {
	predicted   [][]float64 // by part and row
	y           []float64
	class, fold []uint8
}

func (t *Table) prepare(threads int, rows Rows, edges []float64) *learner {
	n := len(rows.Y)
	l := &learner{predicted: make([][]float64, 2+len(t.seasons)), y: make([]float64, n), class: make([]uint8, n), fold: make([]uint8, n)}
	for k := range l.predicted {
		l.predicted[k] = make([]float64, n)
	}
	size := rows.size()
	parallel.Blocks(threads, n, func(from, to int) {
		for i := from; i < to; i++ {
			var values [maxParts]float64
			known := t.values(&values, rows.Codes, i, rows.Horizon[i])
			weight := 1 / max(math.Abs(rows.Mean[i])+leastSize*size, math.SmallestNonzeroFloat32)
			if rows.Weight != nil {
				weight *= float64(rows.Weight[i])
			}
			root := math.Sqrt(weight)
			l.y[i] = root * rows.Y[i]
			for k := range l.predicted {
				if !known[k] {
					values[k] = rows.Mean[i]
				}
				l.predicted[k][i] = root * values[k]
			}
			l.fold[i], l.class[i] = t.foldOf(rows.Codes, i), uint8(classOf(edges, rows.Location[i]))
		}
	})
	return l
}

// shares returns the shares of a class, and the number of standard errors by which they are
// better than others out of fold.
func (l *learner) shares(class uint8, others []float64) (total []float64, errors float64) {
	total = make([]float64, len(l.predicted))
	var gain, squares float64
	for f := range uint8(folds) {
		shares, own := l.without(class, f), 0.0
		for i, y := range l.y {
			if l.class[i] != class || l.fold[i] != f {
				continue
			}
			before, after := -y, -y
			for k, s := range shares {
				before += others[k] * l.predicted[k][i]
				after += s * l.predicted[k][i]
			}
			own += before*before - after*after
		}
		gain += own
		squares += own * own
		for k, s := range shares {
			total[k] += s / folds
		}
	}
	return total, standardErrors(gain, squares)
}

// without returns the best shares of a class without the rows of a fold.
func (l *learner) without(class, fold uint8) []float64 {
	some, y := make([][]float64, len(l.predicted)), []float64(nil)
	for i, c := range l.class {
		if c != class || l.fold[i] == fold {
			continue
		}
		y = append(y, l.y[i])
		for k := range some {
			some[k] = append(some[k], l.predicted[k][i])
		}
	}
	return baseline.Mix(some, y)
}
