package fitdata

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/solver"
)

// Sample returns at most n training rows in the order of the table. Of the modes that
// identify a cell it takes the two with the most ids, draws ids of them and takes all rows
// between these, so that a pair of ids has as many rows in the sample as in the table: in
// a sample of rows most pairs would have one, and what the table says about pairs would be
// lost. Equal seeds give equal rows.
func (d *Data) Sample(n int, seed uint64) solver.Observations {
	rows := d.rowsOf(dataset.Train)
	if len(rows) > n {
		rows = d.block(rows, n, seed)
	}
	return d.observations(rows)
}

// SampleValid returns at most n validation rows, drawn by the seed.
func (d *Data) SampleValid(n int, seed uint64) solver.Observations {
	rows := d.rowsOf(dataset.Valid)
	if len(rows) > n {
		randstream.New(seed, "sample of validation rows").Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		rows = rows[:n]
	}
	return d.observations(rows)
}

// rowsOf returns the rows of a part.
func (d *Data) rowsOf(part dataset.Part) []int {
	rows := make([]int, 0, d.split.Count(part))
	for i, p := range d.split.Parts {
		if p == part {
			rows = append(rows, i)
		}
	}
	return rows
}

func (d *Data) observations(rows []int) solver.Observations {
	t := &d.table
	return solver.Observations{Codes: t.Codes, Y: t.Y, Low: t.Low, W: t.W, Exposure: t.Exposure, Censored: t.Censored}.Select(rows)
}

// block returns n of the rows. Every id of the two largest modes has a random number, a
// row has the larger of its two, and the n smallest are taken.
func (d *Data) block(rows []int, n int, seed uint64) []int {
	sizes := d.Sizes()[:d.CellModes()]
	modes := make([]int, len(sizes))
	for m := range modes {
		modes[m] = m
	}
	slices.SortStableFunc(modes, func(a, b int) int { return sizes[b] - sizes[a] })
	modes = modes[:min(2, len(modes))]
	level := make([]float64, len(rows))
	for _, m := range modes {
		draw := randstream.New(seed, "sample of ids", uint64(m))
		numbers := make([]float64, sizes[m])
		for i := range numbers {
			numbers[i] = draw.Float64()
		}
		for k, row := range rows {
			level[k] = max(level[k], numbers[d.table.Codes[m][row]])
		}
	}
	sorted := slices.Clone(level)
	slices.Sort(sorted)
	limit := sorted[n-1]
	taken := make([]int, 0, n)
	for k, row := range rows { // strictly below first: rows of one id may share the limit
		if level[k] < limit {
			taken = append(taken, row)
		}
	}
	for k, row := range rows {
		if level[k] == limit && len(taken) < n {
			taken = append(taken, row)
		}
	}
	slices.Sort(taken)
	return taken
}
