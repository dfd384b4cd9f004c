package columnar

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/internal/magic"
	"github.com/kernel-fried-tensor/kft/internal/plural"
	"github.com/parquet-go/parquet-go"
)

// parquetTable reads a Parquet file by column pages. One goroutine per column decodes
// its pages in order, at most a few batches ahead of the batch that was asked for.
// Pages are not copied, and the dictionary of a column is used as it is.
type parquetTable struct {
	name    string
	closing func()
	parquet *parquet.File
	columns []parquetColumn
	streams []parquetStream
	stop    chan struct{}
	group   sync.WaitGroup
}

// parquetStream is a column that a goroutine reads.
type parquetStream struct {
	column  int
	batches chan parquetPart
}

type parquetPart struct {
	segments []Segment
	pages    []parquet.Page // that contain the values of segments, retained
	n        int
	err      error
}

// OpenParquet opens a Parquet file of the given size. The name is used in errors. The
// table calls closing when it is closed.
func OpenParquet(name string, file io.ReaderAt, size int64, closing func()) (table Table, err error) {
	defer recoverDamage(name, &err)
	if !endsInMagic(file, size) {
		return nil, &dataset.InputError{File: name, Problem: "the Parquet file ends too early: it is truncated", Remedy: "copy or write it again"}
	}
	p, err := parquet.OpenFile(file, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(256<<10))
	if err != nil {
		return nil, parquetProblem(name, err)
	}
	t := &parquetTable{name: name, closing: closing, parquet: p, stop: make(chan struct{})}
	for _, c := range p.Root().Columns() {
		column := parquetColumn{name: c.Name(), leaf: -1}
		if c.Leaf() && !c.Repeated() {
			column.leaf = c.Index()
			column.describe(c.Type())
		}
		t.columns = append(t.columns, column)
	}
	if p.NumRows() == 0 {
		return nil, &dataset.InputError{File: name, Problem: "the table has no rows", Remedy: "give at least one row"}
	}
	return t, nil
}

// endsInMagic reports whether the last bytes are those of a complete file.
func endsInMagic(file io.ReaderAt, size int64) bool {
	var end [4]byte
	if size < 12 {
		return false
	}
	_, err := file.ReadAt(end[:], size-4)
	return err == nil && magic.Columnar(end[:]) == magic.Parquet
}

func (t *parquetTable) Names() []string {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.name
	}
	return names
}

func (t *parquetTable) Readable(column int) bool { return t.columns[column].leaf >= 0 }

func (t *parquetTable) Start(columns []int) {
	const ahead = 2 // batches
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
	var pages []parquet.Page
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
		pages = append(pages, part.pages...)
	}
	b.release = func() {
		for _, page := range pages {
			parquet.Release(page)
		}
	}
	return b, nil
}

func (t *parquetTable) Close() {
	close(t.stop)
	t.group.Wait()
	t.closing()
}

// readColumn sends a column in batches, which do not cross row groups. It also returns
// nil if the table was closed.
func (t *parquetTable) readColumn(at int, send func(parquetPart) bool) (err error) {
	defer recoverDamage(t.name, &err)
	c := &t.columns[at]
	if c.leaf < 0 {
		return &dataset.InputError{File: t.name, Column: c.name, Problem: "the column is nested: it contains lists or records", Remedy: "flatten it, or drop it"}
	}
	for _, group := range t.parquet.RowGroups() {
		left := group.NumRows()
		pages := group.ColumnChunks()[c.leaf].Pages()
		var part parquetPart
		d := parquetDictionary{column: c}
		for left > 0 {
			page, err := pages.ReadPage()
			if err != nil {
				pages.Close()
				if err == io.EOF {
					err = fmt.Errorf("column %q ends %s too early", c.name, plural.Count(int(left), "row"))
				}
				return parquetProblem(t.name, err)
			}
			s, err := c.segment(page, &d)
			if err != nil {
				pages.Close()
				return parquetProblem(t.name, fmt.Errorf("column %q: %w", c.name, err))
			}
			left -= int64(s.n)
			for from := 0; from < s.n; {
				to := min(s.n, from+BatchRows-part.n)
				part.segments = append(part.segments, s.slice(from, to))
				part.pages = append(part.pages, page)
				parquet.Retain(page)
				part.n += to - from
				from = to
				if part.n == BatchRows {
					if !send(part) {
						pages.Close()
						return nil
					}
					part = parquetPart{}
				}
			}
			parquet.Release(page) // the batches retain it
		}
		pages.Close()
		if left < 0 {
			return parquetProblem(t.name, fmt.Errorf("column %q has %s too many", c.name, plural.Count(int(-left), "row")))
		}
		if part.n > 0 && !send(part) {
			return nil
		}
	}
	return nil
}

// ParquetRows returns the number of rows of a Parquet file of the given size, or 0 if
// it cannot be read.
func ParquetRows(file io.ReaderAt, size int64) (n int) {
	defer func() {
		if recover() != nil {
			n = 0
		}
	}()
	p, err := parquet.OpenFile(file, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return 0
	}
	return int(p.NumRows())
}

func parquetProblem(name string, err error) error {
	return &dataset.InputError{File: name, Problem: fmt.Sprintf("the Parquet file is truncated or damaged (%v)", err), Remedy: "copy or write it again", Err: err}
}

// recoverDamage converts a panic of a decoder, which damaged data can cause, into an
// error.
func recoverDamage(name string, err *error) {
	if cause := recover(); cause != nil {
		*err = &dataset.InputError{File: name, Problem: fmt.Sprintf("the file is damaged and cannot be decoded (%v)", cause), Remedy: "copy or write it again"}
	}
}
