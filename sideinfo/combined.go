package sideinfo

import (
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
)

// A mode may have both a table and columns computed from its ids: the weather of a month
// and its number. They are two entries of a specification and one set of features. In the
// joined table the computed columns keep their mark: @month beside a column month.

const idMark = "@"

// Combine makes one spec of the entries of a mode: a table, columns computed from the
// ids, or one of each, in any order. Anything else is an error.
func Combine(a, b Spec) (Spec, error) {
	if a.FromIDs() {
		a, b = b, a
	}
	switch {
	case a.FromIDs():
		return Spec{}, fielderr.Errorf("side.tables", "the columns of mode %s that are computed from its ids are in two entries; write them in one, as in %s,%s", a.Mode, a, strings.TrimPrefix(b.String(), quoteName(b.Mode)+"="))
	case len(a.IDColumns) > 0:
		return Spec{}, fielderr.Errorf("side.tables", "mode %s has more than one table and one entry of computed columns; write one of each", a.Mode)
	case !b.FromIDs():
		return Spec{}, fielderr.Errorf("side.tables", "mode %s has the side tables %s and %s; join the two into one", a.Mode, a.File, b.File)
	}
	a.IDColumns = b.Columns
	return a, nil
}

// Described reports whether side information of an id can be computed from the id, at
// least in part.
func (s Spec) Described() bool { return s.FromIDs() || len(s.IDColumns) > 0 }

// appendIDColumns appends the computed columns to the rows of entities. With strict, an
// id from which a column cannot be computed is an error; otherwise its field is empty.
func (j *Joined) appendIDColumns(strict bool) error {
	for _, c := range j.Spec.IDColumns {
		name := idMark + c.Name
		if slices.Contains(j.Rows.Names, name) {
			return tableError(&dataset.InputError{File: j.Rows.File, Column: name, Problem: "the side table has a column with the name of one that is computed from the ids", Remedy: "rename it, or list the other columns"})
		}
		column, err := idColumnOf(c.Name, j.Mode, j.IDs, strict)
		if err != nil {
			return err
		}
		// A frame may share its lists with others.
		j.Rows.Names, j.Rows.Columns = append(slices.Clip(j.Rows.Names), name), append(slices.Clip(j.Rows.Columns), column)
	}
	return nil
}

// idColumnOf computes a column from ids.
func idColumnOf(name string, mode dataset.Mode, ids []string, strict bool) ([]string, error) {
	read, err := idColumn(name, mode, false)
	if err != nil {
		return nil, err
	}
	column := make([]string, len(ids))
	for i, id := range ids {
		value, err := read(id)
		if err != nil && strict {
			return nil, err
		}
		if err == nil {
			column[i] = value
		}
	}
	return column, nil
}

// describeAll computes the columns of all ids of the mode: also an id without a row in
// the table then has side information.
func (j *Joined) describeAll() error {
	if len(j.Spec.IDColumns) == 0 {
		return nil
	}
	for _, c := range j.Spec.IDColumns {
		column, err := idColumnOf(c.Name, j.Mode, j.IDs, true)
		if err != nil {
			return err
		}
		j.Rows.Columns[slices.Index(j.Rows.Names, idMark+c.Name)] = column
	}
	j.Has = slices.Repeat([]bool{true}, len(j.IDs))
	return nil
}

// RowOfID returns the features of an id that no table describes, from the columns that
// are computed from the id; values of a table are missing. An id from which they cannot
// be computed is an error.
func (e *Encoder) RowOfID(mode dataset.Mode, id string) (Features, error) {
	if e.spec.FromIDs() {
		joined, err := JoinIDColumns(e.spec, mode, []string{id})
		if err != nil {
			return Features{}, err
		}
		return e.Encode(joined.Rows)
	}
	frame := &dataset.Frame{}
	for i := range e.columns {
		name, value := e.columns[i].Name, ""
		if c, computed := e.idColumn(name); computed {
			column, err := idColumnOf(c.Name, mode, []string{id}, true)
			if err != nil {
				return Features{}, err
			}
			value = column[0]
		}
		frame.Names, frame.Columns = append(frame.Names, name), append(frame.Columns, []string{value})
	}
	return e.Encode(frame)
}

// idColumn returns the computed column of a name in the joined table.
func (e *Encoder) idColumn(name string) (ColumnSpec, bool) { return e.spec.idColumn(name) }

func (s Spec) idColumn(name string) (ColumnSpec, bool) {
	at := slices.IndexFunc(s.IDColumns, func(c ColumnSpec) bool { return idMark+c.Name == name })
	if at < 0 {
		return ColumnSpec{}, false
	}
	return s.IDColumns[at], true
}

// checkIDColumns returns an error if a table of new ids comes with computed columns other
// than those of the fit.
func (e *Encoder) checkIDColumns(given []ColumnSpec) error {
	if len(given) > 0 && !slices.Equal(given, e.spec.IDColumns) {
		return fielderr.Errorf("side.tables", "the columns computed from the ids of mode %s are those of the fit, %s; leave them out", e.spec.Mode, Spec{Mode: e.spec.Mode, Columns: e.spec.IDColumns})
	}
	return nil
}
