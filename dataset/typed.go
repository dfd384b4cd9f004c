package dataset

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"io"
	"os"
	"strings"
)

// fieldset is a run of rows cut into fields: of text, or of typed columns.
type fieldset interface {
	len() int

	// field returns field c of row i as trimmed text, valid until the next call.
	field(i, c int) []byte

	// line returns the line of row i, from 0 at the run's start.
	line(i int) int

	// rawLine returns row i as a line of text without line end.
	rawLine(i int) []byte

	// numbers reads column c of the rows in keep. It returns the index of the first
	// row whose field is no number, or len(keep). Missing values are NaN and counted.
	numbers(dst []float32, c int, keep []int32) (good, missing int, kind numberKind)

	// frame copies the rows out; line is that of the first.
	frame(line int) *frameRows

	// column returns a column to be written as a kind.
	column(c int, kind columnKind) segment

	// codes writes the codes of the rows in keep in the mode of e, whose columns stand
	// at, and returns the index of the first refused row, or len(keep).
	codes(e *modeEncoder, dst []int32, at []int, keep []int32) (good int, problem idProblem)
}

func (r *rows) len() int { return r.n }

func (r *rows) codes(e *modeEncoder, dst []int32, at []int, keep []int32) (good int, problem idProblem) {
	return e.encode(dst, r, at, keep)
}

// typedTable is a table whose columns have types, open. Columns are read one by
// one, and only those asked for.
type typedTable interface {
	names() []string

	// readable reports whether a column holds plain values, not lists or records.
	readable(column int) bool

	// kind returns the type that a column is written with.
	kind(column int) columnKind

	// start begins to read columns; it is called once, before next.
	start(columns []int)

	// next returns the next rows, or io.EOF. An error is an *InputError.
	next() (*typedBatch, error)

	close()
}

// typedRowsBatch is the number of rows of a batch, but for the last of a row group:
// fixed, so that results do not depend on threads.
const typedRowsBatch = 32 << 10

// typedBatch is a run of rows.
type typedBatch struct {
	n       int
	columns [][]segment // by column of the table; nil where it is not read

	release func() // gives memory back once the values are used, or nil
}

// size is what stands for the bytes of text: rows, whose number is known.
func (c *chunk) size() int {
	if c.typed != nil {
		return c.typed.n
	}
	return len(c.text)
}

// fingerprint condenses the chunk's content.
func (c *chunk) fingerprint() [32]byte {
	if c.typed == nil {
		return fingerprint(c.text)
	}
	digest := sha256.New()
	for column, segments := range c.typed.columns {
		for i := range segments {
			digest.Write(binary.AppendVarint(nil, int64(column)))
			segments[i].hash(digest)
			if d := segments[i].dict; d != nil {
				sum := d.fingerprint()
				digest.Write(sum[:])
			}
		}
	}
	return [32]byte(digest.Sum(nil))
}

// hash adds the values to a digest.
func (s *segment) hash(digest hash.Hash) {
	sum := fingerprint(s.raw())
	digest.Write(sum[:])
	for i, valid := range s.valid {
		if !valid {
			digest.Write(binary.AppendVarint(nil, int64(i)))
		}
	}
}

// fingerprint condenses the entries, once.
func (d *dictionary) fingerprint() [32]byte {
	d.hashed.Do(func() {
		digest := sha256.New()
		d.values.hash(digest)
		d.hash = [32]byte(digest.Sum(nil))
	})
	return d.hash
}

// openTyped opens a Parquet or Arrow file and returns nil for any other. Of
// standard input, which it looks into, the reader that has all of it is returned.
func openTyped(name string, stdin io.Reader) (typedTable, io.Reader, error) {
	if name == "-" {
		in := bufio.NewReaderSize(stdin, 64<<10)
		head, _ := in.Peek(typedMagicSize) // an error comes again
		switch typedFormat(head) {
		case "Parquet":
			return nil, nil, &InputError{File: name, Problem: "a Parquet file cannot be read from standard input, for its end must be read first", Remedy: "save it to a file"}
		case "Arrow stream", "Arrow":
			t, err := openArrowStream(name, in)
			return t, nil, err
		}
		return nil, in, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, nil // opening it as text says so
	}
	var head [typedMagicSize]byte
	n := 0
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		n, _ = f.ReadAt(head[:], 0)
	}
	var t typedTable
	switch typedFormat(head[:n]) {
	case "Parquet":
		t, err = openParquet(name, f)
	case "Arrow":
		t, err = openArrowFile(name, f)
	case "Arrow stream":
		t, err = openArrowStreamFile(name, f)
	default:
		f.Close()
		return nil, nil, nil
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return t, nil, nil
}

const typedMagicSize = 8

// typedFormat names the format that a file's first bytes show, or "".
func typedFormat(magic []byte) string {
	switch {
	case bytes.HasPrefix(magic, []byte("PAR1")), bytes.HasPrefix(magic, []byte("PARE")):
		return "Parquet"
	case bytes.HasPrefix(magic, []byte("ARROW1")):
		return "Arrow"
	case bytes.HasPrefix(magic, []byte{0xff, 0xff, 0xff, 0xff}):
		return "Arrow stream"
	}
	return ""
}

// openTyped makes an openTable of a typed one, whose columns are read where the
// schema asks for them, or all of them.
func (p *pipeline) openTyped(name string, t typedTable) (*openTable, error) {
	format := p.format
	format.Header = HeaderYes
	if p.outDelimiter != 0 {
		format.Delimiter = p.outDelimiter
	}
	if format.Delimiter == 0 {
		format.Delimiter = ','
	}
	l := &layout{format: format, names: t.names(), lineEnd: "\n"}
	for i, column := range l.names {
		if i > 0 {
			l.header = append(l.header, format.Delimiter)
		}
		l.header = appendQuoted(l.header, []byte(column), format.Delimiter)
	}
	columns, err := p.schema.locate(name, l)
	if err != nil {
		t.close()
		return nil, err
	}
	t.start(p.typedColumns(columns, len(l.names)))
	return &openTable{source: &source{name: name, closers: []io.Closer{closerFunc(t.close)}}, layout: l, columns: columns, typed: t}, nil
}

type closerFunc func()

func (f closerFunc) Close() error { f(); return nil }

// typedColumns lists the columns to read.
func (p *pipeline) typedColumns(c columns, n int) []int {
	wanted := make([]bool, n)
	for i := range wanted {
		wanted[i] = p.allColumns
	}
	for _, at := range c.modes {
		for _, i := range at {
			wanted[i] = true
		}
	}
	for _, i := range []int{c.target, c.weight, c.part} {
		if i >= 0 {
			wanted[i] = true
		}
	}
	var list []int
	for i, isWanted := range wanted {
		if isWanted {
			list = append(list, i)
		}
	}
	return list
}

// appendQuoted writes a field as CSV: in quotes where it holds what would be
// misread.
func appendQuoted(dst, field []byte, delimiter byte) []byte {
	if bytes.IndexByte(field, delimiter) < 0 && !bytes.ContainsAny(field, "\"\n\r") && (len(field) == 0 || len(trim(field)) == len(field)) {
		return append(dst, field...)
	}
	dst = append(dst, '"')
	dst = append(dst, strings.ReplaceAll(string(field), `"`, `""`)...)
	return append(dst, '"')
}
