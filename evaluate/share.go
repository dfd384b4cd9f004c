package evaluate

import (
	"maps"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/flat"
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

// measureShare is Measure of all rows, computed by the processes of a share. It returns nil on those
// that do not write. Pieces of rows have the lengths that one process computes them in.
func measureShare(share tableio.Share, b backend.Backend, m *model.Model, rows Rows) (*Sums, error) {
	n, each := len(rows.Y), rows.taskRows()
	tasks, piece, pieceOf := map[int]*Sums{}, tt.Moments{}, -1
	var failed error
	for first := 0; first < n && failed == nil; first += each {
		end := min(first+each, n)
		from, to := first/model.MomentRows, (end-1)/model.MomentRows // pieces with its moments
		if !share.Mine(from) {
			continue
		}
		start, stop := from*model.MomentRows, min(n, (to+1)*model.MomentRows)
		if pieceOf != from || len(piece.Mean) < stop-start {
			piece, pieceOf = m.Moments(b, rows.slice(start, stop).Codes), from
		}
		z := tt.Moments{Mean: piece.Mean[first-start : end-start]}
		if piece.Var != nil {
			z.Var = piece.Var[first-start : end-start]
		}
		task := rows.slice(first, end)
		tasks[first], failed = measureTask(m, z, task, true, m.NewCombinations(b.Threads(), task.Codes), 0, end-first)
	}
	parts, err := share.Total(encodeSums(tasks), failed)
	if err != nil || !share.Writes() {
		return nil, err
	}
	if err := decodeSums(tasks, parts); err != nil {
		return nil, err
	}
	total := newSums(m, true)
	for _, first := range slices.Sorted(maps.Keys(tasks)) {
		total.merge(tasks[first])
	}
	return total, nil
}

// MeasureOver is Measure by several ranks, which have the same rows and moments: they take turns with the tasks, the
// first one of rank turn modulo their number. Rank 0 adds the sums, in the order of one process, and sends them to the
// others. agree makes all ranks fail if one of them did. It returns the rank whose turn it is next.
func MeasureOver(ranks backend.Ranks, turn int, agree func(error) error, b backend.Backend, m *model.Model, z tt.Moments, rows Rows, calibration bool) (*Sums, int, error) {
	n, each, size := len(rows.Y), rows.taskRows(), ranks.Size()
	var own []*Sums
	var failed error
	ranked := func(first int) int { return (turn + first/each) % size }
	for first := 0; first < n && failed == nil; first += each {
		if ranked(first) != ranks.Rank() {
			continue
		}
		end := min(first+each, n)
		task, part := rows.slice(first, end), tt.Moments{Mean: z.Mean[first:end]}
		if z.Var != nil {
			part.Var = z.Var[first:end]
		}
		var newCombination []bool
		if calibration {
			newCombination = m.NewCombinations(b.Threads(), task.Codes)
		}
		sums, err := measureTask(m, part, task, calibration, newCombination, 0, end-first)
		own, failed = append(own, sums), err
	}
	next := turn + (n+each-1)/each
	if err := agree(failed); err != nil {
		return nil, next, err
	}
	total := newSums(m, calibration)
	for first := 0; first < n; first += each {
		from := ranked(first)
		switch {
		case ranks.Rank() == 0 && from == 0:
			total.merge(own[0])
			own = own[1:]
		case ranks.Rank() == 0:
			var sums *Sums
			if err := flat.Decode(backend.ReceiveBytes(ranks, from), &sums); err != nil {
				panic("evaluate: " + err.Error()) // all ranks run the same program
			}
			total.merge(sums)
		case ranks.Rank() == from:
			backend.SendBytes(ranks, flat.Encode(&own[0]), 0)
			own = own[1:]
		}
	}
	var content []byte
	if ranks.Rank() == 0 {
		content = flat.Encode(&total)
	}
	content = backend.BroadcastBytes(ranks, content)
	if ranks.Rank() > 0 {
		if err := flat.Decode(content, &total); err != nil {
			panic("evaluate: " + err.Error())
		}
	}
	return total, next, nil
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
