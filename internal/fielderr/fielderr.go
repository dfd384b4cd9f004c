// Package fielderr attaches the path of a specification field to an error.
//
// Library code names the field that a user can change ("data.target",
// "fit.lambda"); a program that has flags or a form for that field can then point
// to it. Any error type may carry a path by the method FieldPath.
package fielderr

import (
	"errors"
	"fmt"
)

// An Error is a problem that a change of one specification field can solve.
type Error struct {
	Path string // of the field, as in "data.target"
	Err  error
}

// Errorf returns an error about the field at path. The format is that of
// [fmt.Errorf], including %w.
func Errorf(path, format string, args ...any) error {
	return &Error{Path: path, Err: fmt.Errorf(format, args...)}
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error without the path.
func (e *Error) Unwrap() error { return e.Err }

// FieldPath returns the path of the field.
func (e *Error) FieldPath() string { return e.Path }

// Path returns the path of the first error in err's chain that has one, and ""
// if there is none.
func Path(err error) string {
	var located interface{ FieldPath() string }
	if errors.As(err, &located) {
		return located.FieldPath()
	}
	return ""
}
