package fitdata

import (
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/split"
	"github.com/kernel-fried-tensor/kft/evaluate"
	"github.com/kernel-fried-tensor/kft/history"
	"github.com/kernel-fried-tensor/kft/solver"
)

// A validation set of few rows that are later than the training rows is one sample of
// surprises. What it decides is therefore decided at several origins, which lie the
// validation periods apart; each keeps at least half of the training periods. Their number
// is limited by the rows that all fits together read.
const (
	RollingBelow = 1000 // validation rows
	MostOrigins  = 4
	originRows   = 40_000
)

// Modes returns the modes of the table.
func (d *Data) Modes() []dataset.Mode { return d.table.Modes }

// IDs returns the ids of a mode.
func (d *Data) IDs(mode int) []string { return d.table.Dicts[mode].IDs() }

// At returns the data as they were known at an origin: the rows of the last test periods up to it
// are the test set, those of the valid periods before them the validation set, those before them the training set, and all
// others, like those that are unused, are unused. Covariates that follow from the training rows are
// computed from these. steps are the periods of the ids of the mode of time, by code.
func (d *Data) At(mode int, steps []int64, origin, valid, test int64) (*Data, error) {
	at, parts := *d, make([]dataset.Part, len(d.split.Parts))
	at.ahead, at.used = 0, d.split.Parts
	named := map[dataset.Part][2]int32{}
	for i, code := range d.table.Codes[mode] {
		step := d.step(steps, mode, i)
		switch {
		case d.split.Parts[i] == dataset.Unused || step > origin:
			parts[i] = dataset.Unused
			continue
		case step > origin-test:
			parts[i] = dataset.Test
		case step > origin-test-valid:
			parts[i] = dataset.Valid
		default:
			parts[i] = dataset.Train
		}
		ends, seen := named[parts[i]]
		if !seen {
			ends = [2]int32{code, code}
		}
		if step < steps[ends[0]] {
			ends[0] = code
		}
		if step > steps[ends[1]] {
			ends[1] = code
		}
		named[parts[i]] = ends
	}
	if d.ends != nil {
		d.ends.KeepShort(parts)
	}
	dict := d.table.Dicts[mode]
	at.split = &split.Split{Parts: parts, Spec: d.split.Spec, Seed: d.split.Seed, Periods: map[dataset.Part]string{}}
	for part, ends := range named {
		at.split.Periods[part] = dict.ID(ends[0])
		if ends[1] != ends[0] {
			at.split.Periods[part] += " to " + dict.ID(ends[1])
		}
	}
	at.laterMode = mode
	return &at, at.renewHistory()
}

// renewHistory computes the covariates that follow from the training rows again, because
// the bins of lags must not know other values.
func (d *Data) renewHistory() error {
	derived := slices.Clone(d.derived())
	if len(derived) == 0 {
		return nil
	}
	t, n := &d.table, len(d.table.Modes)-len(derived)
	t.Modes, t.Dicts, t.Codes, d.history = t.Modes[:n:n], t.Dicts[:n:n], t.Codes[:n:n], nil
	return d.addHistory(derived, d.zero, dataset.Train)
}

// Recent returns the data without the training rows before the last years up to the last
// validation row, and the first period that is left. It is nil if the validation rows are
// not later than the training rows, if the calendar has no year, or if there are no such
// rows.
func (d *Data) Recent(years int) (recent *Data, first string, err error) {
	mode := d.laterMode
	if mode < 0 || d.ends != nil { // the last years of one series are not those of another
		return nil, "", nil
	}
	line, err := d.timeline(mode)
	if err != nil || !line.Regular() {
		return nil, "", nil
	}
	cycles := line.Cycles()
	if len(cycles) == 0 || cycles[len(cycles)-1].Name != "year" {
		return nil, "", nil
	}
	steps := line.Steps()
	begin, _, last := d.periods(mode, steps)
	from := last + 1 - int64(math.Round(float64(years)*cycles[len(cycles)-1].Periods))
	if begin >= from {
		return nil, "", nil
	}
	if first, err = line.ID(from); err != nil {
		return nil, "", nil
	}
	parts := slices.Clone(d.split.Parts)
	for i, code := range d.table.Codes[mode] {
		if parts[i] == dataset.Train && steps[code] < from {
			parts[i] = dataset.Unused
		}
	}
	at, divided := *d, *d.split
	divided.Parts = parts
	at.split = &divided
	return &at, first, at.renewHistory()
}

// Known returns the data of an origin with covariates that follow from all rows up to it,
// as a refit knows them.
func (d *Data) Known() (*Data, error) { return d.WithHistory(dataset.Test) }

// Rows are rows of some periods.
type Rows struct {
	evaluate.Rows
	Step []int32 // where each series has its own end, counted so that all end with the table
}

// Between returns the rows of the periods from first to last that are not unused, those
// after the origin of [Data.At] included, and zeros for cells without a row if they stand for 0: in
// later periods those of series with a row before first. The codes are copies.
func (d *Data) Between(mode int, steps []int64, first, last int64) (found Rows, err error) {
	parts := d.split.Parts
	if d.used != nil {
		parts = d.used
	}
	var rows []int
	for i := range parts {
		if step := d.step(steps, mode, i); step >= first && step <= last && parts[i] != dataset.Unused {
			rows = append(rows, i)
			found.Step = append(found.Step, int32(step))
		}
	}
	t := &d.table
	all := solver.Observations{Codes: t.Codes, Y: t.Y, Low: t.Low, W: t.W, Exposure: t.Exposure}
	selected := all.Select(rows)
	for m := range selected.Codes {
		selected.Codes[m] = slices.Clone(selected.Codes[m])
	}
	if !d.zero {
		found.Rows = evaluate.RowsOf(&selected)
		return found, nil
	}
	codes := t.Codes[mode]
	until := func(k int) bool { return parts[k] != dataset.Unused && steps[codes[k]] <= last }
	begins := until
	if first > 0 {
		begins = func(k int) bool { return parts[k] != dataset.Unused && steps[codes[k]] < first }
	}
	time, gaps, err := d.Gaps(history.Life{Begins: begins, Lasts: until}, 1)
	if err != nil {
		return Rows{}, err
	}
	gaps = slices.DeleteFunc(gaps, func(g history.Gap) bool { return steps[g.Time] < first })
	Append(&selected, d.ZeroRows(all, time, gaps, false))
	for _, g := range gaps {
		found.Step = append(found.Step, int32(steps[g.Time]))
	}
	found.Rows = evaluate.RowsOf(&selected)
	return found, nil
}

// Earlier returns the data as they were known k validation periods before: the rows of
// as many periods as the validation set has are the validation set, and end k times as
// many periods before it does. It is nil for other splits than those by time, or if less
// than half of the training periods would be left.
func (d *Data) Earlier(k int) (*Data, error) {
	mode := d.laterMode
	if mode < 0 {
		return nil, nil
	}
	line, err := d.timeline(mode)
	if err != nil || !line.Regular() {
		return nil, nil
	}
	steps := line.Steps()
	first, trained, last := d.periods(mode, steps)
	width := last - trained
	origin := last - int64(k)*width
	if width < 1 || 2*(origin-width-first+1) < trained-first+1 {
		return nil, nil
	}
	return d.At(mode, steps, origin, width, 0)
}

// periods returns the first and the last step of the training rows and the last of the
// validation rows, -1 without rows.
func (d *Data) periods(mode int, steps []int64) (first, trained, last int64) {
	first, trained, last = -1, -1, -1
	valid := int64(math.MaxInt64) // the first validation period
	for i, part := range d.split.Parts {
		switch step := d.step(steps, mode, i); part {
		case dataset.Train:
			trained = max(trained, step)
			if first < 0 || step < first {
				first = step
			}
		case dataset.Valid:
			last, valid = max(last, step), min(valid, step)
		}
	}
	if d.ends != nil && last >= 0 {
		trained = valid - 1 // short series are in the training set up to their ends
	}
	return first, trained, last
}

// ValidPeriods returns the number of periods of the validation rows after the last training
// row, 0 if they are not later.
func (d *Data) ValidPeriods() int {
	if d.laterMode < 0 {
		return 0
	}
	line, err := d.timeline(d.laterMode)
	if err != nil {
		return 0
	}
	_, trained, last := d.periods(d.laterMode, line.Steps())
	return int(last - trained)
}

// Origins returns the data and, if its validation rows are later than the training rows and
// few, the data at earlier origins.
func (d *Data) Origins() ([]*Data, error) {
	all := []*Data{d}
	rows, valid := d.Count(dataset.Train), d.Count(dataset.Valid)
	if d.laterMode < 0 || rows == 0 || valid == 0 || valid >= RollingBelow {
		return all, nil
	}
	for k := 1; k < min(MostOrigins, originRows/rows); k++ {
		earlier, err := d.Earlier(k)
		if err != nil {
			return nil, err
		}
		if earlier == nil {
			break
		}
		if earlier.Count(dataset.Valid) > 0 { // not a gap in time
			all = append(all, earlier)
		}
	}
	return all, nil
}
