package sideinfo

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/kernel"
)

func (e *Encoder) setNames() {
	e.names, e.origins = nil, nil
	for i := range e.columns {
		names := e.columns[i].names()
		e.names, e.origins = append(e.names, names...), append(e.origins, slices.Repeat([]string{e.columns[i].Name}, len(names))...)
	}
}

// Names returns the names of the features. The slice must not be changed.
func (e *Encoder) Names() []string { return e.names }

// Encode returns the features of a table's rows, in its order. The table needs the
// columns the encoder was fitted to; it may have others. A value that does not fit
// its column's type is an error, a new level of a category is not. O(rows x columns).
func (e *Encoder) Encode(rows *dataset.Frame) (Features, error) {
	f, faults, err := e.EncodeEach(rows)
	if err == nil && len(faults) > 0 {
		err = faults[firstInFile(rows, slices.Sorted(maps.Keys(faults)))]
	}
	if err != nil {
		return Features{}, err
	}
	return f, nil
}

// firstInFile returns the row that comes first in its file, of rows in order.
func firstInFile(frame *dataset.Frame, rows []int) int {
	return slices.MinFunc(rows, func(a, b int) int { return cmp.Compare(frame.Line(a), frame.Line(b)) })
}

// EncodeEach is Encode for rows that can be done without: it returns what is
// wrong with a row by its number, and its features are then not defined.
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

// SpecFor returns the spec by which a table of new entities is read: file and key
// are those of given, the columns those the encoder needs.
func (e *Encoder) SpecFor(given Spec) (Spec, error) {
	if given.Own() != e.spec.Own() {
		return Spec{}, fmt.Errorf("the side information of mode %s was given as %s when the model was fitted; give a table of the same kind", e.spec.Mode, e.spec)
	}
	if err := e.sameColumns(given.Columns); err != nil {
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
		s.Columns = append(s.Columns, ColumnSpec{Name: c.Name, Type: c.Type})
	}
	return s, nil
}

// sameColumns refuses columns other than those the encoder was fitted to, or of
// other types; none is all of them.
func (e *Encoder) sameColumns(given []ColumnSpec) error {
	const remedy = "a table of new ids is read as the fitted one was, so leave the columns out"
	if len(given) == 0 {
		return nil
	}
	for _, c := range e.columns {
		if !slices.ContainsFunc(given, func(g ColumnSpec) bool { return g.Name == c.Name }) {
			return fmt.Errorf("column %q is not among those given, but the model needs it; %s", c.Name, remedy)
		}
	}
	for _, g := range given {
		at := slices.IndexFunc(e.columns, func(c column) bool { return c.Name == g.Name })
		switch {
		case at >= 0 && g.Type != "" && g.Type != e.columns[at].Type:
			return fmt.Errorf("column %q was fitted as %s, not as %s; %s", g.Name, e.columns[at].Type, g.Type, remedy)
		case at < 0 && !slices.ContainsFunc(e.spec.Columns, func(c ColumnSpec) bool { return c.Name == g.Name }): // one left out for saying nothing may be named
			return fmt.Errorf("the side information of mode %s has no column %q; %s", e.spec.Mode, g.Name, remedy)
		}
	}
	return nil
}

// PeriodNotice says where a kernel looks for periods in columns that cannot have
// one: names of categories, and cycles, which are cosines already. "" where it
// does not.
func (e *Encoder) PeriodNotice(k kernel.Kernel) (string, error) {
	k, err := kernel.Bind(k, kernel.Columns{Count: len(e.names), Names: e.names, Origins: e.origins, Dropped: e.leftOut})
	if err != nil {
		return "", err
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
	return fmt.Sprintf("kernel %s looks for a period in %s, which can have none; name columns of numbers, as in periodic:12[COLUMN]", k, strings.Join(wrong, ", ")), nil
}
