package dataset

import (
	"fmt"
	"slices"
)

// Frame is a table held as text, by columns. It describes the entities of a mode,
// not observations. Its memory is the text and 16 bytes per field.
type Frame struct {
	File    string
	Names   []string
	Columns [][]string // Columns[c][i] is field c of row i, trimmed; "" if it is empty
	Lines   []int32    // line of each row, from 1; nil if the rows come from no source
	Unit    string     // what Lines counts, see InputError
}

// NewFrame returns a frame of columns. It panics unless there is one name per column
// and all columns have the same length.
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

// Len returns the number of rows.
func (f *Frame) Len() int {
	if len(f.Columns) == 0 {
		return 0
	}
	return len(f.Columns[0])
}

// Line returns the line, from 1, at which row i starts; 0 if the rows come from no
// source.
func (f *Frame) Line(i int) int {
	if f.Lines == nil {
		return 0
	}
	return int(f.Lines[i])
}

// Fault returns an error about a field of row i.
func (f *Frame) Fault(i int, column, value, problem, remedy string) *InputError {
	return &InputError{File: f.File, Line: f.Line(i), Unit: f.Unit, Column: column, Value: value, Problem: problem, Remedy: remedy}
}

// Place returns the place of row i, as in "line 7", or "" if the rows come from no
// source.
func (f *Frame) Place(i int) string {
	if line := f.Line(i); line > 0 {
		return Place(f.Unit, line)
	}
	return ""
}

// Find returns the index of a column, or an *InputError with the nearest name.
func (f *Frame) Find(name string) (int, error) {
	if c := slices.Index(f.Names, name); c >= 0 {
		return c, nil
	}
	return 0, MissingColumn(f.File, name, f.Names)
}

// Select returns some rows and columns, in the given order. A row of -1 has empty
// fields and no line.
func (f *Frame) Select(rows []int32, columns []int) *Frame {
	out := &Frame{File: f.File, Unit: f.Unit}
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
	if f.Lines != nil {
		out.Lines = make([]int32, len(rows))
		for i, row := range rows {
			if row >= 0 {
				out.Lines[i] = f.Lines[row]
			}
		}
	}
	return out
}
