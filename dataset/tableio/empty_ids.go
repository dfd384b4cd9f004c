package tableio

import (
	"fmt"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
)

// mostNoID is the share of rows with an empty id from which a table is refused: a column that
// is often empty may not be one of ids.
const mostNoID = 0.05

// leaveOut removes the rows with an empty id from those of a chunk that are kept, and their
// values.
func (rd *reader) leaveOut(p *piece, t *openTable, r rowset, keep []int32) []int32 {
	var rows []int32
	for k, row := range keep {
		if empty := emptyID(rd.modes, t, r, int(row)); empty >= 0 {
			if p.noID++; p.firstNoID == nil {
				p.firstNoID = &dataset.InputError{Line: r.Line(int(row)), Column: t.Names[empty], Field: "data.modes"}
			}
			continue
		}
		at := len(rows)
		rows = append(rows, row)
		p.y[at] = p.y[k]
		if t.columns.Weight >= 0 {
			p.w[at] = p.w[k]
		}
		if t.columns.Exposure >= 0 {
			p.exposure[at] = p.exposure[k]
		}
		if t.columns.Censored >= 0 {
			p.censored[at] = p.censored[k]
		}
		if t.columns.Part >= 0 {
			p.parts[at] = p.parts[k]
		}
	}
	return rows
}

// emptyID returns the first column of the ids of a row that is empty, -1 if none is.
func emptyID(modes []*modeEncoder, t *openTable, r rowset, row int) int {
	for m, encoder := range modes {
		if encoder.ids.Mode.Covariate() {
			continue // a missing value of a covariate is an id
		}
		for _, c := range t.columns.Modes[m] {
			if len(r.Field(row, c)) == 0 {
				return c
			}
		}
	}
	return -1
}

// LeaveOutNoIDs sets the targets of rows with an empty id to NaN, because a fit leaves such rows
// out. The codes of the batch must be those that were read. It returns the number of these rows,
// the number of the first one and the column that is empty there.
func (b *Batch) LeaveOutNoIDs() (n, first int, column string) {
	for i, y := range b.Y {
		if y != y || !slices.ContainsFunc(b.Codes[:len(b.modes)], func(codes []int32) bool { return codes[i] < 0 }) {
			continue // an empty id has no code
		}
		empty := emptyID(b.modes, b.table, b.rows, i)
		if empty < 0 {
			continue
		}
		b.Y[i] = float32(math.NaN())
		if n++; n == 1 {
			first, column = b.First+i, b.table.Names[empty]
		}
	}
	return n, first, column
}

// checkNoID returns an error if too many rows have an empty id, and otherwise notes where the
// first one is.
func checkNoID(b *builder) error {
	counts, first := b.table.Counts, b.firstNoID
	if counts.NoID == 0 {
		return nil
	}
	if share := float64(counts.NoID) / float64(counts.Rows); share > mostNoID {
		first.Problem, first.Remedy = "the id is empty, so the row belongs to no cell", "fill it in or remove the row"
		if counts.NoID > 1 {
			first.Problem = fmt.Sprintf("the id is empty here and in other rows, %d of %d (%.0f %%), which belong to no cell", counts.NoID, counts.Rows, 100*share)
			first.Remedy = "fill the ids in, remove these rows, or do not use the column as a mode"
		}
		return first
	}
	unit := first.Unit
	if unit == "" {
		unit = "line"
	}
	b.table.NoID = fmt.Sprintf("%s %d, column %s", unit, first.Line, first.Column)
	return nil
}

// dropUnusedIDs removes ids that only rows had that were left out.
func dropUnusedIDs(t *dataset.Table) {
	for m, dict := range t.Dicts {
		used := make([]bool, dict.Len())
		for _, code := range t.Codes[m] {
			used[code] = true
		}
		to, ids := make([]int32, len(used)), []string{}
		for code, is := range used {
			to[code] = int32(len(ids))
			if is {
				ids = append(ids, dict.ID(int32(code)))
			}
		}
		if len(ids) == len(used) {
			continue
		}
		t.Dicts[m] = dataset.NewDict(ids)
		for k, code := range t.Codes[m] {
			t.Codes[m][k] = to[code]
		}
	}
}
