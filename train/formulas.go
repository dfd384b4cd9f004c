package train

import (
	"fmt"

	"github.com/kernel-fried-tensor/kft/baseline"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/evaluate"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/train/collective"
)

// baseline fits the formulas of package baseline and measures them, the best first. Of a very
// large table it uses a sample. A refit has the settings of the first training, which
// validation rows chose.
func (r *run) baseline() []model.BaselineScores {
	scores, chosen := r.formulas(r.engine.Threads()).Measure()
	r.settings = chosen
	return scores
}

// baselineBeside is baseline beside the training, on a few of many threads: the training leaves more
// than that unused. The result is a function that waits for the scores.
func (r *run) baselineBeside() func() []model.BaselineScores {
	few := r.engine.Threads() / 8
	if few == 0 || r.opt.Ranks != nil || r.opt.Memory > 0 {
		scores := r.baseline()
		return func() []model.BaselineScores { return scores }
	}
	own := r.formulas(few) // the training changes the run
	var chosen baseline.Chosen
	done := make(chan []model.BaselineScores, 1)
	go func() {
		var scores []model.BaselineScores
		scores, chosen = own.Measure()
		done <- scores
	}()
	return func() []model.BaselineScores {
		scores := <-done
		r.settings = chosen
		return scores
	}
}

// formulas returns the formulas with the rows that they are fitted to, and keeps the warning about these.
func (r *run) formulas(threads int) *evaluate.Formulas {
	sample, warning := r.formulaSample()
	if warning != "" {
		r.warnings = append(r.warnings, warning)
	}
	n := r.data.CellModes()
	f := &evaluate.Formulas{Names: r.spec.ModeNames()[:n], Sizes: r.data.Sizes()[:n], Time: sample.when, Between: sample.between, Chosen: r.settings,
		Scale: r.model.Scale(), Finite: r.spec.Uncertainty.Finite(), Threads: threads, Ranks: collective.Backend(r.opt.Ranks)}
	for p := range f.Parts {
		f.Parts[p] = evaluate.RowsOf(sample.part(dataset.Part(p)))
	}
	if r.measured != nil {
		first := r.measured.Record()
		f.First = &first
	}
	return f
}

// formulaBytes returns the memory of the formulas: up to 100 bytes per row.
func (r *run) formulaBytes() int64 {
	if r.opt.Compare {
		return 0
	}
	return 100 * int64(min(r.rows(), r.opt.many()))
}

// formulaSample returns the run with the rows that formulas are fitted to and measured on: all,
// or those of some ids of the largest mode, chosen at random, together with a warning. Means
// of combinations with these ids are then those of the whole table. The rows stay in r.sampled.
func (r *run) formulaSample() (*run, string) {
	r.sampled = [3][]int32{}
	total := r.rows()
	if total <= r.opt.many() {
		return r, ""
	}
	mode := 0
	for m, size := range r.data.Sizes()[:r.data.CellModes()] {
		if size > r.data.Sizes()[mode] {
			mode = m
		}
	}
	share := float64(r.opt.few()) / float64(total)
	chosen := func(id int) bool {
		mix := (uint64(id) + 1) * 0x9e3779b97f4a7c15
		return float64(mix^mix>>29) < share*(1<<64)
	}
	ids := make([]bool, r.data.Sizes()[mode])
	for id := range ids {
		ids[id] = chosen(id)
	}
	sample := *r
	sample.divided = false
	var chosenRows [3][]int32
	for p := range dataset.Part(len(r.parts)) {
		o := &r.parts[p]
		first, end := r.known(p)
		var rows []int32
		for i, c := range o.Codes[mode][first:end] {
			if c >= 0 && ids[c] || c < 0 && chosen(first+i) { // an unknown id has a row
				rows = append(rows, int32(first+i))
			}
		}
		chosenRows[p] = rows
		if p == dataset.Train {
			sample.parts[p] = r.selectTrain(rows)
		} else {
			sample.parts[p] = solver.SelectOn(nil, *o, rows)
		}
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
	if sample.size(dataset.Train) == 0 {
		return r, "" // one id has most of the rows
	}
	r.sampled = chosenRows
	return &sample, fmt.Sprintf("the formulas are fitted to and measured on %d of the %d rows, those of %.2g %% of the ids of %s", sample.rows(), total, 100*share, r.data.Table().Modes[mode].Name)
}

// rows returns the number of rows of all parts.
func (r *run) rows() int {
	return r.size(dataset.Train) + r.size(dataset.Valid) + r.size(dataset.Test)
}
