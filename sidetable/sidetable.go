// Package sidetable holds the text of a side table in a compact form, so that a model
// can show the side row of an id and predict what another value would change.
package sidetable

import (
	"fmt"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
)

// Limits of a table that a model keeps.
const (
	maxValues = 1 << 22 // fields
	maxBytes  = 1 << 25 // bytes of distinct texts
)

// A Table holds the values of columns by the codes of the ids of a mode. It is
// immutable and may be shared. Its memory is 4 bytes per field and each distinct text
// once.
type Table struct{ Columns []Column }

// A Column is a column of a side table: the text of the id with code c is
// Levels[Of[c]], or missing if Of[c] is negative.
type Column struct {
	Name   string
	Levels []string // distinct, in order of first appearance
	Of     []int32
}

// New returns the named columns of a frame whose rows are in the order of codes. plain
// returns the text of a value in the form in which it is kept. New returns nil if the
// values exceed what a model keeps. O(fields).
func New(rows *dataset.Frame, names []string, plain func(column string) func(text string) string) *Table {
	codes := make([]int32, rows.Len())
	for i := range codes {
		codes[i] = int32(i)
	}
	t := &Table{}
	for _, name := range names {
		t.Columns = append(t.Columns, Column{Name: name})
	}
	return t.With(rows.Len(), codes, rows, plain)
}

// With returns the table of a mode that has n ids, with the values of the given codes
// read from rows of a frame, in the order of codes. A negative code is skipped; a
// column that the frame lacks has no values. It returns nil for a nil table and for
// one that exceeds what a model keeps.
func (t *Table) With(n int, codes []int32, rows *dataset.Frame, plain func(column string) func(text string) string) *Table {
	if t == nil || n*len(t.Columns) > maxValues {
		return nil
	}
	out := &Table{Columns: slices.Clone(t.Columns)}
	bytes := 0
	for k := range out.Columns {
		c := &out.Columns[k]
		c.Of = slices.Grow(slices.Clone(c.Of), n-len(c.Of))
		for len(c.Of) < n {
			c.Of = append(c.Of, -1)
		}
		if rows != nil {
			c.read(codes, rows, plain)
		}
		for _, level := range c.Levels {
			bytes += len(level)
		}
	}
	if bytes > maxBytes {
		return nil
	}
	return out
}

func (c *Column) read(codes []int32, rows *dataset.Frame, plain func(column string) func(text string) string) {
	at := slices.Index(rows.Names, c.Name)
	if at < 0 {
		return
	}
	place := make(map[string]int32, len(c.Levels))
	for i, level := range c.Levels {
		place[level] = int32(i)
	}
	c.Levels = slices.Clip(c.Levels) // appending copies
	written := plain(c.Name)
	for i, code := range codes {
		if code < 0 {
			continue
		}
		text := rows.Columns[at][i]
		if dataset.Missing(text) {
			c.Of[code] = -1
			continue
		}
		text = written(text)
		level, known := place[text]
		if !known {
			level = int32(len(c.Levels))
			place[text] = level
			c.Levels = append(c.Levels, text)
		}
		c.Of[code] = level
	}
}

// Column returns a column, or nil if there is none of that name.
func (t *Table) Column(name string) *Column {
	for i, c := range t.All() {
		if c.Name == name {
			return &t.Columns[i]
		}
	}
	return nil
}

// All returns the columns.
func (t *Table) All() []Column {
	if t == nil {
		return nil
	}
	return t.Columns
}

// Names returns the names of the columns.
func (t *Table) Names() []string {
	var names []string
	for _, c := range t.All() {
		names = append(names, c.Name)
	}
	return names
}

// Value returns the text of an id, "" if it is missing or the code is unknown.
func (c *Column) Value(code int32) string {
	if code < 0 || int(code) >= len(c.Of) || c.Of[code] < 0 {
		return ""
	}
	return c.Levels[c.Of[code]]
}

// Frame returns the rows of some codes. A negative code has empty fields.
func (t *Table) Frame(codes []int32) *dataset.Frame {
	columns := make([][]string, len(t.Columns))
	for k := range t.Columns {
		columns[k] = make([]string, len(codes))
		for i, code := range codes {
			columns[k][i] = t.Columns[k].Value(code)
		}
	}
	return dataset.NewFrame(t.Names(), columns...)
}

// Check returns an error unless the table is one of a mode with n ids.
func (t *Table) Check(n int) error {
	for _, c := range t.Columns {
		if len(c.Of) != n {
			return fmt.Errorf("column %q has %d values for %d ids", c.Name, len(c.Of), n)
		}
		for _, level := range c.Of {
			if level < -1 || int(level) >= len(c.Levels) {
				return fmt.Errorf("column %q has the value %d, but %d distinct ones", c.Name, level, len(c.Levels))
			}
		}
	}
	return nil
}
