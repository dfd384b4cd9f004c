package sideinfo

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/kernel"
)

// Encoder turns rows of a side table into features. It is fitted once, on the
// entities of a mode. It encodes later rows in the same way: the same columns, and
// the same bits for the same row. It is immutable and may be shared.
type Encoder struct {
	spec    Spec
	columns []column
	names   []string // of the features
	origins []string // column of the table for each feature
	leftOut []string // columns without information; not persisted
}

// setNames sets the names and origins of the features.
func (e *Encoder) setNames() {
	e.names, e.origins = nil, nil
	for i := range e.columns {
		names := e.columns[i].names()
		e.names, e.origins = append(e.names, names...), append(e.origins, slices.Repeat([]string{e.columns[i].Name}, len(names))...)
	}
}

// Names returns the names of the features. The slice must not be modified.
func (e *Encoder) Names() []string { return e.names }

// Origins returns the column of the table that each feature was made of. The slice must
// not be modified.
func (e *Encoder) Origins() []string { return e.origins }

// Plain returns a function that writes the values of a column in the form in which a model
// keeps them: numbers as short as possible, so that they do not depend on the format of
// their table, and other texts as they are.
func (e *Encoder) Plain(column string) func(text string) string {
	for i := range e.columns {
		if c := &e.columns[i]; c.Name == column && (c.Type == Num || c.Type == Log || c.Type.period() > 0) {
			return func(text string) string {
				if v, ok := dataset.Number(text); ok {
					return strconv.FormatFloat(v, 'g', -1, 64)
				}
				return text
			}
		}
	}
	return func(text string) string { return text }
}

// Levels returns the levels that a text of a column of categories or labels names, nil for
// other columns and for a missing value.
func (e *Encoder) Levels(column, text string) []string {
	for i := range e.columns {
		c := &e.columns[i]
		switch {
		case c.Name != column || c.Type.missing(text):
		case c.Type.several():
			return c.Type.split(text)
		case c.Type == Cat:
			return []string{text}
		}
	}
	return nil
}

// Encode returns the features of the rows of a table, in its order. The table must
// have the columns to which the encoder was fitted and may have others. A value that
// does not match the type of its column is an error; a new level of a category is
// not. O(rows x columns).
func (e *Encoder) Encode(rows *dataset.Frame) (Features, error) {
	f, faults, err := e.EncodeEach(rows)
	if err == nil && len(faults) > 0 {
		err = tableError(faults[firstInFile(rows, slices.Sorted(maps.Keys(faults)))])
	}
	if err != nil {
		return Features{}, err
	}
	return f, nil
}

// firstInFile returns the row with the smallest line number.
func firstInFile(frame *dataset.Frame, rows []int) int {
	return slices.MinFunc(rows, func(a, b int) int { return cmp.Compare(frame.Line(a), frame.Line(b)) })
}

// EncodeEach is Encode for callers that can skip rows. It returns the errors of
// invalid rows by row number; the features of these rows are undefined.
func (e *Encoder) EncodeEach(rows *dataset.Frame) (Features, map[int]error, error) {
	f := Features{N: rows.Len(), C: len(e.names), Names: e.names, Origins: e.origins}
	f.X, f.Unit = make([]float32, f.N*f.C), slices.Repeat([]float64{1}, f.C)
	faults := map[int]error{}
	from := 0
	for k := range e.columns {
		c := &e.columns[k]
		width := len(c.names())
		at, err := rows.Find(c.Name)
		if err != nil {
			return Features{}, nil, err
		}
		if c.SD > 0 {
			f.Unit[from] = 1 / c.SD
		}
		for i, text := range rows.Columns[at] {
			dst := f.X[i*f.C+from:][:width:width]
			if problem := c.encode(dst, text); problem != "" && faults[i] == nil {
				faults[i] = rows.Fault(i, c.Name, text, problem, quantityRemedy)
			}
		}
		from += width
	}
	return f, faults, nil
}

// SpecFor returns the spec to read a table of new entities: with the file and the key
// of given, and the columns that the encoder needs.
func (e *Encoder) SpecFor(given Spec) (Spec, error) {
	if given.FromIDs() != e.spec.FromIDs() {
		return Spec{}, fielderr.Errorf("side.tables", "the side information of mode %s was %s when the model was fitted; give side information of the same kind", e.spec.Mode, e.spec)
	}
	if err := e.sameColumns(given.Columns); err != nil {
		return Spec{}, err
	}
	if err := e.checkIDColumns(given.IDColumns); err != nil {
		return Spec{}, err
	}
	s := e.spec
	s.File, s.Columns = given.File, nil
	if len(given.Key) > 0 {
		s.Key = given.Key
	}
	if given.Name != "" {
		s.Name, s.Value = given.Name, given.Value
	}
	if s.Name != "" && s.Value == "" {
		return s, nil
	}
	for _, c := range e.columns {
		if _, computed := e.idColumn(c.Name); computed {
			continue
		}
		s.Columns = append(s.Columns, ColumnSpec{Name: c.Name, Type: c.Type})
	}
	return s, nil
}

// sameColumns returns an error unless the given columns and types are those to which
// the encoder was fitted. No columns means all of them.
func (e *Encoder) sameColumns(given []ColumnSpec) error {
	const remedy = "leave the columns out: a table of new ids is read like the table of the fit"
	if len(given) == 0 {
		return nil
	}
	for _, c := range e.columns {
		if _, computed := e.idColumn(c.Name); computed {
			continue
		}
		if !slices.ContainsFunc(given, func(g ColumnSpec) bool { return g.Name == c.Name }) {
			return fielderr.Errorf("side.tables", "column %q is not listed, but the model needs it; %s", c.Name, remedy)
		}
	}
	for _, g := range given {
		at := slices.IndexFunc(e.columns, func(c column) bool { return c.Name == g.Name })
		switch {
		case at >= 0 && g.Type != "" && g.Type != e.columns[at].Type:
			return fielderr.Errorf("side.tables", "column %q was fitted with type %s, not %s; %s", g.Name, e.columns[at].Type, g.Type, remedy)
		case at < 0 && !slices.ContainsFunc(e.spec.Columns, func(c ColumnSpec) bool { return c.Name == g.Name }): // a column left out by Fit may be listed
			return fielderr.Errorf("side.tables", "the side information of mode %s has no column %q; %s", e.spec.Mode, g.Name, remedy)
		}
	}
	return nil
}

// PeriodNotice returns a notice if a kernel has a periodic factor in columns that
// cannot be periodic: categories, and cycles, which are cosines already. It returns
// "" if there is no such column.
func (e *Encoder) PeriodNotice(k kernel.Kernel) (string, error) {
	k, err := kernel.Bind(k, kernel.Columns{Count: len(e.names), Names: e.names, Origins: e.origins, Dropped: e.leftOut})
	if err != nil {
		return "", fielderr.Errorf("side.kernels", "%w", err)
	}
	var wrong []string
	from := 0
	for i := range e.columns {
		c := &e.columns[i]
		if (c.Type.levelled() || c.Type.period() > 0) && kernel.PeriodicInColumn(k, from) {
			wrong = append(wrong, fmt.Sprintf("%s (%s)", c.Name, c.Type))
		}
		from += len(c.names())
	}
	if wrong == nil {
		return "", nil
	}
	return fmt.Sprintf("kernel %s is periodic in %s, which cannot be periodic; name numeric columns, as in periodic:12[COLUMN]", k, strings.Join(wrong, ", ")), nil
}
