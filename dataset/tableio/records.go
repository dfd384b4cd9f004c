package tableio

import "context"

// Records are some rows of a table as text. They and the results of Field are valid
// until the function that received them returns.
type Records struct {
	// Bad are the skipped records, which could not be split into the table's columns.
	Bad []BadRecord

	rows  rowset
	first int
}

// BadRecord is a record with wrong quotes or a wrong number of fields.
type BadRecord struct {
	Line    int // from 1
	Problem string
}

// Len returns the number of good records.
func (r *Records) Len() int { return r.rows.Len() }

// Field returns field c of record i, trimmed and without quotes. It is valid until the
// next call.
func (r *Records) Field(i, c int) []byte { return r.rows.Field(i, c) }

// Line returns the line at which record i starts, from 1; for typed columns the row.
func (r *Records) Line(i int) int { return r.first + r.rows.Line(i) }

// Scan streams a table that may contain bad records. Unlike Read and VisitBatches it
// skips them. The function opened receives the names of the columns, once per input.
// The function work is called for several runs of records at once; each of the threads
// workers gets its runs in order. The function sink receives the results of work in the
// order of the source. With threads below 1 there is one worker per CPU.
//
// The memory does not depend on the length of the table. The time is that of one pass
// over the text. Quotes halve the speed.
func Scan(ctx context.Context, source Source, format Format, threads int,
	opened func(names []string) error, work func(worker int, r *Records) (any, error), sink func(any) error) error {
	p := pipeline{source: source, format: format, threads: threads, allColumns: true}
	return p.scan(ctx, opened, work, sink)
}

func (p *pipeline) scan(ctx context.Context, opened func(names []string) error, work func(worker int, r *Records) (any, error), sink func(any) error) error {
	text, typed := make([]textRows, p.workers()), make([]typedRows, p.workers())
	for i := range text {
		text[i].Tolerant = true
	}
	return p.run(ctx, func(t *openTable) error { return opened(t.Names) }, func(worker int, c *chunk) (any, error) {
		rows, at, err := c.start(&text[worker], &typed[worker])
		if err != nil {
			return nil, err
		}
		r := &Records{rows: rows, first: at.line}
		if c.typed == nil {
			for _, bad := range text[worker].Bad {
				r.Bad = append(r.Bad, BadRecord{Line: at.line + bad.Line, Problem: bad.Problem})
			}
		}
		return work(worker, r)
	}, sink)
}
