package blend

import (
	"math"

	"github.com/kernel-fried-tensor/kft/baseline"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// Rows are forecasts whose values are known.
type Rows struct {
	Codes   [][]int32
	Horizon []int32
	Mean    []float64 // of the model
	Y       []float64
	Weight  []float32 // nil for 1
}

const (
	leastRows = 1000 // to learn shares from
	folds     = 10
	// Out of fold, the squared error must fall by this number of its standard errors. A
	// few large series have most of it.
	leastErrors = 1.0
	// leastShare is the share below which a part is left out.
	leastShare = 0.02
)

// Learn returns the table with the shares that are best for forecasts it did not see, or
// nil if they are not better than the model alone. The shares are the mean of those of
// several fits, each without the series of one fold. It costs O(n).
func (t *Table) Learn(threads int, rows Rows) *Table {
	n, parts := len(rows.Y), len(t.shares)
	if n < leastRows {
		return nil
	}
	predicted := make([][]float64, parts)
	for k := range predicted {
		predicted[k] = make([]float64, n)
	}
	y, fold := make([]float64, n), make([]uint8, n)
	parallel.Blocks(threads, n, func(from, to int) {
		for i := from; i < to; i++ {
			var values [maxParts]float64
			known := t.values(&values, rows.Codes, i, rows.Horizon[i])
			root := 1.0
			if rows.Weight != nil {
				root = math.Sqrt(float64(rows.Weight[i]))
			}
			y[i] = root * rows.Y[i]
			for k := range predicted {
				if v := rows.Mean[i]; known[k] {
					predicted[k][i] = root * values[k]
				} else {
					predicted[k][i] = root * v
				}
			}
			key := uint64(0)
			for _, m := range t.series.Keys {
				key = (key ^ uint64(uint32(rows.Codes[m][i]))) * 0x9e3779b97f4a7c15
			}
			fold[i] = uint8(key >> 32 % folds)
		}
	})
	total := make([]float64, parts)
	var gain, squares float64
	for f := range uint8(folds) {
		shares := mixWithout(predicted, y, fold, f)
		own := 0.0
		for i := range y {
			if fold[i] != f {
				continue
			}
			v := 0.0
			for k, s := range shares {
				v += s * predicted[k][i]
			}
			own += (predicted[0][i]-y[i])*(predicted[0][i]-y[i]) - (v-y[i])*(v-y[i])
		}
		gain += own
		squares += own * own
		for k, s := range shares {
			total[k] += s / folds
		}
	}
	deviation := math.Sqrt(max(squares-gain*gain/folds, 0) * folds / (folds - 1))
	if !(gain > leastErrors*deviation) {
		return nil
	}
	left := 1.0
	for k := 1; k < parts; k++ {
		if total[k] < leastShare {
			total[k] = 0
		}
		left -= total[k]
	}
	total[0] = left
	changed := *t
	changed.shares = total
	return &changed
}

// mixWithout returns the best shares without the rows of a fold.
func mixWithout(predicted [][]float64, y []float64, fold []uint8, without uint8) []float64 {
	some, target := make([][]float64, len(predicted)), make([]float64, 0, len(y))
	for i, f := range fold {
		if f == without {
			continue
		}
		target = append(target, y[i])
		for k := range predicted {
			some[k] = append(some[k], predicted[k][i])
		}
	}
	return baseline.Mix(some, target)
}
