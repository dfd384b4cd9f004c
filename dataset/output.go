package dataset

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Output is how a table is written: text, perhaps compressed, Parquet or Arrow.
type Output struct {
	Format      string // text, parquet or arrow
	Compression string // of text: "", gzip or zstd
	Delimiter   byte   // of text; 0 keeps the table's, which is a comma where it has none
}

// OutputFor tells by a file's name how it is to be written: .parquet; .arrow,
// .feather or .ipc; text for any other, compressed where .gz or .zst stands behind.
// Text keeps the delimiter of the table; where that has none it is a comma. That of
// .tsv is a tab. Compressed Parquet and Arrow files are refused.
func OutputFor(name string) (Output, error) {
	switch extension := strings.ToLower(filepath.Ext(name)); extension {
	case ".parquet":
		return Output{Format: "parquet"}, nil
	case ".arrow", ".feather", ".ipc":
		return Output{Format: "arrow"}, nil
	case ".gz", ".zst":
		inner := name[:len(name)-len(extension)]
		out, err := OutputFor(inner)
		if err == nil && out.Format != "text" {
			err = &InputError{File: name, Problem: fmt.Sprintf("a file of format %s is not compressed as a whole", out.Format), Remedy: "write " + inner + ", or text, as .csv" + extension}
		}
		out.Compression = map[string]string{".gz": "gzip", ".zst": "zstd"}[extension]
		return out, err
	case ".tsv":
		return Output{Format: "text", Delimiter: '\t'}, nil
	}
	return Output{Format: "text"}, nil
}

// Added is a column that Extend adds to a table: of texts, or else of numbers.
type Added struct {
	Name string
	Text bool
}

// Values are those of the added columns for the rows of a batch. Column c is
// Numbers[c], where NaN is missing, or Texts[c], where "" is; the other is nil.
type Values struct {
	Numbers [][]float32
	Texts   [][]string
}

// Extend streams one table, "-" being standard input, and writes it to w, all its
// rows and columns as they are, with columns added behind them. work is called for
// several batches at once, each on one goroutine, and fills in the values. The
// table is read as by Map. Columns of a Parquet or Arrow table keep their types in
// such a file (lists and records are refused; decimals, times of day and ids of
// other kinds become text); those of a text are text there.
//
// Memory does not depend on the length of the table, but for the row group of a
// Parquet file that is being written.
func Extend(ctx context.Context, file string, schema Schema, dicts []*Dict, format Format, threads int, w io.Writer, to Output,
	added []Added, work func(b *Batch, values *Values) error) error {
	p := pipeline{files: []string{file}, stdin: format.stdin(), schema: schema, format: format, threads: threads, block: blockSize, allColumns: true}
	for _, a := range added {
		p.schema.Absent = append(p.schema.Absent, a.Name)
	}
	if to.Format != "text" {
		return p.extendTyped(ctx, dicts, w, to, added, work)
	}
	out, err := compress(w, to.Compression)
	if err != nil {
		return err
	}
	if err := p.extendText(ctx, dicts, out, to, added, work); err != nil {
		return err
	}
	return out.Close()
}

// compress returns a writer of compressed text: speed before size, for the text goes
// out as fast as it is made.
func compress(w io.Writer, how string) (io.WriteCloser, error) {
	switch how {
	case "gzip":
		return gzip.NewWriterLevel(w, gzip.BestSpeed)
	case "zstd":
		return zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest))
	}
	return plainWriter{w}, nil
}

type plainWriter struct{ io.Writer }

func (plainWriter) Close() error { return nil }

func (p *pipeline) extendText(ctx context.Context, dicts []*Dict, w io.Writer, to Output, added []Added, work func(b *Batch, values *Values) error) error {
	head := func(header []byte, delimiter byte) []byte {
		if header == nil {
			return nil
		}
		line := append([]byte(nil), header...)
		for _, a := range added {
			line = appendQuoted(append(line, delimiter), []byte(a.Name), delimiter)
		}
		return line
	}
	p.outDelimiter = to.Delimiter
	return p.stream(ctx, dicts, w, head, func(b *Batch, dst []byte) ([]byte, error) {
		values := newValues(added, b.Len())
		if err := work(b, values); err != nil {
			return dst, err
		}
		delimiter, end := p.delimiter(b.table), b.LineEnd()
		anew := delimiter != b.table.format.Delimiter
		for i := range b.Len() {
			if anew {
				dst = appendFields(dst, len(b.table.names), delimiter, func(c int) []byte { return b.fields.field(i, c) })
			} else {
				dst = append(dst, b.Line(i)...)
			}
			for c := range added {
				dst = append(dst, delimiter)
				if added[c].Text {
					dst = appendQuoted(dst, []byte(values.Texts[c][i]), delimiter)
				} else if v := values.Numbers[c][i]; v == v {
					dst = strconv.AppendFloat(dst, float64(v), 'g', -1, 32)
				}
			}
			dst = append(dst, end...)
		}
		return dst, nil
	})
}

// delimiter returns that of the text written.
func (p *pipeline) delimiter(t *openTable) byte {
	if p.outDelimiter != 0 {
		return p.outDelimiter
	}
	return t.format.Delimiter
}

// appendFields writes fields with a delimiter between them.
func appendFields(dst []byte, n int, delimiter byte, field func(c int) []byte) []byte {
	for c := range n {
		if c > 0 {
			dst = append(dst, delimiter)
		}
		dst = appendQuoted(dst, field(c), delimiter)
	}
	return dst
}

func newValues(added []Added, n int) *Values {
	v := &Values{Numbers: make([][]float32, len(added)), Texts: make([][]string, len(added))}
	for c, a := range added {
		if a.Text {
			v.Texts[c] = make([]string, n)
		} else {
			v.Numbers[c] = make([]float32, n)
		}
	}
	return v
}

// tableWriter writes a typed table.
type tableWriter interface {
	write(columns []segment, n int) error
	close() error
}

func (p *pipeline) extendTyped(ctx context.Context, dicts []*Dict, w io.Writer, to Output, added []Added, work func(b *Batch, values *Values) error) error {
	if err := p.checkMap(dicts); err != nil {
		return err
	}
	var out tableWriter
	var kinds []columnKind
	opened := func(t *openTable) (err error) {
		names := append([]string(nil), t.names...)
		for c := range t.names {
			kind := columnKind{what: whatText}
			if t.typed != nil {
				kind = t.typed.kind(c)
			}
			kinds = append(kinds, kind)
		}
		for _, a := range added {
			names = append(names, a.Name)
			kinds = append(kinds, columnKind{what: map[bool]what{true: whatText, false: whatFloat32}[a.Text]})
		}
		if to.Format == "parquet" {
			out, err = newParquetWriter(w, names, kinds)
		} else {
			out, err = newArrowWriter(w, names, kinds)
		}
		return err
	}
	batches := make([]*Batch, p.workers())
	for i := range batches {
		batches[i] = newBatch(p.schema, dicts)
	}
	type result struct {
		columns []segment
		n       int
	}
	err := p.run(ctx, opened, func(worker int, c *chunk) (any, error) {
		b := batches[worker]
		if err := b.read(c); err != nil {
			return nil, err
		}
		values := newValues(added, b.Len())
		if err := work(b, values); err != nil {
			return nil, err
		}
		r := result{n: b.Len()}
		for column := range c.table.names {
			r.columns = append(r.columns, b.fields.column(column, kinds[column]))
		}
		for i := range added {
			r.columns = append(r.columns, values.segment(i))
		}
		return r, nil
	}, func(made any) error {
		r := made.(result)
		return out.write(r.columns, r.n)
	})
	if err != nil {
		return err
	}
	if out == nil {
		return fmt.Errorf("dataset: no table was opened")
	}
	return out.close()
}
