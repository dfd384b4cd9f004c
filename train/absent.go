package train

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/history"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/plural"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/internal/sysmemory"
	"github.com/kernel-fried-tensor/kft/solver"
)

// workBytes estimates, from below, what a training row needs besides its codes: values
// on both scales, residuals and the plans of a term.
const workBytes = 64

// addZeros adds training rows of the value 0: cells without a row in the life of their
// series. Their covariates, weight and exposure are those of the row before in the
// series; lags are computed. all is the table, and training says which of its rows are
// training rows. A share of the training rows takes as many of the zeros.
func (r *run) addZeros(all solver.Observations, training func(k int) bool) error {
	d := r.data
	t := &d.table
	row := float64(4*len(t.Codes) + workBytes)
	keep := 1.0
	if share := r.opt.Share; share > 0 && share < 1 {
		keep = share
	}
	time, gaps, err := history.Gaps(t, training, func(n int) error {
		if room := sysmemory.Available(); row*keep*float64(n) > float64(room) {
			return fielderr.Errorf("data.absent", "with zeros for cells without a row, the training set would have %s more, which need at least %s of memory, and %s are available; set data.absent to unknown, or use longer periods",
				plural.Count(n, "row"), gib(row*keep*float64(n)), gib(float64(room)))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if keep < 1 {
		draw := randstream.New(r.spec.Seed, "share of zeros")
		gaps = slices.DeleteFunc(gaps, func(history.Gap) bool { return draw.Float64() >= keep })
	}
	rows := make([]int, len(gaps))
	for i, g := range gaps {
		rows[i] = int(g.Before)
	}
	zeros := all.Select(rows)
	for i, g := range gaps {
		zeros.Codes[time][i], zeros.Y[i] = g.Time, 0
		if zeros.Low != nil {
			zeros.Low[i] = 0
		}
	}
	r.zeros = len(gaps)
	for m := len(t.Modes) - len(d.derived()); m < len(t.Modes); m++ {
		values := make([]float64, len(gaps))
		for i := range values {
			values[i] = d.history.Value(t.Modes[m], func(mode int) int32 { return zeros.Codes[mode][i] }, nil)
		}
		d.hideLater(t.Modes[m].Lag(), values, func(int) bool { return true })
		zeros.Codes[m] = d.binned(m, values)
	}
	train := r.part(dataset.Train)
	for m := range train.Codes {
		train.Codes[m] = append(train.Codes[m], zeros.Codes[m]...)
	}
	train.Y, train.Low = append(train.Y, zeros.Y...), append(train.Low, zeros.Low...)
	train.W, train.Exposure = append(train.W, zeros.W...), append(train.Exposure, zeros.Exposure...)
	return nil
}
