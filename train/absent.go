package train

import (
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/history"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/train/fitdata"
)

// addZeros adds rows of the value 0 to all parts: cells without a row in the life of their
// series, so that the model is judged on what it is trained for. all is the table.
//
// If the other parts are later than the training set, series live from their first training
// row on, and a zero is in the part of its period. Otherwise it is in the part of the row before
// in the series; a row that a share of the table leaves out takes its zeros with it. A refit trains
// on those of all parts that it learns from.
func (r *run) addZeros(all solver.Observations) error {
	d := r.data
	parts, later := d.Split().Parts, d.LaterMode() >= 0 && r.last < dataset.Test
	used := func(k int) bool { return parts[k] != dataset.Unused }
	begins := used
	if later {
		begins = func(k int) bool { return parts[k] <= r.last }
	}
	keep := 1.0
	if share := r.opt.Share; share > 0 && share < 1 {
		keep = share
	}
	time, gaps, err := d.Gaps(history.Life{Begins: begins, Lasts: used}, keep)
	if err != nil {
		return err
	}
	partOf := make([]dataset.Part, d.Table().Dicts[time].Len())
	for k, code := range d.Table().Codes[time] {
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
		fitdata.Append(r.part(dataset.Part(p)), d.ZeroRows(all, time, own[p], dataset.Part(p) == dataset.Train))
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
