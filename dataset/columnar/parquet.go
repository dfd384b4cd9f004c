package columnar

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/parquet-go/parquet-go/format"
)

// parquetTable reads a Parquet file by column pages. For each column one goroutine reads the pages in order,
// others decode them, and one cuts the values into batches, a few pages ahead of the batch that was asked for.
type parquetTable struct {
	name    string
	file    io.ReaderAt
	size    int64
	closing func()
	groups  []format.RowGroup
	columns []parquetColumn
	streams []parquetStream
	stop    chan struct{}
	group   sync.WaitGroup
	memory  sync.Pool // of *pageMemory
}

// parquetStream is a column that a goroutine reads.
type parquetStream struct {
	column  int
	batches chan parquetPart
}

type parquetPart struct {
	segments []Segment
	n        int
	err      error
}

// OpenParquet opens a Parquet file of the given size. The name is used in errors. The
// table calls closing when it is closed.
func OpenParquet(name string, file io.ReaderAt, size int64, closing func()) (table Table, err error) {
	defer recoverDamage(name, &err)
	meta, err := readFooter(file, size)
	if err == errTruncated {
		return nil, &dataset.InputError{File: name, Problem: "the Parquet file ends too early: it is truncated", Remedy: "copy or write it again"}
	}
	if err != nil {
		return nil, parquetProblem(name, err)
	}
	columns, err := schemaColumns(meta.Schema)
	if err != nil {
		return nil, parquetProblem(name, err)
	}
	if meta.NumRows == 0 {
		return nil, &dataset.InputError{File: name, Problem: "the table has no rows", Remedy: "give at least one row"}
	}
	return &parquetTable{name: name, file: file, size: size, closing: closing, groups: meta.RowGroups, columns: columns, stop: make(chan struct{})}, nil
}

func (t *parquetTable) Names() []string {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.name
	}
	return names
}

// RowGroups returns the sizes of the row groups of a Parquet file of the given size in bytes, nil if it cannot be read.
func RowGroups(file io.ReaderAt, size int64) (sizes []int64) {
	defer func() {
		if recover() != nil {
			sizes = nil
		}
	}()
	meta, err := readFooter(file, size)
	if err != nil {
		return nil
	}
	for i := range meta.RowGroups {
		sizes = append(sizes, max(1, meta.RowGroups[i].TotalByteSize))
	}
	return sizes
}

// Restrict makes a table return the rows of the row groups [from, to) only, and reports whether it has row groups.
func Restrict(t Table, from, to int) bool {
	p, ok := t.(*parquetTable)
	if !ok || to > len(p.groups) {
		return false
	}
	p.groups = p.groups[from:to]
	return true
}

func (t *parquetTable) Readable(column int) bool { return t.columns[column].leaf >= 0 }

func (t *parquetTable) Start(columns []int) {
	ahead := min(8, max(2, runtime.GOMAXPROCS(0))) // batches
	for _, c := range columns {
		t.streams = append(t.streams, parquetStream{column: c, batches: make(chan parquetPart, ahead)})
	}
	for _, s := range t.streams {
		t.group.Go(func() {
			defer close(s.batches)
			send := func(p parquetPart) bool {
				select {
				case s.batches <- p:
					return true
				case <-t.stop:
					return false
				}
			}
			if err := t.readColumn(s.column, send); err != nil {
				send(parquetPart{err: err})
			}
		})
	}
}

func (t *parquetTable) Next() (*Batch, error) {
	b := &Batch{n: -1, columns: make([][]Segment, len(t.columns))}
	for _, s := range t.streams {
		part, more := <-s.batches
		switch {
		case part.err != nil:
			return nil, part.err
		case !more && b.n < 0:
			return nil, io.EOF
		case b.n >= 0 && part.n != b.n:
			return nil, parquetProblem(t.name, errors.New("its columns differ in length"))
		}
		b.n = part.n
		b.columns[s.column] = part.segments
	}
	return b, nil
}

func (t *parquetTable) Close() {
	close(t.stop)
	t.group.Wait()
	t.closing()
}

// Rows and pages of a column that are decoded before they are asked for. One page may have more rows.
const (
	mostRowsAhead = 8 * BatchRows
	pagesAhead    = 32
)

// decodedPage is a page that a goroutine decodes. The values are valid when done is closed.
type decodedPage struct {
	Segment
	rows int
	last bool // of its row group
	err  error
	done chan struct{}
}

// readColumn sends a column in batches, which do not cross row groups. It also returns
// nil if the table was closed.
func (t *parquetTable) readColumn(at int, send func(parquetPart) bool) (err error) {
	defer recoverDamage(t.name, &err)
	c := &t.columns[at]
	if c.leaf < 0 {
		return &dataset.InputError{File: t.name, Column: c.name, Problem: "the column is nested: it contains lists or records", Remedy: "flatten it, or drop it"}
	}
	if c.problem != "" {
		return &dataset.InputError{File: t.name, Column: c.name, Problem: c.problem, Remedy: "cast it, or drop it"}
	}
	pages := pageReader{file: t.file, size: t.size, column: c}
	var queue []*decodedPage
	groups, ahead := t.groups, 0 // row groups to read, and rows in the queue
	rowsAhead := min(mostRowsAhead, BatchRows*runtime.GOMAXPROCS(0))
	var part parquetPart
	for {
		for ahead < rowsAhead && len(queue) < pagesAhead && (pages.left > 0 || len(groups) > 0) {
			if pages.left == 0 {
				err = pages.start(&groups[0])
				groups = groups[1:]
			}
			if err == nil && pages.left == 0 {
				continue
			}
			p := &decodedPage{done: make(chan struct{})}
			if err == nil {
				err = t.decodeNext(&pages, p)
			}
			if err != nil { // the pages before it come first
				p.err, pages.left, groups = err, 0, nil
				close(p.done)
			}
			queue, ahead = append(queue, p), ahead+p.rows
		}
		if len(queue) == 0 {
			return nil
		}
		p := queue[0]
		queue, ahead = queue[1:], ahead-p.rows
		if <-p.done; p.err != nil {
			if known := (*dataset.InputError)(nil); errors.As(p.err, &known) {
				return known
			}
			return parquetProblem(t.name, fmt.Errorf("column %q: %w", c.name, p.err))
		}
		for from := 0; from < p.n; {
			to := min(p.n, from+BatchRows-part.n)
			part.segments = append(part.segments, p.slice(from, to))
			part.n += to - from
			from = to
			if part.n == BatchRows || p.last && from == p.n {
				if !send(part) {
					return nil
				}
				part = parquetPart{}
			}
		}
	}
}

// decodeNext reads the next page and starts to decode it.
func (t *parquetTable) decodeNext(pages *pageReader, out *decodedPage) error {
	memory, _ := t.memory.Get().(*pageMemory)
	if memory == nil {
		memory = new(pageMemory)
	}
	p, err := pages.next(memory)
	if err != nil {
		return err
	}
	out.rows, out.last = p.rows, pages.left == 0
	t.group.Go(func() {
		defer close(out.done)
		defer recoverDamage(t.name, &out.err)
		out.Segment, out.err = p.decode(memory)
		t.memory.Put(memory)
	})
	return nil
}

// ParquetRows returns the number of rows that a Parquet file of the given size states,
// or 0 if it cannot be read. It bounds the number by the size, because memory is taken
// for the rows before they are read.
func ParquetRows(file io.ReaderAt, size int64) (n int) {
	defer func() {
		if recover() != nil {
			n = 0
		}
	}()
	meta, err := readFooter(file, size)
	if err != nil {
		return 0
	}
	return int(min(meta.NumRows, 2*size))
}

// unsupported is the error of a sound file with something that is not supported.
type unsupported string

func (u unsupported) Error() string { return string(u) }

func parquetProblem(name string, err error) error {
	if what := unsupported(""); errors.As(err, &what) {
		return &dataset.InputError{File: name, Problem: fmt.Sprintf("the Parquet file cannot be read: %v", err), Remedy: "write it with other settings, or as CSV", Err: err}
	}
	return &dataset.InputError{File: name, Problem: fmt.Sprintf("the Parquet file is truncated or damaged (%v)", err), Remedy: "copy or write it again", Err: err}
}

// recoverDamage converts a panic of a decoder, which damaged data can cause, into an
// error.
func recoverDamage(name string, err *error) {
	if cause := recover(); cause != nil {
		*err = Damaged(name, cause)
	}
}

// Damaged returns the error about a file whose values caused a panic.
func Damaged(name string, cause any) error {
	return &dataset.InputError{File: name, Problem: fmt.Sprintf("the file is damaged and cannot be decoded (%v)", cause), Remedy: "copy or write it again"}
}
