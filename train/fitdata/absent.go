package fitdata

import (
	"github.com/kernel-fried-tensor/kft/history"
	"github.com/kernel-fried-tensor/kft/internal/digits"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/plural"
	"github.com/kernel-fried-tensor/kft/internal/sysmemory"
	"github.com/kernel-fried-tensor/kft/solver"
)

// workBytes estimates, from below, what a training row needs besides its codes: values
// on both scales, residuals and the plans of a term.
const workBytes = 64

// Gaps returns the mode of time and the cells without a row in the life of their series. It is an
// error if the given share of them does not fit into memory.
func (d *Data) Gaps(life history.Life, share float64) (time int, gaps []history.Gap, err error) {
	row := float64(4*len(d.table.Codes) + workBytes)
	return history.Gaps(&d.table, life, func(n int) error {
		if room := sysmemory.Available(); row*share*float64(n) > float64(room) {
			return fielderr.Errorf("data.absent", "with zeros for cells without a row, there would be %s more, which need at least %s of memory, and %s are available; set data.absent to unknown, or use longer periods",
				plural.Count(n, "row"), digits.Bytes(row*share*float64(n)), digits.Bytes(float64(room)))
		}
		return nil
	})
}

// ZeroRows returns rows of the value 0. Their covariates, weight and exposure are those of the row
// before in the series; lags are computed, and hidden in training rows as those of others are.
func (d *Data) ZeroRows(all solver.Observations, time int, gaps []history.Gap, training bool) solver.Observations {
	rows := make([]int, len(gaps))
	for i, g := range gaps {
		rows[i] = int(g.Before)
	}
	zeros := all.Select(rows)
	for i, g := range gaps {
		zeros.Codes[time][i], zeros.Y[i] = g.Time, 0
	}
	clear(zeros.Low)
	clear(zeros.Censored)
	t := &d.table
	for m := len(t.Modes) - len(d.derived()); m < len(t.Modes); m++ {
		values := make([]float64, len(gaps))
		for i := range values {
			values[i] = d.history.Value(t.Modes[m], func(mode int) int32 { return zeros.Codes[mode][i] }, nil)
		}
		d.hideLater(t.Modes[m].Lag(), values, func(int) bool { return training })
		zeros.Codes[m] = d.binned(m, values)
	}
	return zeros
}

// Append appends observations to others with the same columns.
func Append(to *solver.Observations, more solver.Observations) {
	for m := range to.Codes {
		to.Codes[m] = append(to.Codes[m], more.Codes[m]...)
	}
	to.Y, to.Low = append(to.Y, more.Y...), append(to.Low, more.Low...)
	to.W, to.Exposure, to.Censored = append(to.W, more.W...), append(to.Exposure, more.Exposure...), append(to.Censored, more.Censored...)
}
