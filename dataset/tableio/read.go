package tableio

import (
	"context"
	"fmt"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/internal/modeid"
	"github.com/kernel-fried-tensor/kft/dataset/internal/scratch"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/peers"
	"github.com/kernel-fried-tensor/kft/internal/plural"
)

// Read reads a source as one table of observations. With threads below 1 it uses one
// thread per CPU. Errors that the user can fix are of type *dataset.InputError; the
// first in the order of the source is returned.
//
// The time is that of one pass over the text: on two threads about a seventh of the
// time that encoding/csv takes to split it.
func Read(ctx context.Context, source Source, schema dataset.Schema, format Format, threads int) (*dataset.Table, error) {
	p := pipeline{source: source, schema: schema, format: format, threads: threads}
	if t, _ := p.readTogether(ctx, false); t != nil {
		return t, nil
	}
	return p.readTable(ctx)
}

// ReadShare is Read by the processes of format.Peers, each of which may keep some rows alone: if
// bounds is not nil, process r has those from bounds[r] to bounds[r+1], and the table, which has no
// repeated cells, has no columns but codes and targets.
func ReadShare(ctx context.Context, source Source, schema dataset.Schema, format Format, threads int) (t *dataset.Table, bounds []int, err error) {
	p := pipeline{source: source, schema: schema, format: format, threads: threads}
	if t, bounds = p.readTogether(ctx, true); t != nil {
		return t, bounds, nil
	}
	t, err = p.readTable(ctx)
	return t, nil, err
}

func (p *pipeline) readTable(ctx context.Context) (*dataset.Table, error) {
	if err := p.schema.Check(); err != nil {
		return nil, err
	}
	if p.schema.Target == "" {
		return nil, fielderr.Errorf("data.target", "there is no target; name the column of the values to learn")
	}
	if len(p.source.inputs) == 0 {
		return nil, fielderr.Errorf("data.files", "there is no table; name a file, or - for standard input")
	}
	b, err := p.build(ctx)
	if err != nil {
		return nil, err
	}
	return p.complete(b, nil, false)
}

// build reads the rows.
func (p *pipeline) build(ctx context.Context) (*builder, error) {
	readers := make([]*reader, p.workers())
	for w := range readers {
		readers[w] = newReader(p.schema, w)
	}
	b := newBuilder(p.schema, len(readers), p.size())
	p.placeless = true
	err := p.run(ctx,
		func(t *openTable) error { return nil },
		func(worker int, c *chunk) (any, error) { return readers[worker].read(c) },
		func(result any) error { return b.add(result.(*piece)) })
	return b, err
}

// complete checks the rows that were read, and merges repeated cells, unless they are known to be distinct.
func (p *pipeline) complete(b *builder, group peers.Group, distinct bool) (*dataset.Table, error) {
	counts, name := b.table.Counts, p.source.inputs[0].name
	if counts.Rows == 0 {
		return nil, p.source.noRows()
	}
	if counts.NoID == 0 && counts.Missing+counts.ZeroWeight == counts.Rows {
		err := &dataset.InputError{File: name, Column: p.schema.Target, Problem: fmt.Sprintf("the target is missing in all %s", plural.Count(counts.Rows, "row")),
			Remedy: "choose another column", Field: "data.target"}
		if counts.ZeroWeight > 0 {
			err.Column, err.Problem, err.Field = p.schema.Weight, "no row has a target and a weight above 0", "data.weight"
		}
		return nil, err
	}
	if err := checkNoID(b); err != nil {
		return nil, err
	}
	t := b.finish()
	if counts.NoID > 0 {
		dropUnusedIDs(t)
	}
	if err := b.checkWords(p.schema.Target); err != nil {
		return nil, err
	}
	if distinct {
		return t, nil
	}
	if err := t.MergeDuplicates(p.schema.Duplicates, group, p.workers(), b.placeOf); err != nil {
		return nil, err
	}
	return t, nil
}

// noRows returns the error about a source without rows.
func (s Source) noRows() error {
	err := &dataset.InputError{File: s.String(), Problem: "the table has a header but no rows", Remedy: "give at least one row"}
	if len(s.inputs) > 0 && s.inputs[0].columns != nil {
		err.Problem = "the table has no rows"
	}
	return err
}

// piece is the result of a chunk. Codes are those of the worker; newIDs are the ids
// that it had not seen before, in order. The memory of a piece is reused once it was
// added.
type piece struct {
	worker     int
	file       string
	first      bool // of its input
	header     []byte
	hash       [32]byte
	size       int
	at         place
	rows       int // data rows of the chunk
	missing    int
	zeroWeight int
	noID       int                 // rows left out because an id is empty
	firstNoID  *dataset.InputError // where the first of them is
	words      bool                // the target has words such as yes
	decoded    int                 // lines that were not UTF-8
	keep       []int32             // rows that are observations; nil if all are
	codes      [][]int32
	newIDs     [][]string
	y, low, w  []float32
	exposure   []float32
	censored   []float32
	parts      []dataset.Part
	lines      []int32 // of rows if some span several lines; else nil
	unit       string  // what lines count, see dataset.InputError

	copy func() // copies targets and codes to the table
}

// finish copies the targets and codes.
func (p *piece) finish() { p.copy() }

// reader is the state of one worker, with dictionaries of its own.
type reader struct {
	worker int
	text   textRows
	typed  typedRows
	modes  []*modeEncoder
	all    []int32 // 0, 1, 2, ...
}

func newReader(schema dataset.Schema, worker int) *reader {
	rd := &reader{worker: worker}
	for _, mode := range schema.Modes {
		rd.modes = append(rd.modes, newModeEncoder(modeid.Adding(mode, dataset.NewDict(nil))))
	}
	return rd
}

func (rd *reader) read(c *chunk) (*piece, error) {
	rows, at, readErr := c.start(&rd.text, &rd.typed)
	if readErr != nil && rows.Len() == 0 {
		return nil, readErr
	}
	p := &c.buf.piece
	*p = piece{
		worker: rd.worker, file: c.table.name, first: c.first, header: c.table.Header,
		hash: c.fingerprint(), size: c.size(), at: at, rows: rows.Len(), unit: c.unit(), decoded: c.recode,
		codes: p.codes, y: p.y, low: p.low, w: p.w, exposure: p.exposure, censored: p.censored, parts: p.parts, newIDs: p.newIDs,
	}
	if c.typed == nil {
		p.lines = slices.Clone(rd.text.LineNumbers())
	}
	problem := rd.encode(p, c.table, rows)
	if p.firstNoID != nil {
		c.locate(p.firstNoID, at)
	}
	if problem != nil {
		c.locate(problem, at)
		return nil, problem // it precedes the error that ended the chunk
	}
	return p, readErr
}

// encode reads column after column. A column with an error ends the rows there, so the
// returned problem is the first of the chunk.
func (rd *reader) encode(p *piece, t *openTable, r rowset) *dataset.InputError {
	n := r.Len()
	keep := rowIndexes(&rd.all, n)
	p.y = scratch.Sized(p.y, len(keep))
	good, missing, words, problem := t.readTargets(p.y, r, keep, true)
	keep = keep[:good]
	p.missing, p.words = missing, words
	if missing > 0 {
		keep, p.y = filter(keep, p.y, func(k int) bool { return p.y[k] == p.y[k] })
	}
	if t.columns.Weight >= 0 {
		p.w = scratch.Sized(p.w, len(keep))
		good, zero, bad := t.readWeights(p.w, r, keep, false)
		if bad != nil {
			problem, keep = bad, keep[:good]
		}
		p.zeroWeight = zero
		if zero > 0 {
			all := keep
			keep, p.y = filter(all, p.y, func(k int) bool { return p.w[k] > 0 })
			_, p.w = filter(all, p.w, func(k int) bool { return p.w[k] > 0 })
		}
	}
	if c := t.columns.Exposure; c >= 0 {
		p.exposure = scratch.Sized(p.exposure, len(keep))
		if good, bad := t.readExposures(p.exposure, r, keep, false); bad != nil {
			problem, keep = bad, keep[:good]
		}
	}
	if t.columns.Censored >= 0 {
		p.censored = scratch.Sized(p.censored, len(keep))
		if good, bad := t.readMarks(p.censored, r, keep); bad != nil {
			problem, keep = bad, keep[:good]
		}
	}
	if c := t.columns.Part; c >= 0 {
		p.parts = scratch.Sized(p.parts, len(keep))
		for k, row := range keep {
			part, ok := dataset.ParsePart(r.Field(int(row), c))
			if !ok {
				problem = &dataset.InputError{Line: r.Line(int(row)), Column: t.Names[c], Value: string(r.Field(int(row), c)), Problem: "this is not a part", Remedy: dataset.PartRemedy, Field: "split"}
				keep = keep[:k]
				break
			}
			p.parts[k] = part
		}
	}
	p.codes = scratch.Sized(p.codes, len(rd.modes))
	p.newIDs = scratch.Sized(p.newIDs, len(rd.modes))
	known := make([]int, len(rd.modes))
	for m, encoder := range rd.modes {
		known[m] = encoder.ids.Dict.Len()
	}
	for m := 0; m < len(rd.modes); m++ {
		encoder := rd.modes[m]
		p.codes[m] = scratch.Sized(p.codes[m], len(keep))
		good, bad := r.codes(encoder, p.codes[m], t.columns.Modes[m], keep)
		if good < len(keep) && bad.Empty() {
			if rest := rd.leaveOut(p, t, r, keep); len(rest) < len(keep) {
				keep, m = rest, -1 // again, without these rows
				continue
			}
		}
		if good < len(keep) {
			problem = encoder.ids.Report(r, int(keep[good]), t.columns.Modes[m], bad)
			keep = keep[:good]
		}
	}
	for m, encoder := range rd.modes {
		p.newIDs[m] = encoder.ids.Dict.IDs()[known[m]:]
	}
	p.low = lowParts(p.low, r, t.columns.Target, keep, p.y)
	if len(keep) < n {
		p.keep = append([]int32{}, keep...) // nil would be all rows
	}
	return problem
}

// filter returns, in new slices, the rows for which holds is true and their values.
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
