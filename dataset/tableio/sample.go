package tableio

import (
	"bytes"
	"io"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/delimited"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
)

// A Sample is the first rows of a table.
type Sample struct {
	Names  []string   // of the columns
	Rows   [][]string // fields of each row
	Lines  []int      // line of each row, from 1
	Unit   string     // what Lines counts, see dataset.InputError
	Format Format     // as detected
	Spread bool       // the rows are from several places of the table, not the first

	spread stride
	whole  bool // the rows are all of the table
}

// stride selects blocks of a large table, so that the sample covers it: a table sorted
// by time has only a few dates in its first rows. The zero value takes every block.
type stride struct {
	size int // of the whole table, in bytes of text or rows; 0 takes every block
	read int // of it
	took int // of it

	dense int // what the first half of the limit took
}

// mostRead bounds the text, in bytes, over which the sample is spread, so that a guess
// does not take longer than a moment.
const mostRead = 1 << 29

// take reports whether to take the next block, of n bytes or rows. It takes blocks up
// to half of the limit, because only neighbouring rows show which columns determine
// others, and then as many of the remaining ones as give the rest of the limit. The
// blocks so far gave so many rows.
func (s *stride) take(n, rows, limit int) bool {
	s.read += n
	if s.size == 0 {
		return true
	}
	if 2*rows >= limit {
		if s.dense == 0 {
			s.dense = s.took
		}
		// The second half of the limit needs as much as the first, spread over the rest.
		if share := float64(s.dense) / float64(max(1, min(s.size, mostRead)-s.dense)); float64(s.took-s.dense) >= share*float64(s.read-s.dense) {
			return false
		}
	}
	s.took += n
	return true
}

// ReadSample reads the first rows, at most limit, of the first input of a source.
// Nested columns are skipped: they contain neither ids nor values.
func ReadSample(source Source, format Format, limit int) (*Sample, error) {
	if len(source.inputs) == 0 {
		return nil, fielderr.Errorf("data.files", "there is no table; name a file, or - for standard input")
	}
	c, err := source.inputs[0].open(format.stdin(), delimited.BlockSize)
	if err != nil {
		return nil, err
	}
	defer c.close()
	return readSample(c, &Sample{Format: format}, limit)
}

func readSample(c *content, s *Sample, limit int) (*Sample, error) {
	var err error
	if c.typed != nil {
		err = s.readTyped(c, limit)
	} else {
		err = s.readText(c, limit)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// ColumnNames returns the names of the columns of the first input of a source.
func ColumnNames(source Source, format Format) ([]string, error) {
	s, err := ReadSample(source, format, 1000)
	if err != nil {
		return nil, err
	}
	return s.Names, nil
}

func (s *Sample) readText(c *content, limit int) error {
	l, err := c.text.ReadLayout(s.Format.text(), nil)
	if err != nil {
		return err
	}
	s.Names = l.Names
	s.Format.Delimiter, s.Format.LongDelimiter, s.Format.Header = l.Format.Delimiter, l.Format.Long, l.Format.Header
	if s.Format.LongDelimiter != "" {
		s.Format.Delimiter = 0
	}
	var r textRows
	var buf []byte
	line := 1 + l.Lines
	for len(s.Rows) < limit {
		var n int
		buf, n, err = c.text.Next(buf)
		if err == io.EOF {
			s.whole = !s.Spread
			break
		}
		if err == nil && !s.spread.take(n, len(s.Rows), limit) {
			s.Spread = true
			line += bytes.Count(buf[:n], []byte{'\n'})
			if s.spread.read > mostRead {
				break
			}
			continue
		}
		if err != nil {
			r.Clear()
		} else if problem := r.Split(buf[:n], l.Format.Delimiter, len(l.Names), c.text.Quoted()); problem != nil {
			err = problem
		}
		s.add(&r, line, len(l.Names), func(column int) int { return column }, limit)
		if err != nil && len(s.Rows) < limit {
			if problem, ok := err.(*dataset.InputError); ok {
				problem.File = c.name
				problem.Line += line
			}
			return err
		}
		line += r.LineEnds()
	}
	return nil
}

func (s *Sample) readTyped(c *content, limit int) error {
	s.Format.Header, s.Unit = delimited.HeaderYes, "row"
	var columns []int
	for i, name := range c.typed.Names() {
		if c.typed.Readable(i) {
			columns = append(columns, i)
			s.Names = append(s.Names, name)
		}
	}
	c.typed.Start(columns)
	var r typedRows
	for len(s.Rows) < limit {
		b, err := c.typed.Next()
		if err == io.EOF {
			s.whole = !s.Spread
			break
		}
		if err != nil {
			return err
		}
		first := 1 + s.spread.read
		if !s.spread.take(b.Len(), len(s.Rows), limit) {
			s.Spread = true
			continue
		}
		r.Reset(b, ',')
		s.add(&r, first, len(columns), func(column int) int { return columns[column] }, limit)
	}
	return nil
}

// add appends rows up to the limit, the first of which starts at line. Column k of the
// sample is column at(k) of the rows.
func (s *Sample) add(r rowset, line, columns int, at func(k int) int, limit int) {
	for i := 0; i < r.Len() && len(s.Rows) < limit; i++ {
		record := make([]string, columns)
		for k := range record {
			record[k] = string(r.Field(i, at(k)))
		}
		s.Rows = append(s.Rows, record)
		s.Lines = append(s.Lines, line+r.Line(i))
	}
}
