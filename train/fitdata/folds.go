package fitdata

import (
	"slices"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

// Folds divides the training and validation rows into n folds by the seed, and returns
// the data n times, each with another fold as the validation set. The test rows stay
// what they are.
func (d *Data) Folds(n int, seed uint64) ([]*Data, error) {
	of := make([]int, len(d.split.Parts))
	rows := slices.Concat(d.rowsOf(dataset.Train), d.rowsOf(dataset.Valid))
	slices.Sort(rows)
	randstream.New(seed, "folds").Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	for i, row := range rows {
		of[row] = i % n
	}
	return d.foldsBy(of, n, rows)
}

// FoldsOfDays divides the training rows into n folds by their days, those of ids of the mode of time, and returns
// the data n times, each with another fold as the validation set and without its own one.
func (d *Data) FoldsOfDays(days []time.Time, mode, n int, seed uint64) ([]*Data, error) {
	draw := randstream.New(seed, "folds of days")
	fold := map[time.Time]int{}
	of := make([]int, len(d.split.Parts))
	for i, code := range d.table.Codes[mode] {
		k, known := fold[days[code]]
		if !known {
			k = draw.IntN(n)
			fold[days[code]] = k
		}
		of[i] = k
	}
	return d.foldsOfTime(of, n)
}

// FoldsOfMonths is like FoldsOfDays with all rows of a month in one part. Months take turns, so that few of them make parts of
// nearly equal sizes, and a month is in another part the year after. A part without rows, as among every third month, is left out.
func (d *Data) FoldsOfMonths(days []time.Time, mode, n int) ([]*Data, error) {
	of := make([]int, len(d.split.Parts))
	for i, code := range d.table.Codes[mode] {
		t := days[code]
		of[i] = (13*t.Year() + int(t.Month())) % n
	}
	all, err := d.foldsOfTime(of, n)
	return slices.DeleteFunc(all, func(fold *Data) bool {
		return fold.Count(dataset.Valid) == 0 || fold.Count(dataset.Train) == 0
	}), err
}

// foldsOfTime returns the folds of the training rows, and of the validation rows if they are not later.
func (d *Data) foldsOfTime(of []int, n int) ([]*Data, error) {
	rows := d.rowsOf(dataset.Train)
	if d.laterMode < 0 {
		rows = append(rows, d.rowsOf(dataset.Valid)...)
	}
	return d.foldsBy(of, n, rows)
}

// foldsBy returns the data n times with some of its training and validation rows, those of another fold as the validation set.
func (d *Data) foldsBy(of []int, n int, rows []int) ([]*Data, error) {
	var all []*Data
	for k := range n {
		fold, split := *d, *d.split
		split.Parts, split.Periods = slices.Clone(d.split.Parts), nil
		for i, p := range split.Parts {
			if p == dataset.Valid {
				split.Parts[i] = dataset.Unused
			}
		}
		for _, row := range rows {
			split.Parts[row] = dataset.Train
			if of[row] == k {
				split.Parts[row] = dataset.Valid
			}
		}
		fold.split, fold.laterMode = &split, -1
		own, err := fold.WithHistory(dataset.Train)
		if err != nil {
			return nil, err
		}
		all = append(all, own)
	}
	return all, nil
}

// KeepValid returns the data with n of its validation rows, chosen by the seed, and the
// others in the training set. The test rows stay what they are.
func (d *Data) KeepValid(n int, seed uint64) (*Data, error) {
	var rows []int
	for i, p := range d.split.Parts {
		if p == dataset.Valid {
			rows = append(rows, i)
		}
	}
	if n >= len(rows) {
		return d, nil
	}
	randstream.New(seed, "kept validation rows").Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	larger, split := *d, *d.split
	split.Parts = slices.Clone(d.split.Parts)
	for _, row := range rows[n:] {
		split.Parts[row] = dataset.Train
	}
	larger.split = &split
	return larger.WithHistory(dataset.Train)
}

// Familiar returns the share of the validation rows whose every id occurs in the
// training set.
func (d *Data) Familiar() float64 {
	seen := make([][]bool, d.CellModes())
	for m := range seen {
		seen[m] = make([]bool, d.table.Dicts[m].Len())
	}
	for i, p := range d.split.Parts {
		for m := range seen {
			if p == dataset.Train {
				seen[m][d.table.Codes[m][i]] = true
			}
		}
	}
	familiar, all := 0, 0
	for i, p := range d.split.Parts {
		if p != dataset.Valid {
			continue
		}
		known := true
		for m := range seen {
			known = known && seen[m][d.table.Codes[m][i]]
		}
		if all++; known {
			familiar++
		}
	}
	return float64(familiar) / float64(max(all, 1))
}
