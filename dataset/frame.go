package dataset

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/suggest"
)

// Frame is a table held as text, a column at a time: what describes the entities
// of a mode, not the observations. Its memory is the text and 16 bytes a field.
type Frame struct {
	File    string
	Names   []string
	Columns [][]string // Columns[c][i] is field c of row i, trimmed; "" where it is empty

	lines []int32 // of each row, or nil where the rows come from no file
	unit  string  // what lines count, see InputError
}

// Len returns the number of rows.
func (f *Frame) Len() int {
	if len(f.Columns) == 0 {
		return 0
	}
	return len(f.Columns[0])
}

// Line returns the line, from 1, that row i starts at; 0 where the rows come from
// no file.
func (f *Frame) Line(i int) int {
	if f.lines == nil {
		return 0
	}
	return int(f.lines[i])
}

// Fault returns an error about a field of row i.
func (f *Frame) Fault(i int, column, value, problem, remedy string) *InputError {
	return &InputError{File: f.File, Line: f.Line(i), Unit: f.unit, Column: column, Value: value, Problem: problem, Remedy: remedy}
}

// Place returns where row i is, as "line 7", or "" where the rows come from no
// file.
func (f *Frame) Place(i int) string {
	if line := f.Line(i); line > 0 {
		return fmt.Sprintf("%s %d", unitName(f.unit), line)
	}
	return ""
}

// Find returns the index of a column, or an *InputError with the nearest name.
func (f *Frame) Find(name string) (int, error) {
	if c := slices.Index(f.Names, name); c >= 0 {
		return c, nil
	}
	return 0, &InputError{File: f.File, Column: name, Problem: "the table has no such column" + suggest.Hint(name, f.Names),
		Remedy: "choose one of " + strings.Join(f.Names, ", ")}
}

// Select returns some rows and columns, in the order given. A row of -1 has empty
// fields and no line.
func (f *Frame) Select(rows []int32, columns []int) *Frame {
	out := &Frame{File: f.File, unit: f.unit}
	for _, c := range columns {
		column := make([]string, len(rows))
		for i, row := range rows {
			if row >= 0 {
				column[i] = f.Columns[c][row]
			}
		}
		out.Names = append(out.Names, f.Names[c])
		out.Columns = append(out.Columns, column)
	}
	if f.lines != nil {
		out.lines = make([]int32, len(rows))
		for i, row := range rows {
			if row >= 0 {
				out.lines[i] = f.lines[row]
			}
		}
	}
	return out
}

// ReadFrame reads a table as text: CSV or TSV, plain or compressed, Parquet or
// Arrow, "-" being standard input. Delimiter, header, quotes and errors are as in Read.
func ReadFrame(ctx context.Context, file string, format Format) (*Frame, error) {
	return readFrame(ctx, pipeline{files: []string{file}, stdin: format.stdin(), format: format, block: blockSize, allColumns: true})
}

// frameRows are the rows of a chunk.
type frameRows struct {
	columns [][]string
	lines   []int32
}

func readFrame(ctx context.Context, p pipeline) (*Frame, error) {
	f := &Frame{File: p.files[0]}
	opened := func(t *openTable) error {
		f.Names = slices.Clone(t.names)
		f.Columns = make([][]string, len(t.names))
		if t.typed != nil {
			f.unit = "row"
		}
		return nil
	}
	text, typed := make([]rows, p.workers()), make([]typedRows, p.workers())
	err := p.run(ctx, opened, func(worker int, c *chunk) (any, error) {
		r, at, err := c.start(&text[worker], &typed[worker])
		if err != nil {
			return nil, err
		}
		return r.frame(at.line), nil
	}, func(result any) error {
		part := result.(*frameRows)
		for c, column := range part.columns {
			f.Columns[c] = append(f.Columns[c], column...)
		}
		f.lines = append(f.lines, part.lines...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if f.Len() == 0 {
		return nil, &InputError{File: f.File, Problem: "the table has a header but no rows", Remedy: "give at least one row"}
	}
	return f, nil
}

// frame copies the rows out. All fields of a chunk share one string.
func (r *rows) frame(line int) *frameRows {
	part := &frameRows{columns: make([][]string, r.columns), lines: make([]int32, r.n)}
	text := string(r.text)
	for c := range part.columns {
		column := make([]string, r.n)
		for i := range column {
			k := i*r.columns + c
			column[i] = trimText(text[r.ends[k]+1 : r.ends[k+1]])
		}
		part.columns[c] = column
	}
	for i := range part.lines {
		part.lines[i] = int32(line + r.line(i))
	}
	return part
}

// frame copies the rows out.
func (r *typedRows) frame(line int) *frameRows {
	part := &frameRows{columns: make([][]string, len(r.columns)), lines: make([]int32, r.n)}
	for c := range part.columns {
		column := make([]string, r.n)
		for i := range column {
			column[i] = string(r.field(i, c))
		}
		part.columns[c] = column
	}
	for i := range part.lines {
		part.lines[i] = int32(line + i)
	}
	return part
}

// trimText is trim for strings.
func trimText(s string) string {
	for len(s) > 0 && isSpace(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && isSpace(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

// NewFrame returns a frame of columns made in memory. It panics where there is
// not one name a column or where the columns differ in length.
func NewFrame(names []string, columns ...[]string) *Frame {
	if len(names) != len(columns) {
		panic(fmt.Sprintf("dataset: %d names for %d columns", len(names), len(columns)))
	}
	for c, column := range columns {
		if len(column) != len(columns[0]) {
			panic(fmt.Sprintf("dataset: column %q has %d rows, %q has %d", names[c], len(column), names[0], len(columns[0])))
		}
	}
	return &Frame{Names: names, Columns: columns}
}
