package kft

import (
	"io"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

// A Source is a table to read: files, a reader, or columns in memory. The format (CSV
// or TSV, plain or compressed; Parquet; Arrow) is detected. The zero Source means
// the files of the specification.
type Source = tableio.Source

// A Column is a named column of a table in memory. See [StringColumn], [IntColumn] and
// [FloatColumn], and package dataset for its fields.
type Column = dataset.Column

// A Part is the set that a row of the fitted table was in.
type Part = dataset.Part

// Parts of a split.
const (
	Train  = dataset.Train
	Valid  = dataset.Valid
	Test   = dataset.Test
	Unused = dataset.Unused
)

// Files returns the table in one or several files with the same columns.
func Files(paths ...string) Source { return tableio.Files(paths...) }

// Reader returns the table that r contains. Messages use name for it. The source
// can be read once: use a new one for each call.
func Reader(name string, r io.Reader) Source { return tableio.Reader(name, r) }

// Columns returns a table in memory. Names must be unique, and all columns must have
// the same length. The values are not copied and must not change while they are read.
func Columns(columns ...Column) (Source, error) {
	return tableio.NewColumns(columns...)
}

// StringColumn returns a column of strings: ids, dates, or numbers as text. An empty
// string is missing.
func StringColumn(name string, values []string) Column { return dataset.StringColumn(name, values) }

// IntColumn returns a column of integers. An integer id equals the id with the same
// decimal text.
func IntColumn[T int | int32 | int64](name string, values []T) Column {
	return dataset.IntColumn(name, values)
}

// FloatColumn returns a column of floating-point numbers. NaN is missing.
func FloatColumn(name string, values []float64) Column { return dataset.FloatColumn(name, values) }
