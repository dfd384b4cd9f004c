package dataset

import (
	"errors"
	"fmt"
	"strings"
)

// InputError says what is wrong with an input, where, and what to do about it.
type InputError struct {
	File    string // as given; "-" is standard input
	Line    int    // counted from 1; 0 where no line is meant
	Unit    string // what Line counts where the file has no lines: row; else ""
	Column  string // name of the column, or ""
	Value   string // the offending text, or ""
	Problem string // what is wrong
	Remedy  string // what to do
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
		fmt.Fprintf(&b, ", %s %d", unitName(e.Unit), e.Line)
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
	// Without a file there is nothing before the first mark.
	return strings.TrimPrefix(strings.TrimPrefix(b.String(), ": "), ", ")
}

// Unwrap returns the cause.
func (e *InputError) Unwrap() error { return e.Err }

// inFile names the file of an error that was made without one.
func inFile(err error, file string) error {
	var input *InputError
	if errors.As(err, &input) && input.File == "" {
		input.File = file
	}
	return err
}

func unitName(unit string) string {
	if unit == "" {
		return "line"
	}
	return unit
}
