package dataset

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/suggest"
)

// InputError describes what is wrong with an input, where, and how to fix it.
type InputError struct {
	File    string // as given; "-" is standard input
	Line    int    // counted from 1; 0 if the error concerns no single line
	Unit    string // what Line counts if the input has no lines ("row"); else ""
	Column  string // name of the column, or ""
	Value   string // the offending text, or ""
	Problem string // what is wrong
	Remedy  string // what to do
	Field   string // path of the specification field that can fix it, as in "data.target", or ""
	Err     error  // the cause, or nil
}

const longestShownValue = 40

// Error returns one line: place, problem, remedy.
func (e *InputError) Error() string {
	var b strings.Builder
	name := e.File
	if name == "-" {
		name = "standard input"
	}
	b.WriteString(name)
	if e.Line > 0 {
		fmt.Fprintf(&b, ", %s", Place(e.Unit, e.Line))
	}
	if e.Column != "" {
		fmt.Fprintf(&b, ", column %q", e.Column)
	}
	if e.Value != "" {
		value := e.Value
		if len(value) > longestShownValue {
			value = value[:longestShownValue] + "..."
		}
		fmt.Fprintf(&b, ", value %q", value)
	}
	fmt.Fprintf(&b, ": %s", e.Problem)
	if e.Remedy != "" {
		fmt.Fprintf(&b, "; %s", e.Remedy)
	}
	// Without a file name the text starts with a separator.
	return strings.TrimPrefix(strings.TrimPrefix(b.String(), ": "), ", ")
}

// Unwrap returns the cause.
func (e *InputError) Unwrap() error { return e.Err }

// FieldPath returns the path of the specification field whose change can fix the
// error, or "".
func (e *InputError) FieldPath() string { return e.Field }

// InFile sets the file of an *InputError in err's chain that has none, and returns
// err.
func InFile(err error, file string) error {
	var input *InputError
	if errors.As(err, &input) && input.File == "" {
		input.File = file
	}
	return err
}

// Place returns the text of a place in an input, as in "line 7". The unit is what an input without
// lines counts, else "".
func Place(unit string, line int) string {
	if unit == "" {
		unit = "line"
	}
	return fmt.Sprintf("%s %d", unit, line)
}

// ErrNoColumn is the cause of an *InputError about a column that a table does not have.
var ErrNoColumn = errors.New("the table has no such column")

// MissingColumn returns an error about a column that a table does not have. The hint
// names the nearest of the columns that it has.
func MissingColumn(file, name string, have []string) *InputError {
	return &InputError{File: file, Column: name, Problem: ErrNoColumn.Error() + suggest.Hint(name, have),
		Remedy: "choose one of " + strings.Join(have, ", "), Err: ErrNoColumn}
}
