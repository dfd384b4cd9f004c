package train

import (
	"math"

	"github.com/kernel-fried-tensor/kft/baseline"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/timeline"
)

// periodsOfRows finds the mode of time, if all validation and test rows are after the
// training rows. The codes of these rows must still be those of the dictionaries.
func (r *run) periodsOfRows() *baseline.Time {
	if r.size(dataset.Valid)+r.size(dataset.Test) == 0 {
		return nil
	}
	var found *baseline.Time
	ids := 0
	for m, mode := range r.data.Table().Modes {
		dict := r.data.Table().Dicts[m]
		own := r.data.Ends() != nil && r.data.Ends().Time == m && r.data.LaterMode() == m
		if mode.Covariate() || dict.Len() <= ids || !own && r.sharesIDs(m) {
			continue // of two modes of time, the finer one; formulas know no covariates
		}
		line, err := timeline.New(mode, dict.IDs())
		if err != nil {
			continue
		}
		steps := line.Steps()
		when := &baseline.Time{Mode: m, Seasons: baseline.SeasonsOf(line)}
		first, last := int32(math.MaxInt32), int32(math.MinInt32)
		for p := range dataset.Part(len(r.parts)) {
			periods := make([]int32, r.size(p))
			for i, code := range r.part(p).Codes[m] {
				periods[i] = int32(steps[code])
			}
			when.Periods[p] = periods
		}
		r.alignPeriods(when)
		for p, periods := range when.Periods {
			for _, period := range periods {
				if dataset.Part(p) == dataset.Train {
					last = max(last, period)
				} else {
					first = min(first, period)
				}
			}
		}
		if first > last {
			found, ids = when, dict.Len()
		}
	}
	return found
}

// periodsOfSeries returns the periods of the rows of a table of one series, nil if there are
// other modes, if the ids are not periods, or if the validation and test rows are later. The
// codes must still be those of the dictionary.
func (r *run) periodsOfSeries() *baseline.Time {
	dict := r.data.Table().Dicts[0]
	if r.data.CellModes() != 1 || r.when != nil || dict.Len() == 0 {
		return nil
	}
	line, err := timeline.New(r.data.Table().Modes[0], dict.IDs())
	if err != nil {
		return nil
	}
	steps := line.Steps()
	when := &baseline.Time{}
	for p := range dataset.Part(len(r.parts)) {
		for _, code := range r.part(p).Codes[0] {
			when.Periods[p] = append(when.Periods[p], int32(steps[code]))
		}
	}
	return when
}

// sharesIDs reports whether some validation or test row has an id of a mode that
// training rows have.
func (r *run) sharesIDs(mode int) bool {
	for _, p := range []dataset.Part{dataset.Valid, dataset.Test} {
		for _, c := range r.part(p).Codes[mode] {
			if r.trained[mode][c] > 0 {
				return true
			}
		}
	}
	return false
}

// alignPeriods counts the periods of rows so that the training rows of all series end together, if
// each has its own end.
func (r *run) alignPeriods(when *baseline.Time) {
	series := r.model.Series()
	if r.data.Ends() == nil || series == nil || series.Time != when.Mode {
		return
	}
	for p, periods := range when.Periods {
		codes := r.part(dataset.Part(p)).Codes
		for i := range periods {
			periods[i] += int32(series.End - series.OriginOf(codes, i))
		}
	}
}
