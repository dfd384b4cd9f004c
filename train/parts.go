package train

import (
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/split"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/solver"
)

// takeParts copies the observations of each part.
func (r *run) takeParts() error {
	r.split = r.data.split
	if share := r.opt.Share; share > 0 && share < 1 {
		all := r.split.Count(dataset.Train)
		if time := r.data.LaterMode(); time >= 0 && r.opt.Compare {
			sampled := *r.split
			sampled.Parts = r.data.seriesShare(r.split.Parts, time, share, r.spec.Seed)
			r.split = &sampled
		} else {
			r.split = shareOf(r.split, share, r.spec.Seed)
		}
		if r.split.Count(dataset.Train) == 0 {
			return fmt.Errorf("a share of %.2g of %d training rows is empty; the table is too small to be reduced", share, all)
		}
	}
	if r.split.Note != "" {
		r.warnings = append(r.warnings, "split "+r.split.Spec+": "+r.split.Note)
	}
	t := &r.data.table
	all := solver.Observations{Codes: t.Codes, Y: t.Y, Low: t.Low, W: t.W, Exposure: t.Exposure, Censored: t.Censored}
	of := [dataset.Unused + 1]dataset.Part{dataset.Train, dataset.Valid, dataset.Test, dataset.Unused}
	if r.measured != nil {
		of = [...]dataset.Part{dataset.Train, dataset.Train, dataset.Train, dataset.Unused}
	}
	if r.opt.Compare {
		r.takeCompared(all, of)
	} else {
		r.parts = divideRows(r.engine, all, r.split.Parts, of)
	}
	if r.data.zero {
		training := func(k int) bool {
			part := r.data.split.Parts[k]
			return part == dataset.Train || r.measured != nil && part != dataset.Unused
		}
		if err := r.addZeros(all, training); err != nil {
			return err
		}
	}
	if r.release {
		t.Codes, t.Y, t.Low, t.W, t.Exposure, t.Censored = nil, nil, nil, nil, nil, nil
		if r.opt.Ranks != nil {
			debug.FreeOSMemory() // several processes may share a machine
		}
	}
	return nil
}

// takeCompared is takeParts for a fit that is only compared, which needs some of the rows.
func (r *run) takeCompared(all solver.Observations, of [dataset.Unused + 1]dataset.Part) {
	var rows [len(r.parts)][]int32
	for i, part := range r.split.Parts {
		if part = of[part]; part != dataset.Unused {
			rows[part] = append(rows[part], int32(i))
		}
	}
	parallel.For(r.engine.Threads(), len(r.parts), func(p int) {
		r.parts[p] = solver.SelectOn(r.engine, all, compared(dataset.Part(p), rows[p]))
	})
}

// divideRows returns the observations of each part, given the part of each row in a list and what it counts as.
func divideRows(b backend.Backend, all solver.Observations, parts []dataset.Part, of [dataset.Unused + 1]dataset.Part) (divided [3]solver.Observations) {
	d := divider{b: b, parts: parts, of: of, before: make([][4]int, (len(parts)+parallel.Block-1)/parallel.Block+1)}
	parallel.Blocks(b.Threads(), len(parts), func(from, to int) {
		n := &d.before[from/parallel.Block+1]
		for _, part := range parts[from:to] {
			n[part]++
		}
	})
	for i, counts := range d.before {
		var n [4]int
		for part, count := range counts {
			n[of[part]] += count
		}
		if i > 0 {
			for part := range n {
				n[part] += d.before[i-1][part]
			}
		}
		d.before[i] = n
	}
	columns := [...][3][]float32{divide(&d, all.Y), divide(&d, all.Low), divide(&d, all.W), divide(&d, all.Exposure), divide(&d, all.Censored)}
	for p := range divided {
		divided[p] = solver.Observations{Y: columns[0][p], Low: columns[1][p], W: columns[2][p], Exposure: columns[3][p], Censored: columns[4][p]}
	}
	for _, column := range all.Codes {
		for p, codes := range divide(&d, column) {
			divided[p].Codes = append(divided[p].Codes, codes)
		}
	}
	return divided
}

// divider divides columns by the parts of their rows.
type divider struct {
	b      backend.Backend
	parts  []dataset.Part
	of     [dataset.Unused + 1]dataset.Part
	before [][4]int // by block: the rows of each part before it
}

// staged is the number of rows that are divided in cache.
const staged = 1 << 10

// divide returns the values of each part, nil for nil.
func divide[V int32 | float32](d *divider, values []V) (out [3][]V) {
	if values == nil {
		return out
	}
	total := d.before[len(d.before)-1]
	for p := range out {
		out[p] = backend.Make[V](d.b, total[p])
	}
	parallel.Blocks(d.b.Threads(), len(values), func(from, to int) {
		// Each value is written to all parts, and counts in its own: a branch would be predicted badly.
		var train, valid, test [staged + 1]V
		next := d.before[from/parallel.Block]
		for ; from < to; from += staged {
			parts := d.parts[from:min(to, from+staged)]
			var nTrain, nValid, nTest int
			for i, v := range values[from:][:len(parts)] {
				part := d.of[parts[i]]
				train[nTrain], valid[nValid], test[nTest] = v, v, v
				if part == dataset.Train {
					nTrain++
				}
				if part == dataset.Valid {
					nValid++
				}
				if part == dataset.Test {
					nTest++
				}
			}
			for p, own := range [...][]V{train[:nTrain], valid[:nValid], test[:nTest]} {
				next[p] += copy(out[p][next[p]:], own)
			}
		}
	})
	return out
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
