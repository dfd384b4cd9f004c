package dataset

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
)

// Counts says what became of the rows of a table.
type Counts struct {
	Rows       int `json:"rows"`        // data rows read
	Missing    int `json:"missing"`     // dropped: the target is empty, NA, N/A or null
	ZeroWeight int `json:"zero_weight"` // dropped: the weight is 0, so the row says nothing
	Merged     int `json:"merged"`      // rows that went into the cell of an earlier row
}

// Table is a list of observations: cell (Codes[0][k], Codes[1][k], ...) has value
// Y[k] and weight W[k].
type Table struct {
	Modes  []Mode
	Dicts  []*Dict
	Codes  [][]int32 // one slice a mode
	Y      []float32
	W      []float32 // nil without weight column
	Row    []int32   // data row, from 0 over all files, of each observation; nil where it is the index
	Part   []Part    // from the part column, or nil
	Counts Counts

	// Hash is a SHA-256 of what was read: for each file its header and its
	// decompressed text, by blocks. Compression and threads do not change it.
	Hash [sha256.Size]byte

	merged []mergedRow // rows that are no observation of their own
}

// mergedRow is a data row that went into an observation that an earlier row began.
type mergedRow struct{ row, into int32 }

// Len returns the number of observations.
func (t *Table) Len() int { return len(t.Y) }

// SourceRow returns the data row of an observation.
func (t *Table) SourceRow(k int) int {
	if t.Row == nil {
		return k
	}
	return int(t.Row[k])
}

// Read reads the files as one table, "-" being standard input. Each file has its
// own header where it has one; the columns may stand in another order in each.
// Threads below 1 mean one for each processor. Whatever the user can mend is an
// *InputError, the first in file order.
//
// The time is that of one pass over the text; on two threads about a seventh of
// what encoding/csv takes to split it.
func Read(ctx context.Context, files []string, schema Schema, format Format, threads int) (*Table, error) {
	return read(ctx, pipeline{files: files, stdin: format.stdin(), schema: schema, format: format, threads: threads, block: blockSize})
}

func read(ctx context.Context, p pipeline) (*Table, error) {
	if err := p.schema.check(); err != nil {
		return nil, err
	}
	if p.schema.Target == "" {
		return nil, fmt.Errorf("no target is given; name the column of the values to learn")
	}
	if len(p.files) == 0 {
		return nil, fmt.Errorf("no table is given; name a file, or - for standard input")
	}
	readers := make([]*reader, p.workers())
	for w := range readers {
		readers[w] = newReader(p.schema, w)
	}
	b := newBuilder(p.schema, len(readers), p.textSize())
	err := p.run(ctx,
		func(t *openTable) error { return nil },
		func(worker int, c *chunk) (any, error) { return readers[worker].read(c) },
		func(result any) error { return b.add(result.(*piece)) })
	if err != nil {
		return nil, err
	}
	counts := b.table.Counts
	if counts.Rows == 0 {
		return nil, &InputError{File: p.files[0], Problem: "the table has a header but no rows", Remedy: "give at least one row"}
	}
	if counts.Missing+counts.ZeroWeight == counts.Rows {
		column, problem := p.schema.Target, fmt.Sprintf("the target is missing in all %s", count(counts.Rows, "row"))
		if counts.ZeroWeight > 0 {
			column, problem = p.schema.Weight, "no row has a target and a weight above 0"
		}
		return nil, &InputError{File: p.files[0], Column: column, Problem: problem, Remedy: "choose another column"}
	}
	t := b.finish()
	if err := t.mergeDuplicates(p.schema.Duplicates, len(readers), b.lineOf); err != nil {
		return nil, err
	}
	return t, nil
}

// piece is what a chunk became. Codes are the worker's own; newIDs are the ids it
// had not met before, in order. A piece is used again once it was added.
type piece struct {
	worker     int
	file       string
	first      bool // of its file
	header     []byte
	hash       [32]byte
	bytes      int
	at         place
	rows       int // data rows of the chunk
	missing    int
	weightless int
	keep       []int32 // rows that are observations; nil where all are
	codes      [][]int32
	newIDs     [][]string
	y, w       []float32
	parts      []Part
	lineOf     []int32 // of rows that do not lie one a line; nil where they do
	unit       string  // what lines are: see InputError
}

// reader is one worker's state, with dictionaries of its own.
type reader struct {
	worker int
	rows   rows
	typed  typedRows
	modes  []*modeEncoder
	all    []int32 // 0, 1, 2, ...
}

func newReader(schema Schema, worker int) *reader {
	rd := &reader{worker: worker}
	for _, mode := range schema.Modes {
		dict := emptyDict()
		rd.modes = append(rd.modes, newModeEncoder(mode, dict, func(id []byte, i int) int32 {
			if len(id) == 0 {
				return refuse
			}
			return dict.add(id)
		}))
	}
	return rd
}

func (rd *reader) read(c *chunk) (*piece, error) {
	fields, at, readErr := c.start(&rd.rows, &rd.typed)
	if readErr != nil && fields.len() == 0 {
		return nil, readErr
	}
	p := &c.buf.piece
	*p = piece{
		worker: rd.worker, file: c.table.name, first: c.first, header: c.table.header,
		hash: c.fingerprint(), bytes: c.size(), at: at, rows: fields.len(), unit: c.unit(),
		codes: p.codes, y: p.y, w: p.w, parts: p.parts, newIDs: p.newIDs,
	}
	if r := &rd.rows; c.typed == nil && r.slow {
		p.lineOf = slices.Clone(r.lineOf)
	}
	problem := rd.encode(p, c.table, fields)
	if problem != nil {
		c.place(problem, at)
		return nil, problem // it lies before what ended the chunk
	}
	return p, readErr
}

// encode reads column after column. A column with an error ends the rows there,
// so that what is returned is the first error of the chunk.
func (rd *reader) encode(p *piece, t *openTable, r fieldset) (problem *InputError) {
	n := r.len()
	for len(rd.all) < n {
		rd.all = append(rd.all, int32(len(rd.all)))
	}
	keep := rd.all[:n]
	p.y = sized(p.y, len(keep))
	good, missing, kind := r.numbers(p.y, t.columns.target, keep)
	if good < len(keep) {
		problem = numberProblem(r, int(keep[good]), t.columns.target, t.names, kind, targetRemedy)
		keep = keep[:good]
	}
	p.missing = missing
	if missing > 0 {
		keep, p.y = filter(keep, p.y, func(k int) bool { return p.y[k] == p.y[k] })
	}
	if c := t.columns.weight; c >= 0 {
		p.w = sized(p.w, len(keep))
		good, zero, bad := readWeights(p.w, r, c, keep, t.names)
		if bad != nil {
			problem, keep = bad, keep[:good]
		}
		p.weightless = zero
		if zero > 0 {
			all := keep
			keep, p.y = filter(all, p.y, func(k int) bool { return p.w[k] > 0 })
			_, p.w = filter(all, p.w, func(k int) bool { return p.w[k] > 0 })
		}
	}
	if c := t.columns.part; c >= 0 {
		p.parts = sized(p.parts, len(keep))
		for k, row := range keep {
			part, ok := parsePart(r.field(int(row), c))
			if !ok {
				problem = &InputError{Line: r.line(int(row)), Column: t.names[c], Value: string(r.field(int(row), c)), Problem: "this is not a part", Remedy: partRemedy}
				keep = keep[:k]
				break
			}
			p.parts[k] = part
		}
	}
	p.codes = sized(p.codes, len(rd.modes))
	p.newIDs = sized(p.newIDs, len(rd.modes))
	for m, encoder := range rd.modes {
		known := encoder.dict.Len()
		p.codes[m] = sized(p.codes[m], len(keep))
		good, bad := r.codes(encoder, p.codes[m], t.columns.modes[m], keep)
		if good < len(keep) {
			problem = encoder.report(r, int(keep[good]), t.columns.modes[m], bad)
			keep = keep[:good]
		}
		p.newIDs[m] = encoder.dict.ids[known:]
	}
	if len(keep) < n {
		p.keep = slices.Clone(keep)
	}
	return problem
}

// filter returns what holds of rows and of the values beside them, in new slices.
func filter(keep []int32, values []float32, holds func(k int) bool) ([]int32, []float32) {
	rows := make([]int32, 0, len(keep))
	kept := make([]float32, 0, len(keep))
	for k, row := range keep {
		if holds(k) {
			rows = append(rows, row)
			kept = append(kept, values[k])
		}
	}
	return rows, kept
}

// readWeights reads column c of the rows in keep up to the first bad weight, and
// counts zeros.
func readWeights(dst []float32, r fieldset, c int, keep []int32, names []string) (good, zero int, problem *InputError) {
	good, _, kind := r.numbers(dst, c, keep)
	const remedy = "write a weight of 0 or more in every row"
	if good < len(keep) {
		problem = numberProblem(r, int(keep[good]), c, names, kind, remedy)
	}
	for k, w := range dst[:good] {
		if w > 0 {
			continue
		}
		if w == 0 {
			zero++
			continue
		}
		row := int(keep[k])
		problem = &InputError{Line: r.line(row), Column: names[c], Value: string(r.field(row, c)), Problem: "the weight is negative", Remedy: remedy}
		if w != w {
			problem.Problem = "the weight is missing"
		}
		return k, zero, problem
	}
	return good, zero, problem
}

const targetRemedy = "leave it empty or write NA where the target is missing"

func numberProblem(r fieldset, row, c int, names []string, kind numberKind, remedy string) *InputError {
	e := &InputError{Line: r.line(row), Column: names[c], Value: string(r.field(row, c)), Problem: "this is not a number", Remedy: "mend it, or " + remedy}
	switch kind {
	case isInfinite:
		e.Problem = "this number is not finite"
	case isNaN:
		e.Problem, e.Remedy = "this says that it is not a number", remedy
	}
	return e
}

// sized returns a slice of length n, s itself where it is large enough. What it
// holds is of no meaning.
func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		grown := make([]T, n+n/8)
		copy(grown, s[:cap(s)]) // slices of slices keep what they own
		return grown[:n]
	}
	return s[:n]
}
