package sideinfo

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
)

func (e *Encoder) setNames() {
	e.names = nil
	for i := range e.columns {
		e.names = append(e.names, e.columns[i].names()...)
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
		err = faults[slices.Min(slices.Collect(maps.Keys(faults)))]
	}
	if err != nil {
		return Features{}, err
	}
	return f, nil
}

// EncodeEach is Encode for rows that can be done without: it returns what is
// wrong with a row by its number, and its features are then not defined.
func (e *Encoder) EncodeEach(rows *dataset.Frame) (Features, map[int]error, error) {
	f := Features{N: rows.Len(), C: len(e.names), Names: e.names}
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
				faults[i] = &dataset.InputError{File: rows.File, Line: rows.Line(i), Column: c.Name, Value: text, Problem: problem, Remedy: quantityRemedy}
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
