// Package modeid makes the ids of a mode from the fields of rows and looks up their
// codes.
package modeid

import (
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/internal/calendar"
)

// Codes that are no ids.
const (
	Unknown = -1 // the id is not in the dictionary
	Refused = -2 // the row is in error
)

// Rows gives access to the fields of some rows.
type Rows interface {
	// Field returns field c of row i as trimmed text, valid until the next call.
	Field(i, c int) []byte

	// Line returns the line of row i, from 0 at the first line of the rows.
	Line(i int) int
}

// An Encoder makes the codes of one mode. It is not safe for concurrent use.
type Encoder struct {
	Mode dataset.Mode
	Dict *dataset.Dict // of the mode

	// Miss returns the code of an id that the dictionary does not contain: a new code,
	// Unknown or Refused. An empty id always misses.
	Miss func(id []byte) int32

	// Problem describes the row that was refused last.
	Problem Problem

	function calendar.Function
	dates    calendar.Order // that the function reads
	id       []byte         // under construction
}

// New returns an encoder. See [Encoder] for miss.
func New(m dataset.Mode, dict *dataset.Dict, miss func(id []byte) int32) *Encoder {
	e := &Encoder{Mode: m, Dict: dict, Miss: miss}
	if m.Covariate() {
		e.Miss = func(id []byte) int32 {
			if len(id) > 0 {
				return miss(id)
			}
			if code, ok := dict.Code([]byte(dataset.MissingID)); ok {
				return code
			}
			return miss([]byte(dataset.MissingID))
		}
	} else if m.Func != "" {
		e.function, e.dates = calendar.ByName(m.Func), calendar.Order(m.Dates)
	}
	return e
}

// Adding returns an encoder that adds unknown ids to the dictionary and refuses empty
// ones, except for a covariate, of which a missing value is an id.
func Adding(m dataset.Mode, dict *dataset.Dict) *Encoder {
	return New(m, dict, func(id []byte) int32 {
		if len(id) == 0 {
			return Refused
		}
		return dict.Add(string(id))
	})
}

// Fixed returns an encoder that leaves the dictionary as it is. An id that it does not contain may
// stand for another, see [dataset.Dict.Meant].
func Fixed(m dataset.Mode, dict *dataset.Dict) *Encoder {
	return New(m, dict, func(id []byte) int32 {
		if code, ok := dict.Meant(id); ok {
			return code
		}
		return Unknown
	})
}

// Problem identifies the wrong column of a mode and what is wrong with it.
type Problem struct {
	column    int // among the mode's columns
	notMoment bool
}

// Empty reports whether the column is empty.
func (p Problem) Empty() bool { return !p.notMoment }

// Plain reports whether the ids are the fields of one column as they are.
func (e *Encoder) Plain() bool { return e.function == nil && len(e.Mode.Columns) == 1 }

// Derive makes the id of a row, whose columns are at the indexes at, and returns its
// code.
func (e *Encoder) Derive(r Rows, row int, at []int) int32 {
	var ok bool
	if e.id, ok = e.AppendID(e.id[:0], r, row, at); !ok && e.Problem.notMoment {
		return Refused
	}
	if len(e.id) > 0 {
		if code, ok := e.Dict.Code(e.id); ok {
			return code
		}
	}
	return e.Miss(e.id)
}

// AppendID appends the id of a row. There is none if a column is empty or if its
// value is not a moment in time; e.Problem then identifies it.
func (e *Encoder) AppendID(dst []byte, r Rows, row int, at []int) (id []byte, ok bool) {
	for p, c := range at {
		part := r.Field(row, c)
		if len(part) == 0 {
			e.Problem = Problem{column: p}
			return dst[:0], false
		}
		if e.function != nil {
			t, ok := e.dates.Parse(part)
			if !ok {
				e.Problem = Problem{notMoment: true}
				return dst[:0], false
			}
			return e.function(dst, t), true
		}
		if p > 0 {
			dst = append(dst, '-')
		}
		dst = append(dst, part...)
	}
	return dst, true
}

// Report describes a refused row.
func (e *Encoder) Report(r Rows, row int, at []int, problem Problem) *dataset.InputError {
	err := &dataset.InputError{Line: r.Line(row), Column: e.Mode.Columns[problem.column], Field: "data.modes"}
	if problem.notMoment {
		err.Value = string(r.Field(row, at[0]))
		err.Problem = "this is not " + calendar.Moment + ", which " + e.Mode.Expression() + " requires"
		err.Remedy = e.Mode.MomentRemedy(err.Value)
		return err
	}
	err.Problem = "the id is empty, so the row belongs to no cell"
	err.Remedy = "fill it in or remove the row"
	return err
}
