package train

import (
	"github.com/kernel-fried-tensor/kft/dataset"
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

// addZeros adds rows of the value 0 to all parts: cells without a row in the life of their
// series, so that the model is judged on what it is trained for. all is the table.
//
// If the other parts are later than the training set, series live from their first training
// row on, and a zero is in the part of its period. Otherwise it is in the part of the row before
// in the series; a row that a share of the table leaves out takes its zeros with it. A refit trains
// on those of all parts that it learns from.
func (r *run) addZeros(all solver.Observations) error {
	d := r.data
	parts, later := d.split.Parts, d.laterMode >= 0 && r.last < dataset.Test
	used := func(k int) bool { return parts[k] != dataset.Unused }
	begins := used
	if later {
		begins = func(k int) bool { return parts[k] <= r.last }
	}
	keep := 1.0
	if share := r.opt.Share; share > 0 && share < 1 {
		keep = share
	}
	time, gaps, err := d.gaps(history.Life{Begins: begins, Lasts: used}, keep)
	if err != nil {
		return err
	}
	partOf := make([]dataset.Part, d.table.Dicts[time].Len())
	for k, code := range d.table.Codes[time] {
		if used(k) {
			partOf[code] = parts[k]
		}
	}
	var own [len(r.parts)][]history.Gap
	for _, g := range gaps {
		part := r.split.Parts[g.Before]
		switch {
		case part == dataset.Unused:
			continue
		case later:
			part = partOf[g.Time]
		}
		if part <= r.last {
			part = dataset.Train
		}
		own[part] = append(own[part], g)
	}
	if r.opt.Compare {
		own[dataset.Test] = nil
		own[dataset.Valid] = comparedGaps(own[dataset.Valid], r.split.Count(dataset.Valid))
	}
	for p := range own {
		r.zeros[p] = len(own[p])
		appendRows(r.part(dataset.Part(p)), d.zeroRows(all, time, own[p], dataset.Part(p) == dataset.Train))
	}
	return nil
}

// comparedGaps keeps as large a share of the zeros of the validation set as [compared] does of
// its rows.
func comparedGaps(gaps []history.Gap, rows int) []history.Gap {
	if rows <= compareRows {
		return gaps
	}
	few := make([]history.Gap, int(float64(len(gaps))*compareRows/float64(rows)))
	for i := range few {
		few[i] = gaps[i*len(gaps)/len(few)]
	}
	return few
}

// gaps returns the mode of time and the cells without a row in the life of their series. It is an
// error if the given share of them does not fit into memory.
func (d *Data) gaps(life history.Life, share float64) (time int, gaps []history.Gap, err error) {
	row := float64(4*len(d.table.Codes) + workBytes)
	return history.Gaps(&d.table, life, func(n int) error {
		if room := sysmemory.Available(); row*share*float64(n) > float64(room) {
			return fielderr.Errorf("data.absent", "with zeros for cells without a row, there would be %s more, which need at least %s of memory, and %s are available; set data.absent to unknown, or use longer periods",
				plural.Count(n, "row"), digits.Bytes(row*share*float64(n)), digits.Bytes(float64(room)))
		}
		return nil
	})
}

// zeroRows returns rows of the value 0. Their covariates, weight and exposure are those of the row
// before in the series; lags are computed, and hidden in training rows as those of others are.
func (d *Data) zeroRows(all solver.Observations, time int, gaps []history.Gap, training bool) solver.Observations {
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

// appendRows appends observations to others with the same columns.
func appendRows(to *solver.Observations, more solver.Observations) {
	for m := range to.Codes {
		to.Codes[m] = append(to.Codes[m], more.Codes[m]...)
	}
	to.Y, to.Low = append(to.Y, more.Y...), append(to.Low, more.Low...)
	to.W, to.Exposure, to.Censored = append(to.W, more.W...), append(to.Exposure, more.Exposure...), append(to.Censored, more.Censored...)
}
