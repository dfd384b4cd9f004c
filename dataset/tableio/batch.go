package tableio

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/delimited"
	"github.com/kernel-fried-tensor/kft/dataset/internal/fieldtext"
	"github.com/kernel-fried-tensor/kft/dataset/internal/modeid"
	"github.com/kernel-fried-tensor/kft/dataset/internal/scratch"
)

// Batch is a run of rows of a streamed table. It and the results of its methods are
// valid until the function that received it returns.
type Batch struct {
	First int       // data row of the first row, from 0
	Codes [][]int32 // one slice per mode; -1 if the id is unknown
	Y     []float32 // NaN if the target is missing or there is no such column
	W     []float32 // nil without weight column

	// Low is what rounding to float32 takes from the targets; nil if it does not matter,
	// see dataset.Table.
	Low []float32

	// Exposure is positive; nil without such a column.
	Exposure []float32

	// Censored is 1 for a target that is known from below only; nil without such a column.
	Censored []float32

	// Decoded is the number of lines that were not UTF-8 and were read as Windows-1252.
	Decoded int

	rows  rowset // text or typed
	text  textRows
	typed typedRows
	modes []*modeEncoder
	table *openTable
	all   []int32
	w     []float32

	exposure, censored    []float32
	low                   []float32
	optional, wordTargets bool // see dataset.Schema
	ids                   func(mode, i int) string
}

// Len returns the number of rows.
func (b *Batch) Len() int { return b.rows.Len() }

// SetIDs replaces the function ID for this batch. A model does so, because its ids of a
// covariate are not the fields of the table.
func (b *Batch) SetIDs(ids func(mode, i int) string) { b.ids = ids }

// ID returns the id of row i in a mode, known or not; "" if it is missing.
func (b *Batch) ID(mode, i int) string {
	if b.ids != nil {
		return b.ids(mode, i)
	}
	return b.Field(mode, i)
}

// Field returns the fields of row i in the columns of a mode, as its id; "" if one is
// missing.
func (b *Batch) Field(mode, i int) string {
	if b.table.columns.Modes[mode] == nil {
		return ""
	}
	id, _ := b.modes[mode].ids.AppendID(nil, b.rows, i, b.table.columns.Modes[mode])
	return string(id)
}

// line returns row i as it is in the file, including quotes, without line end. For a
// typed table it is the row as CSV.
func (b *Batch) line(i int) []byte { return b.rows.RawLine(i) }

// batchSize is the number of bytes of text of a batch: a model evaluates many rows together
// at less cost than few. It is fixed, so that results do not depend on the number of threads.
const batchSize = 2 * delimited.BlockSize

// VisitBatches streams a source. It calls visit for several batches at once, each on
// one goroutine, in no particular order. The codes are those of dicts, which has one
// dictionary per mode. Rows with missing ids or targets are kept. If the schema names
// no target or weight, those columns are not read. With threads below 1 it uses one
// thread per CPU.
//
// The memory does not depend on the length of the table.
func VisitBatches(ctx context.Context, source Source, schema dataset.Schema, dicts []*dataset.Dict, format Format, threads int, visit func(b *Batch) error) error {
	p := pipeline{source: source, schema: schema, format: format, threads: threads, block: batchSize}
	if err := p.checkStream(dicts); err != nil {
		return err
	}
	batches := p.newBatches(dicts)
	return p.run(ctx, func(*openTable) error { return nil }, func(worker int, c *chunk) (any, error) {
		b := batches[worker]
		if format.Share != nil && !format.Share.Mine(c.index) {
			_, _, err := c.start(&b.text, &b.typed) // counts its rows
			return nil, err
		}
		if err := b.read(c); err != nil {
			return nil, err
		}
		return nil, visit(b)
	}, func(any) error { return nil })
}

// rewrite streams the source and writes text to w, in order. The function work is
// called for several batches at once, each on one goroutine. It appends the output for
// its rows, including line ends, to dst. The function head makes the first line of the
// output from that of the table (nil if there is no header) and may return nil for no
// line. That line ends as the table's does, and a byte order mark is kept.
//
// The memory does not depend on the length of the table. After an error, w has
// received some of the rows before it.
func (p *pipeline) rewrite(ctx context.Context, dicts []*dataset.Dict, w io.Writer,
	head func(header []byte, delimiter byte) []byte, work func(b *Batch, dst []byte) ([]byte, error)) error {
	if err := p.checkStream(dicts); err != nil {
		return err
	}
	batches := p.newBatches(dicts)
	opened := func(t *openTable) error {
		var start []byte
		if t.Marked {
			start = append(start, delimited.ByteOrderMark...)
		}
		header, delimiter := t.Header, p.delimiter(t)
		if header != nil && delimiter != t.Format.Delimiter {
			header = fieldtext.AppendRecord(nil, len(t.Names), delimiter, func(c int) []byte { return []byte(t.Names[c]) })
		}
		if first := head(header, delimiter); first != nil {
			start = append(append(start, first...), t.LineEnd...)
		}
		if start == nil {
			return nil
		}
		_, err := w.Write(start)
		return err
	}
	chunks := 0 // that were written
	return p.run(ctx, opened, func(worker int, c *chunk) (any, error) {
		b := batches[worker]
		if p.share != nil && !p.share.Mine(c.index) {
			_, _, err := c.start(&b.text, &b.typed) // counts its rows
			return []byte(nil), err
		}
		err := b.read(c)
		out := c.buf.out[:0]
		if err == nil {
			out, err = work(b, out)
		}
		c.buf.out = out
		return out, err
	}, func(result any) error {
		text := result.([]byte)
		if p.share != nil {
			var err error
			if text, err = p.share.Pass(chunks, text); err != nil {
				return err
			}
			chunks++
		}
		_, err := w.Write(text)
		return err
	})
}

func (p *pipeline) checkStream(dicts []*dataset.Dict) error {
	if len(dicts) != len(p.schema.Modes) {
		panic(fmt.Sprintf("tableio: %d dictionaries for %d modes", len(dicts), len(p.schema.Modes)))
	}
	return p.schema.Check()
}

// newBatches returns one batch per worker.
func (p *pipeline) newBatches(dicts []*dataset.Dict) []*Batch {
	batches := make([]*Batch, p.workers())
	for i := range batches {
		b := &Batch{Codes: make([][]int32, len(p.schema.Modes)), optional: p.schema.Optional, wordTargets: p.schema.WordTargets}
		for m, mode := range p.schema.Modes {
			b.modes = append(b.modes, newModeEncoder(modeid.Fixed(mode, dicts[m])))
		}
		batches[i] = b
	}
	return batches
}

// read fills the batch from a chunk.
func (b *Batch) read(c *chunk) error {
	r, at, readErr := c.start(&b.text, &b.typed)
	n := r.Len()
	if readErr != nil && n == 0 {
		return readErr
	}
	b.rows = r
	b.First, b.table, b.Decoded, b.ids = at.row, c.table, c.recode, nil
	keep := rowIndexes(&b.all, n)
	columns := &c.table.columns
	var problem *dataset.InputError
	b.Y = scratch.Sized(b.Y, n)
	if columns.Target < 0 {
		for i := range b.Y {
			b.Y[i] = float32(math.NaN())
		}
	} else {
		var good int
		good, _, _, problem = c.table.readTargets(b.Y, r, keep, b.wordTargets)
		keep = keep[:good]
	}
	b.Low = nil
	if columns.Target >= 0 && problem == nil {
		if b.Low = lowParts(b.low, r, columns.Target, keep, b.Y); b.Low != nil {
			b.low = b.Low
		}
	}
	b.W = nil
	if columns.Weight >= 0 {
		b.w = scratch.Sized(b.w, n)
		b.W = b.w
		if good, _, bad := c.table.readWeights(b.w, r, keep, b.optional); bad != nil {
			problem, keep = bad, keep[:good]
		}
	}
	b.Exposure = nil
	if columns.Exposure >= 0 {
		b.exposure = scratch.Sized(b.exposure, n)
		b.Exposure = b.exposure
		if good, bad := c.table.readExposures(b.exposure, r, keep, b.optional); bad != nil {
			problem, keep = bad, keep[:good]
		}
	}
	b.Censored = nil
	if columns.Censored >= 0 {
		b.censored = scratch.Sized(b.censored, n)
		b.Censored = b.censored
		if good, bad := c.table.readMarks(b.censored, r, keep); bad != nil {
			problem, keep = bad, keep[:good]
		}
	}
	for m, encoder := range b.modes {
		b.Codes[m] = scratch.Sized(b.Codes[m], n)
		if columns.Modes[m] == nil { // not needed, see Schema.Unneeded
			for i := range b.Codes[m] {
				b.Codes[m][i] = modeid.Unknown
			}
			continue
		}
		if good, bad := r.codes(encoder, b.Codes[m], columns.Modes[m], keep); good < len(keep) {
			problem = encoder.ids.Report(r, good, columns.Modes[m], bad)
			keep = keep[:good]
		}
	}
	if problem != nil {
		c.locate(problem, at)
		return problem
	}
	return readErr
}
