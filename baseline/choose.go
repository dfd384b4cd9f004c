package baseline

import (
	"math"

	"github.com/kernel-fried-tensor/kft/internal/gather"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// batch is the number of rows that are predicted at once.
const batch = 1024

// counts are the pseudo-counts that are tried.
var counts = []float64{0.25, 0.5, 1, 2, 4, 8, 16, 64}

// wanted reports whether a formula is to be fitted.
func (f *fitter) wanted(key string) bool {
	_, ok := f.decided[key]
	return ok || f.decided == nil
}

// pick decides on one of several settings of a formula. compute returns the predictions
// of all settings for rows of the validation set. Without a decision for the formula, ok
// is false.
func (f *fitter) pick(key string, settings int, compute func(from int, dst [][]float64)) (d decision, ok bool) {
	if f.decided != nil {
		d, ok = f.decided[key]
		return d, ok
	}
	d.loss = math.Inf(1)
	for option, loss := range f.losses(settings, compute) {
		if loss < d.loss {
			d = decision{option, loss}
		}
	}
	return d, !math.IsInf(d.loss, 1)
}

// losses returns the mean squared errors of several settings on the validation rows. The
// sums are over fixed ranges of rows, so they do not depend on the number of threads.
func (f *fitter) losses(settings int, compute func(from int, dst [][]float64)) []float64 {
	rows := f.Parts[Valid]
	weights := rows.Loss
	if weights == nil {
		weights = rows.W
	}
	const stretch = 16 * batch
	n := len(rows.Y)
	sums := make([][]float64, (n+stretch-1)/stretch) // by range, then by setting; the last is the weight
	parallel.For(f.Threads, len(sums), func(s int) {
		sum := make([]float64, settings+1)
		space := make([]float64, settings*batch)
		dst := make([][]float64, settings)
		for from := s * stretch; from < min(n, (s+1)*stretch); from += batch {
			size := min(batch, n-from)
			for o := range dst {
				dst[o] = space[o*batch : o*batch+size]
			}
			compute(from, dst)
			for i, y := range rows.Y[from : from+size] {
				w := 1.0
				if weights != nil {
					w = float64(weights[from+i])
				}
				sum[settings] += w
				for o := range dst {
					d := float64(y) - dst[o][i]
					sum[o] += w * d * d
				}
			}
		}
		sums[s] = sum
	})
	total := make([]float64, settings+1)
	for _, sum := range sums {
		for o, v := range sum {
			total[o] += v
		}
	}
	losses := total[:settings]
	for o := range losses {
		if losses[o] /= total[settings]; losses[o] < f.tiny {
			losses[o] = 0
		}
	}
	return losses
}

// weight returns the weight of a training row.
func (f *fitter) weight(i int) float64 {
	if w := f.Parts[Train].W; w != nil {
		return float64(w[i])
	}
	return 1
}

// onTrain returns the predictions for the training rows.
func (f *fitter) onTrain(p predictor) []float32 {
	out := make([]float32, len(f.Parts[Train].Y))
	parallel.For(f.Threads, (len(out)+batch-1)/batch, func(b int) {
		var space [batch]float64
		from := b * batch
		dst := space[:min(batch, len(out)-from)]
		p.predict(Train, from, dst)
		for i, v := range dst {
			out[from+i] = float32(v)
		}
	})
	return out
}

// holdOut returns a table whose validation rows are some of the training rows of t. It
// fails if there are too few of them.
func holdOut(t *Table) (inner *Table, ok bool) {
	const share = 5 // one in five
	train := &t.Parts[Train]
	held := func(i int) bool { return (uint64(i)*0x9e3779b97f4a7c15)>>32%share == 0 }
	if t.Time != nil {
		held = afterMost(t.Time.Periods[Train], share)
	}
	var rows [2][]int
	for i := range train.Y {
		part := Train
		if held(i) {
			part = Valid
		}
		rows[part] = append(rows[part], i)
	}
	if len(rows[Train]) == 0 || len(rows[Valid]) == 0 {
		return nil, false
	}
	in := *t
	in.Parts = [3]Rows{}
	if t.Time != nil {
		when := *t.Time
		when.Periods = [3][]int32{}
		in.Time = &when
	}
	for part := range rows {
		to := &in.Parts[part]
		for _, column := range train.Codes {
			to.Codes = append(to.Codes, gather.Rows(column, rows[part]))
		}
		to.Y, to.W, to.Loss = gather.Rows(train.Y, rows[part]), gather.Rows(train.W, rows[part]), gather.Rows(train.Loss, rows[part])
		if t.Time != nil {
			in.Time.Periods[part] = gather.Rows(t.Time.Periods[Train], rows[part])
		}
	}
	in.Parts[Test].Codes = make([][]int32, len(train.Codes))
	return &in, true
}

// afterMost reports of a row whether its period is among the last 1/share of those that
// occur, at least one.
func afterMost(periods []int32, share int) func(i int) bool {
	occurring := distinct(periods)
	first := occurring[len(occurring)-max(1, len(occurring)/share)]
	return func(i int) bool { return periods[i] >= first }
}
