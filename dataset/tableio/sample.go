package tableio

import (
	"io"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/delimited"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
)

// A Sample is the first rows of a table.
type Sample struct {
	Names  []string   // of the columns
	Rows   [][]string // fields of each row
	Format Format     // as detected
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
	s := &Sample{Format: format}
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
	s.Format.Delimiter, s.Format.Header = l.Format.Delimiter, l.Format.Header
	var r textRows
	var buf []byte
	line := 1 + l.Lines
	for len(s.Rows) < limit {
		var n int
		buf, n, err = c.text.Next(buf)
		if err == io.EOF {
			break
		}
		if err != nil {
			r.Clear()
		} else if problem := r.Split(buf[:n], l.Format.Delimiter, len(l.Names), c.text.Quoted()); problem != nil {
			err = problem
		}
		s.add(&r, len(l.Names), func(column int) int { return column }, limit)
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
	s.Format.Header = delimited.HeaderYes
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
			break
		}
		if err != nil {
			return err
		}
		r.Reset(b, ',')
		s.add(&r, len(columns), func(column int) int { return columns[column] }, limit)
	}
	return nil
}

// add appends rows up to the limit. Column k of the sample is column at(k) of the rows.
func (s *Sample) add(r rowset, columns int, at func(k int) int, limit int) {
	for i := 0; i < r.Len() && len(s.Rows) < limit; i++ {
		record := make([]string, columns)
		for k := range record {
			record[k] = string(r.Field(i, at(k)))
		}
		s.Rows = append(s.Rows, record)
	}
}

// A Guess is the probable meaning of a table's columns, and its format.
type Guess struct {
	*dataset.Guess
	Format Format // as detected
}

// guessRows is the size of the sample for a guess: large enough for ids to repeat.
const guessRows = 100_000

// GuessColumns guesses the target and the modes of a table from its first rows. See
// [dataset.GuessColumns].
func GuessColumns(source Source, format Format) (*Guess, error) {
	s, err := ReadSample(source, format, guessRows)
	if err != nil {
		return nil, err
	}
	if len(s.Rows) == 0 {
		return nil, source.noRows()
	}
	return &Guess{dataset.GuessColumns(s.Names, s.Rows), s.Format}, nil
}
