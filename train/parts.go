package train

import (
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/split"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/solver"
)

// takeParts copies the observations of each part.
func (r *run) takeParts() error {
	r.split = r.data.Split()
	if share := r.opt.Share; share > 0 && share < 1 {
		all := r.split.Count(dataset.Train)
		if time := r.data.LaterMode(); time >= 0 && r.opt.Compare {
			sampled := *r.split
			sampled.Parts = r.data.SeriesShare(r.split.Parts, time, share, r.spec.Seed)
			r.split = &sampled
		} else {
			r.split = shareOf(r.split, share, r.spec.Seed)
		}
		if r.split.Count(dataset.Train) == 0 {
			return fmt.Errorf("a share of %.2g of %d training rows is empty; the table is too small to be reduced", share, all)
		}
	}
	if _, note := r.data.OwnEnds(); note != "" {
		r.warnings = append(r.warnings, note)
	}
	if r.split.Note != "" {
		r.warnings = append(r.warnings, "split "+r.split.Spec+": "+r.split.Note)
	}
	if r.divides() {
		r.takeShares()
		r.releaseTable()
		return nil
	}
	r.data.Complete()
	t := r.data.Table()
	all := solver.Observations{Codes: t.Codes, Y: t.Y, Low: t.Low, W: t.W, Exposure: t.Exposure, Censored: t.Censored}
	rows := r.rowsOfParts()
	parallel.For(r.engine.Threads(), len(r.parts), func(p int) {
		if r.opt.Compare {
			rows[p] = compared(dataset.Part(p), rows[p])
		}
		r.parts[p] = solver.SelectOn(r.engine, all, rows[p])
	})
	if r.data.AbsentZero() {
		if err := r.addZeros(all); err != nil {
			return err
		}
	}
	r.releaseTable()
	return nil
}

// rowsOfParts lists the rows of each part.
func (r *run) rowsOfParts() (rows [3][]int32) {
	partOf := func(row int) dataset.Part {
		part := r.split.Parts[row]
		if part <= r.last {
			return dataset.Train
		}
		return part
	}
	n, threads := len(r.split.Parts), r.engine.Threads()
	place := make([][len(rows)]int, (n+parallel.Block-1)/parallel.Block) // by block: its rows of each part, then where they go
	parallel.Blocks(threads, n, func(from, to int) {
		var count [len(rows)]int
		for i := from; i < to; i++ {
			if part := partOf(i); part != dataset.Unused {
				count[part]++
			}
		}
		place[from/parallel.Block] = count
	})
	for p := range rows {
		total := 0
		for b := range place {
			place[b][p], total = total, total+place[b][p]
		}
		rows[p] = make([]int32, total)
	}
	parallel.Blocks(threads, n, func(from, to int) {
		at := place[from/parallel.Block]
		for i := from; i < to; i++ {
			if part := partOf(i); part != dataset.Unused {
				rows[part][at[part]] = int32(i)
				at[part]++
			}
		}
	})
	return rows
}

// releaseTable releases the columns of the table, if nothing else needs them.
func (r *run) releaseTable() {
	if r.release {
		r.data.Release()
		if r.opt.Ranks != nil {
			debug.FreeOSMemory() // several processes may share a machine
		}
	}
}

// compareRows is the largest validation set of a fit that is only compared.
const compareRows = 50_000

// compared returns the rows of a part that a fit needs which is only compared: evenly
// spaced rows of the validation set, no test rows.
func compared(p dataset.Part, rows []int32) []int32 {
	switch {
	case p == dataset.Test:
		return nil
	case p != dataset.Valid || len(rows) <= compareRows:
		return rows
	}
	few := make([]int32, compareRows)
	for i := range few {
		few[i] = rows[i*len(rows)/compareRows]
	}
	return few
}

// shareOf keeps about the given share of the training rows; the others become
// unused. Each row has its own random number, so a smaller share is a subset of a
// larger one.
func shareOf(split *split.Split, share float64, seed uint64) *split.Split {
	s := *split
	s.Parts = slices.Clone(split.Parts)
	draw := randstream.New(seed, "share of rows")
	for i, p := range s.Parts {
		if draw.Float64() >= share && p == dataset.Train {
			s.Parts[i] = dataset.Unused
		}
	}
	return &s
}

// sourceParts returns the part of each row of the input, unused for dropped rows.
func (r *run) sourceParts() []dataset.Part {
	t := r.data.Table()
	if t.Row == nil {
		return r.split.Parts
	}
	parts := make([]dataset.Part, t.Counts.Rows)
	for i := range parts {
		parts[i] = dataset.Unused
	}
	for i, p := range r.split.Parts {
		parts[t.SourceRow(i)] = p
	}
	return parts
}
