package dataset

import "context"

// Records are some rows of a table as text. They and what Field returns are valid
// until the function they were given to returns.
type Records struct {
	// Bad are the records that could not be cut into the table's columns, which are
	// passed over.
	Bad []BadRecord

	fields fieldset
	first  int
}

// BadRecord is a record whose quotes or whose number of fields are wrong.
type BadRecord struct {
	Line    int // from 1
	Problem string
}

// Len returns the number of good records.
func (r *Records) Len() int { return r.fields.len() }

// Field returns field c of record i, trimmed and without quotes. It is valid until
// the next call.
func (r *Records) Field(i, c int) []byte { return r.fields.field(i, c) }

// Line returns the line that record i starts at, from 1; of a Parquet or Arrow file
// the row.
func (r *Records) Line(i int) int { return r.first + r.fields.line(i) }

// Scan streams a table that nobody has cleaned, "-" being standard input: unlike
// Read and Map it goes on after a bad record. opened is given the names of the
// columns, once; work is called for several runs of records at once, each by one of
// threads workers, which takes its runs in order; and sink is called with what it
// returned, in the order of the file. Threads below 1 mean one for each processor.
//
// Memory does not depend on the length of the table. The time is that of one pass
// over the text; quotes cost about half of the speed.
func Scan(ctx context.Context, file string, format Format, threads int,
	opened func(names []string) error, work func(worker int, r *Records) (any, error), sink func(any) error) error {
	p := pipeline{files: []string{file}, stdin: format.stdin(), format: format, threads: threads, block: blockSize, allColumns: true}
	return p.scan(ctx, opened, work, sink)
}

func (p *pipeline) scan(ctx context.Context, opened func(names []string) error, work func(worker int, r *Records) (any, error), sink func(any) error) error {
	text, typed := make([]rows, p.workers()), make([]typedRows, p.workers())
	for i := range text {
		text[i].tolerant = true
	}
	return p.run(ctx, func(t *openTable) error { return opened(t.names) }, func(worker int, c *chunk) (any, error) {
		fields, at, err := c.start(&text[worker], &typed[worker])
		if err != nil {
			return nil, err
		}
		r := &Records{fields: fields, first: at.line}
		if c.typed == nil {
			for _, bad := range text[worker].bad {
				r.Bad = append(r.Bad, BadRecord{Line: at.line + bad.Line, Problem: bad.Problem})
			}
		}
		return work(worker, r)
	}, sink)
}
