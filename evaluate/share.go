package evaluate

import (
	"maps"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/flat"
	"github.com/kernel-fried-tensor/kft/internal/peers"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/tt"
)

// placedSums are sums with the number of their first row, by which they are added in order.
type placedSums struct {
	First int
	Sums  *Sums
}

// encodeSums returns sums in a form that passes to another process.
func encodeSums(sums map[int]*Sums) []byte {
	var list []placedSums
	for _, first := range slices.Sorted(maps.Keys(sums)) {
		list = append(list, placedSums{first, sums[first]})
	}
	return flat.Encode(&list)
}

// decodeSums adds what other processes encoded.
func decodeSums(sums map[int]*Sums, parts [][]byte) error {
	for _, part := range parts {
		var list []placedSums
		if err := flat.Decode(part, &list); err != nil {
			return err
		}
		for _, s := range list {
			sums[s.First] = s.Sums
		}
	}
	return nil
}

// measured are the sums of the tasks of a run of rows, and their outcomes.
type measured struct {
	First    int // row
	Tasks    []*Sums
	Outcomes []outcome
}

// measureShare is Measure of all rows, computed by the processes of a share. It returns nil on those
// that do not write. Pieces of rows have the lengths that one process computes them in.
func measureShare(share tableio.Share, b backend.Backend, m *model.Model, rows Rows) (*Sums, error) {
	n := len(rows.Y)
	var own []measured
	var failed error
	for first := 0; first < n && failed == nil; first += model.MomentRows {
		if share.Mine(first / model.MomentRows) {
			piece := rows.slice(first, min(n, first+model.MomentRows))
			run := measured{First: first}
			run.Tasks, run.Outcomes, failed = measureTasks(b, m, m.Moments(b, piece.Codes), piece, true)
			own = append(own, run)
		}
	}
	parts, err := share.Total(flat.Encode(&own), failed)
	if err != nil || !share.Writes() {
		return nil, err
	}
	var runs []measured
	for _, part := range parts {
		var some []measured
		if err := flat.Decode(part, &some); err != nil {
			return nil, err
		}
		runs = append(runs, some...)
	}
	slices.SortFunc(runs, func(a, b measured) int { return a.First - b.First })
	var all measured
	for _, run := range runs {
		all.Tasks, all.Outcomes = append(all.Tasks, run.Tasks...), append(all.Outcomes, run.Outcomes...)
	}
	return total(b, nil, m, rows, true, all.Tasks, all.Outcomes), nil
}

// MeasureOver is Measure by several ranks, which have the same rows and moments. agree makes all
// ranks fail if one of them did.
func MeasureOver(ranks backend.Ranks, agree func(error) error, b backend.Backend, m *model.Model, z tt.Moments, rows Rows, calibration bool) (*Sums, error) {
	n := len(rows.Y)
	bounds := backend.Even((n+rowsPerTask-1)/rowsPerTask, ranks.Size())
	for r, task := range bounds {
		bounds[r] = min(n, task*rowsPerTask)
	}
	first, end := bounds[ranks.Rank()], bounds[ranks.Rank()+1]
	part := tt.Moments{Mean: z.Mean[first:end]}
	if z.Var != nil {
		part.Var = z.Var[first:end]
	}
	own, found, err := measureTasks(b, m, part, rows.slice(first, end), calibration)
	if err := agree(err); err != nil {
		return nil, err
	}
	var tasks []*Sums
	for _, text := range peers.Texts(ranks, flat.Encode(&own)) {
		var some []*Sums
		if err := flat.Decode(text, &some); err != nil {
			panic("evaluate: " + err.Error()) // all ranks run the same program
		}
		tasks = append(tasks, some...)
	}
	var outcomes []outcome
	if calibration {
		outcomes = make([]outcome, n)
		copy(outcomes[first:end], found)
		backend.GatherValues(ranks, outcomes, bounds, 1)
	}
	return total(b, ranks, m, rows, calibration, tasks, outcomes), nil
}

// slice returns the rows [from, to).
func (r Rows) slice(from, to int) Rows {
	part := func(values []float32) []float32 {
		if values == nil {
			return nil
		}
		return values[from:to]
	}
	out := Rows{Y: r.Y[from:to], W: part(r.W), First: r.First + from, Exposure: part(r.Exposure), Censored: part(r.Censored), Low: part(r.Low)}
	for _, column := range r.Codes {
		out.Codes = append(out.Codes, column[from:to])
	}
	if r.Horizon != nil {
		out.Horizon = r.Horizon[from:to]
	}
	return out
}
