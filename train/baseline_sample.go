package train

import (
	"fmt"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/solver"
)

// maxFormulaRows is the number of rows up to which formulas are fitted to all of them, and sampleRows about that of a sample of more.
const (
	maxFormulaRows = 1 << 22
	sampleRows     = 1 << 20
)

// formulaBytes returns the memory of the formulas: up to 100 bytes per row.
func (r *run) formulaBytes() int64 {
	if r.opt.Compare {
		return 0
	}
	return 100 * int64(min(r.rows(), maxFormulaRows))
}

// formulaSample returns the run with the rows that formulas are fitted to and measured on: all,
// or those of some ids of the largest mode, chosen at random, together with a warning. Means
// of combinations with these ids are then those of the whole table.
func (r *run) formulaSample() (*run, string) {
	total := r.rows()
	if total <= maxFormulaRows {
		return r, ""
	}
	mode := 0
	for m, size := range r.data.sizes()[:r.data.cellModes()] {
		if size > r.data.sizes()[mode] {
			mode = m
		}
	}
	share := float64(sampleRows) / float64(total)
	chosen := func(id int) bool {
		mix := (uint64(id) + 1) * 0x9e3779b97f4a7c15
		return float64(mix^mix>>29) < share*(1<<64)
	}
	ids := make([]bool, r.data.sizes()[mode])
	for id := range ids {
		ids[id] = chosen(id)
	}
	sample := *r
	for p := range r.parts {
		o := &r.parts[p]
		var rows []int32
		for i, c := range o.Codes[mode] {
			if c >= 0 && ids[c] || c < 0 && chosen(i) { // an unknown id has a row
				rows = append(rows, int32(i))
			}
		}
		sample.parts[p] = solver.SelectOn(nil, *o, rows)
		if r.when != nil {
			periods := make([]int32, len(rows))
			for k, row := range rows {
				periods[k] = r.when.Periods[p][row]
			}
			if p == 0 {
				when := *r.when
				sample.when = &when
			}
			sample.when.Periods[p] = periods
		}
	}
	if sample.parts[dataset.Train].Len() == 0 {
		return r, "" // one id has most of the rows
	}
	return &sample, fmt.Sprintf("the formulas are fitted to and measured on %d of the %d rows, those of %.2g %% of the ids of %s", sample.rows(), total, 100*share, r.data.table.Modes[mode].Name)
}

// rows returns the number of rows of all parts.
func (r *run) rows() int {
	return r.parts[dataset.Train].Len() + r.parts[dataset.Valid].Len() + r.parts[dataset.Test].Len()
}
