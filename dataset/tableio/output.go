package tableio

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/columnar"
	"github.com/kernel-fried-tensor/kft/dataset/delimited"
	"github.com/kernel-fried-tensor/kft/dataset/internal/fieldtext"
	"github.com/kernel-fried-tensor/kft/internal/flat"
)

// Output specifies how a table is written: as text, optionally compressed, as Parquet or as
// Arrow. The zero value is text.
type Output struct {
	Format      string // "" or text, parquet, arrow, arrow-stream
	Compression string // of text: "", gzip or zstd; of Arrow: "" for LZ4, or none; a stream is not compressed
	Delimiter   byte   // of text; 0 keeps the delimiter of the table, or takes a comma if it has none or one of several characters
	Comma       bool   // of text: decimal commas also for a table without texts of its own, unless commas separate its fields
	AddedOnly   bool   // of Parquet and Arrow: write the added columns without those of the table
	Share       Share  // processes that divide the work; nil for one
}

// A Share divides the chunks of a table over processes that stream the same one: each computes
// some of them, and one writes all.
type Share interface {
	// Writes reports whether this process writes.
	Writes() bool
	// Mine reports whether this process computes a chunk.
	Mine(chunk int) bool
	// Pass is called for each chunk in order, with the text, or the added values, of this process if it
	// computes the chunk. It returns those of the chunk to the process that writes.
	Pass(chunk int, text []byte) ([]byte, error)
	// Total ends the stream: it passes a part of the result of each process, or its error, to the one
	// that writes, and returns all parts there and nil elsewhere. All have the same error.
	Total(part []byte, err error) ([][]byte, error)
}

// OutputFor returns the output format that a file name implies: .parquet; .arrow,
// .feather or .ipc; text for .csv, .tsv, .txt and the like or no ending, compressed if .gz
// or .zst follows. Other endings are refused. Text keeps
// the delimiter of the table; if the table has none it is a comma. The delimiter of
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
			err = &dataset.InputError{File: name, Problem: fmt.Sprintf("a file of format %s is not compressed as a whole", out.Format), Remedy: "write " + inner + ", or text, as .csv" + extension}
		}
		out.Compression = map[string]string{".gz": "gzip", ".zst": "zstd"}[extension]
		return out, err
	case ".tsv":
		return Output{Format: "text", Delimiter: '\t'}, nil
	case "", ".csv", ".txt", ".dat", ".tab", ".psv", ".data":
		return Output{Format: "text"}, nil
	default:
		return Output{}, &dataset.InputError{File: name, Problem: fmt.Sprintf("files that end in %s are not written", extension), Remedy: "use .csv, .tsv, .txt, .parquet or .arrow, or .csv.gz or .csv.zst for compressed text"}
	}
}

// AddedColumn is a column that AppendColumns adds to a table: of texts, or else of
// numbers. Wide numbers have 64 bits, others 32.
type AddedColumn struct {
	Name string
	Text bool
	Wide bool
	Omit bool // it is not written; not for text
}

// AddedValues are the values of the added columns for the rows of a batch. Column c is
// Numbers[c], where NaN is missing, or Texts[c], where "" is missing; the other is nil, as
// is one that is omitted.
// Of a wide column, Wide[c] is written, and Numbers[c] is scratch memory.
type AddedValues struct {
	Numbers [][]float32
	Wide    [][]float64
	Texts   [][]string
}

func newValues(added []AddedColumn, n int) *AddedValues {
	v := &AddedValues{Numbers: make([][]float32, len(added)), Wide: make([][]float64, len(added)), Texts: make([][]string, len(added))}
	for c, a := range added {
		if a.Text {
			v.Texts[c] = make([]string, n)
		} else if !a.Omit {
			v.Numbers[c] = make([]float32, n)
			if a.Wide {
				v.Wide[c] = make([]float64, n)
			}
		}
	}
	return v
}

// AppendColumns streams a source of one input and writes it to w, with all its rows and
// columns in their order and with further columns after them. The function fill is called for
// several batches at once, each on one goroutine, and sets the values of the added
// columns. The source is read as by VisitBatches. Columns of a typed table keep their
// types in a Parquet or Arrow file (lists and records are refused; decimals, times of
// day and ids of other types become text); columns of a text are text there.
//
// The memory does not depend on the length of the table, except for the row group of a
// Parquet file that is being written.
func AppendColumns(ctx context.Context, source Source, schema dataset.Schema, dicts []*dataset.Dict, format Format, threads int, w io.Writer, to Output,
	added []AddedColumn, fill func(b *Batch, values *AddedValues) error) error {
	if len(source.inputs) != 1 {
		return fmt.Errorf("columns are added to one input at a time, but the source has %d (%s); give one", len(source.inputs), source)
	}
	typed := to.Format == "parquet" || to.Format == "arrow" || to.Format == "arrow-stream"
	p := pipeline{source: source, schema: schema, format: format, threads: threads, block: batchSize, allColumns: !typed || !to.AddedOnly}
	p.schema.Absent = slices.Clone(schema.Absent)
	for _, a := range added {
		p.schema.Absent = append(p.schema.Absent, a.Name)
	}
	p.share = to.Share
	if typed {
		return p.appendTyped(ctx, dicts, w, to, added, fill)
	}
	out, err := delimited.Compress(w, to.Compression)
	if err != nil {
		return err
	}
	if err := p.appendText(ctx, dicts, out, to, added, fill); err != nil {
		return err
	}
	return out.Close()
}

func (p *pipeline) appendText(ctx context.Context, dicts []*dataset.Dict, w io.Writer, to Output, added []AddedColumn, fill func(b *Batch, values *AddedValues) error) error {
	head := func(header []byte, delimiter byte) []byte {
		if header == nil {
			return nil
		}
		line := append([]byte(nil), header...)
		for _, a := range added {
			line = fieldtext.AppendQuoted(append(line, delimiter), []byte(a.Name), delimiter)
		}
		return line
	}
	p.outDelimiter = to.Delimiter
	return p.rewrite(ctx, dicts, w, head, func(b *Batch, dst []byte) ([]byte, error) {
		values := newValues(added, b.Len())
		if err := fill(b, values); err != nil {
			return dst, err
		}
		delimiter, end := p.delimiter(b.table), b.table.LineEnd
		convert := delimiter != b.table.Format.Delimiter
		// Numbers have the decimal comma of the table, because programs read one decimal sign per file.
		comma := (to.Comma || p.format.Numbers.Decimal == ',' && b.table.typed == nil) && delimiter != ','
		for i := range b.Len() {
			if convert {
				dst = fieldtext.AppendRecord(dst, len(b.table.Names), delimiter, func(c int) []byte { return b.rows.Field(i, c) })
			} else {
				dst = append(dst, b.line(i)...)
			}
			for c := range added {
				dst = append(dst, delimiter)
				start := len(dst)
				if added[c].Text {
					dst = fieldtext.AppendQuoted(dst, []byte(values.Texts[c][i]), delimiter)
				} else if added[c].Wide {
					if v := values.Wide[c][i]; v == v {
						dst = strconv.AppendFloat(dst, v, 'g', -1, 64)
					}
				} else if v := values.Numbers[c][i]; v == v {
					dst = fieldtext.AppendFloat32(dst, v)
				}
				if at := bytes.IndexByte(dst[start:], '.'); comma && at >= 0 && !added[c].Text {
					dst[start+at] = ','
				}
			}
			dst = append(dst, end...)
		}
		return dst, nil
	})
}

// delimiter returns the delimiter of the text that is written.
func (p *pipeline) delimiter(t *openTable) byte {
	if p.outDelimiter != 0 {
		return p.outDelimiter
	}
	if t.Format.Long != "" {
		return ',' // other programs do not read several characters
	}
	return t.Format.Delimiter
}

func (p *pipeline) appendTyped(ctx context.Context, dicts []*dataset.Dict, w io.Writer, to Output, added []AddedColumn, fill func(b *Batch, values *AddedValues) error) error {
	if err := p.checkStream(dicts); err != nil {
		return err
	}
	var out columnar.Writer
	var kinds []columnar.Kind
	own := 0 // columns of the table that are written
	opened := func(t *openTable) (err error) {
		var names []string
		if !to.AddedOnly {
			names = slices.Clone(t.Names)
		}
		own = len(names)
		for c := range names {
			kind := columnar.Kind{Type: columnar.Text}
			if t.typed != nil {
				kind = t.typed.Kind(c)
			}
			kinds = append(kinds, kind)
		}
		for _, a := range added {
			kind := columnar.Kind{Type: columnar.Float32}
			switch {
			case a.Omit:
				continue
			case a.Text:
				kind.Type = columnar.Text
			case a.Wide:
				kind.Type = columnar.Float64
			}
			names, kinds = append(names, a.Name), append(kinds, kind)
		}
		switch {
		case to.Format == "parquet":
			out, err = columnar.NewParquetWriter(w, names, kinds)
		case to.Format == "arrow-stream":
			out = columnar.NewArrowStreamWriter(w, names, kinds)
		case to.Compression == "none":
			out, err = columnar.NewPlainArrowWriter(w, names, kinds)
		default:
			out, err = columnar.NewArrowWriter(w, names, kinds)
		}
		return err
	}
	batches := p.newBatches(dicts)
	type result struct {
		columns []columnar.Segment // of the table
		values  *AddedValues       // nil if another process computes them
		n       int
	}
	chunks := 0 // that were written
	err := p.run(ctx, opened, func(worker int, c *chunk) (any, error) {
		b := batches[worker]
		var r result
		if p.share == nil || p.share.Mine(c.index) {
			if err := b.read(c); err != nil {
				return nil, err
			}
			r.values = newValues(added, b.Len())
			if err := fill(b, r.values); err != nil {
				return nil, err
			}
		} else {
			rows, _, err := c.start(&b.text, &b.typed) // counts its rows
			if err != nil {
				return nil, err
			}
			b.rows = rows
		}
		r.n = b.rows.Len()
		if p.share == nil || p.share.Writes() {
			for column := range own {
				r.columns = append(r.columns, b.rows.Column(column, kinds[column]))
			}
		}
		return r, nil
	}, func(made any) error {
		r := made.(result)
		if p.share != nil {
			var passed []byte
			if r.values != nil {
				passed = flat.Encode(r.values)
			}
			passed, err := p.share.Pass(chunks, passed)
			chunks++
			if err != nil || !p.share.Writes() {
				return err
			}
			r.values = &AddedValues{}
			if err := flat.Decode(passed, r.values); err != nil {
				return err
			}
		}
		return out.Write(append(r.columns, r.values.segments(added, r.n)...), r.n)
	})
	if err != nil {
		return err
	}
	return out.Close()
}

// segments returns the columns of n rows that are written.
func (v *AddedValues) segments(added []AddedColumn, n int) (columns []columnar.Segment) {
	for i, a := range added {
		switch {
		case a.Omit:
		case a.Text:
			columns = append(columns, columnar.Texts(n, func(k int) []byte { return []byte(v.Texts[i][k]) }))
		case a.Wide:
			columns = append(columns, columnar.WideNumbers(v.Wide[i]))
		default:
			columns = append(columns, columnar.Numbers(v.Numbers[i]))
		}
	}
	return columns
}
