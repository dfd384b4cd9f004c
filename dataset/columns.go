package dataset

import (
	"fmt"
	"math"

	"github.com/kernel-fried-tensor/kft/internal/plural"
)

// Columns is a table given as columns in memory. The slices are not copied and must not
// change while the table is read.
type Columns struct {
	columns []Column
	rows    int
}

// A Column is a named column of a table in memory, with values of one type. The text
// of an integer is its decimal form, so an id from an integer equals the id from the
// same column of a CSV file. A float that is NaN and an empty string are missing.
type Column struct {
	Name string

	// One of them holds the values.
	Strings []string
	Ints    []int64
	Floats  []float64
}

// StringColumn returns a column of strings: ids, dates, or numbers as text.
func StringColumn(name string, values []string) Column {
	return Column{Name: name, Strings: orEmpty(values)}
}

// IntColumn returns a column of integers.
func IntColumn[T int | int32 | int64](name string, values []T) Column {
	wide, ok := any(values).([]int64)
	if !ok {
		wide = make([]int64, len(values))
		for i, v := range values {
			wide[i] = int64(v)
		}
	}
	return Column{Name: name, Ints: orEmpty(wide)}
}

// FloatColumn returns a column of floating-point numbers. NaN is missing.
func FloatColumn(name string, values []float64) Column {
	return Column{Name: name, Floats: orEmpty(values)}
}

func orEmpty[T any](values []T) []T {
	if values == nil {
		return []T{}
	}
	return values
}

// ColumnsName is what errors call a table in memory.
const ColumnsName = "columns in memory"

// NewColumns returns a table of columns. Names must be unique and not empty, and all
// columns must have the same length.
func NewColumns(columns ...Column) (*Columns, error) {
	problem := func(column, problem, remedy string) error {
		return &InputError{File: ColumnsName, Column: column, Problem: problem, Remedy: remedy}
	}
	if len(columns) == 0 {
		return nil, problem("", "the table has no columns", "give at least one column")
	}
	seen := map[string]bool{}
	for i, c := range columns {
		switch {
		case c.Name == "":
			return nil, problem("", fmt.Sprintf("column %d has no name", i+1), "name it")
		case seen[c.Name]:
			return nil, problem(c.Name, "two columns have this name", "rename one of them")
		case c.types() != 1:
			return nil, problem(c.Name, fmt.Sprintf("the column has values of %d types", c.types()), "make it with StringColumn, IntColumn or FloatColumn")
		case c.Len() != columns[0].Len():
			return nil, problem(c.Name, fmt.Sprintf("the column has %s, but column %q has %d", plural.Count(c.Len(), "row"), columns[0].Name, columns[0].Len()), "give columns of the same length")
		}
		seen[c.Name] = true
	}
	if columns[0].Len() > math.MaxInt32 {
		return nil, problem("", "the table has more than 2,147,483,647 rows", "split it")
	}
	return &Columns{columns: columns, rows: columns[0].Len()}, nil
}

// types counts the types of values that a column has.
func (c *Column) types() int {
	n := 0
	for _, has := range []bool{c.Strings != nil, c.Ints != nil, c.Floats != nil} {
		if has {
			n++
		}
	}
	return n
}

// Len returns the number of values.
func (c *Column) Len() int { return len(c.Strings) + len(c.Ints) + len(c.Floats) }

// Len returns the number of rows.
func (c *Columns) Len() int { return c.rows }

// Names returns the names of the columns.
func (c *Columns) Names() []string {
	names := make([]string, len(c.columns))
	for i := range c.columns {
		names[i] = c.columns[i].Name
	}
	return names
}

// Column returns column i. Its values must not be changed.
func (c *Columns) Column(i int) Column { return c.columns[i] }
