package columnar

import (
	"fmt"
	"io"
	"math"

	"github.com/kernel-fried-tensor/kft/dataset"
)

// memoryTable reads columns in memory. Integers and floats are not copied; strings are
// copied one batch at a time.
type memoryTable struct {
	columns *dataset.Columns
	wanted  []int
	row     int // next row to read
}

// FromMemory returns a table of columns in memory.
func FromMemory(c *dataset.Columns) Table { return &memoryTable{columns: c} }

func (t *memoryTable) Names() []string { return t.columns.Names() }

func (t *memoryTable) Readable(int) bool { return true }

func (t *memoryTable) Kind(column int) Kind {
	switch c := t.columns.Column(column); {
	case c.Ints != nil:
		return Kind{Type: Integer}
	case c.Floats != nil:
		return Kind{Type: Float64}
	}
	return Kind{Type: Text}
}

func (t *memoryTable) Start(columns []int) { t.wanted = columns }

func (t *memoryTable) Close() {}

func (t *memoryTable) Next() (*Batch, error) {
	if t.row == t.columns.Len() {
		return nil, io.EOF
	}
	from, to := t.row, min(t.columns.Len(), t.row+BatchRows)
	t.row = to
	b := &Batch{n: to - from, columns: make([][]Segment, len(t.columns.Names()))}
	for _, c := range t.wanted {
		column := t.columns.Column(c)
		s, err := memorySegment(&column, from, to)
		if err != nil {
			return nil, err
		}
		b.columns[c] = []Segment{s}
	}
	return b, nil
}

// memorySegment returns the rows [from, to) of a column. NaN becomes null.
func memorySegment(c *dataset.Column, from, to int) (Segment, error) {
	s := Segment{n: to - from}
	switch {
	case c.Ints != nil:
		s.i64 = c.Ints[from:to]
	case c.Floats != nil:
		s.f64 = c.Floats[from:to]
		for i, v := range s.f64 {
			if v != v {
				if s.valid == nil {
					s.valid = allTrue(s.n)
				}
				s.valid[i] = false
			}
		}
	default:
		s.data, s.offsets = []byte{}, make([]uint32, 1, s.n+1)
		for _, text := range c.Strings[from:to] {
			s.data = append(s.data, text...)
			s.offsets = append(s.offsets, uint32(len(s.data)))
		}
		if len(s.data) > math.MaxUint32 {
			return s, &dataset.InputError{File: dataset.ColumnsName, Column: c.Name, Problem: fmt.Sprintf("the texts of %d rows exceed 4 GB", s.n), Remedy: "shorten them"}
		}
	}
	return s, nil
}
