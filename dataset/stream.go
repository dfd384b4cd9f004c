package dataset

import (
	"context"
	"fmt"
	"io"
	"math"
)

// Batch is a run of rows of a streamed table. It and what its methods return are
// valid until the function it was given to returns.
type Batch struct {
	First int       // data row of the first, from 0
	Codes [][]int32 // one slice a mode; -1 where the id is not known
	Y     []float32 // NaN where the target is missing or there is no such column
	W     []float32 // nil without weight column

	fields fieldset // rows or typed
	rows   rows
	typed  typedRows
	modes  []*modeEncoder
	table  *openTable
	all    []int32
	w      []float32
}

// Len returns the number of rows.
func (b *Batch) Len() int { return b.fields.len() }

// Line returns row i as it stands in the file, quotes and all, without line end. Of
// a Parquet or Arrow file it is the row as CSV.
func (b *Batch) Line(i int) []byte { return b.fields.rawLine(i) }

// LineEnd returns what ends the table's first row, "\n" or "\r\n".
func (b *Batch) LineEnd() string { return b.table.lineEnd }

// ID returns the id of row i in a mode, known or not; "" where it is missing.
func (b *Batch) ID(mode, i int) string {
	id, _ := b.modes[mode].appendID(nil, b.fields, i, b.table.columns.modes[mode])
	return string(id)
}

// Map streams one table, "-" being standard input, and writes what it becomes to
// w, in order. work is called for several batches at once, each on one goroutine,
// and appends the output for its rows, line ends included, to dst. head makes the
// output's first line of the table's (nil where there is no header); it returns nil
// for none. That line ends as the table's does, and a byte order mark is kept. dicts gives the codes, one dictionary a mode. Rows with missing ids or
// targets are kept. A schema without target or weight does not look at those
// columns.
//
// Memory does not depend on the length of the table. After an error w has been
// given the rows before it, or some of them.
func Map(ctx context.Context, file string, schema Schema, dicts []*Dict, format Format, threads int, w io.Writer,
	head func(header []byte, delimiter byte) []byte, work func(b *Batch, dst []byte) ([]byte, error)) error {
	p := pipeline{files: []string{file}, stdin: format.stdin(), schema: schema, format: format, threads: threads, block: blockSize, allColumns: true}
	return p.stream(ctx, dicts, w, head, work)
}

func (p *pipeline) stream(ctx context.Context, dicts []*Dict, w io.Writer,
	head func(header []byte, delimiter byte) []byte, work func(b *Batch, dst []byte) ([]byte, error)) error {
	if err := p.checkMap(dicts); err != nil {
		return err
	}
	batches := make([]*Batch, p.workers())
	for i := range batches {
		batches[i] = newBatch(p.schema, dicts)
	}
	opened := func(t *openTable) error {
		var start []byte
		if t.marked {
			start = append(start, byteOrderMark...)
		}
		header, delimiter := t.header, p.delimiter(t)
		if header != nil && delimiter != t.format.Delimiter {
			header = appendFields(nil, len(t.names), delimiter, func(c int) []byte { return []byte(t.names[c]) })
		}
		if first := head(header, delimiter); first != nil {
			start = append(append(start, first...), t.lineEnd...)
		}
		if start == nil {
			return nil
		}
		_, err := w.Write(start)
		return err
	}
	return p.run(ctx, opened, func(worker int, c *chunk) (any, error) {
		b := batches[worker]
		err := b.read(c)
		out := c.buf.out[:0]
		if err == nil {
			out, err = work(b, out)
		}
		c.buf.out = out
		return out, err
	}, func(result any) error {
		_, err := w.Write(result.([]byte))
		return err
	})
}

func (p *pipeline) checkMap(dicts []*Dict) error {
	if len(dicts) != len(p.schema.Modes) {
		panic(fmt.Sprintf("dataset: %d dictionaries for %d modes", len(dicts), len(p.schema.Modes)))
	}
	return p.schema.check()
}

func newBatch(schema Schema, dicts []*Dict) *Batch {
	b := &Batch{Codes: make([][]int32, len(schema.Modes))}
	for m, mode := range schema.Modes {
		b.modes = append(b.modes, newModeEncoder(mode, dicts[m], func([]byte, int) int32 { return unknown }))
	}
	return b
}

// read fills the batch from a chunk.
func (b *Batch) read(c *chunk) error {
	r, at, readErr := c.start(&b.rows, &b.typed)
	n := r.len()
	if readErr != nil && n == 0 {
		return readErr
	}
	b.fields = r
	b.First, b.table = at.row, c.table
	for len(b.all) < n {
		b.all = append(b.all, int32(len(b.all)))
	}
	keep := b.all[:n]
	columns, names := &c.table.columns, c.table.names
	var problem *InputError
	b.Y = sized(b.Y, n)
	if columns.target < 0 {
		for i := range b.Y {
			b.Y[i] = float32(math.NaN())
		}
	} else if good, _, kind := r.numbers(b.Y, columns.target, keep); good < len(keep) {
		problem = numberProblem(r, good, columns.target, names, kind, targetRemedy)
		keep = keep[:good]
	}
	b.W = nil
	if columns.weight >= 0 {
		b.w = sized(b.w, n)
		b.W = b.w
		if good, _, bad := readWeights(b.w, r, columns.weight, keep, names); bad != nil {
			problem, keep = bad, keep[:good]
		}
	}
	for m, encoder := range b.modes {
		b.Codes[m] = sized(b.Codes[m], n)
		if good, bad := r.codes(encoder, b.Codes[m], columns.modes[m], keep); good < len(keep) {
			problem = encoder.report(r, good, columns.modes[m], bad)
			keep = keep[:good]
		}
	}
	if problem != nil {
		c.place(problem, at)
		return problem
	}
	return readErr
}
