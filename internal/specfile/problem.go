package specfile

import (
	"fmt"
	"strings"
)

// A Problem is one thing wrong with a specification: the path of the field
// (terms[1], fit.solver) and, where it was read from a file, the place there.
type Problem struct {
	File         string
	Line, Column int // from 1; 0 where there is no place
	Path         string
	Message      string
}

func (p Problem) Error() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File)
		if p.Line > 0 {
			fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
		}
		b.WriteString(": ")
	}
	if p.Path != "" {
		b.WriteString(p.Path + ": ")
	}
	b.WriteString(p.Message)
	return b.String()
}

// Problems is everything wrong with a specification, a line each.
type Problems []Problem

func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// Err is ps as an error, nil where there is no problem.
func (ps Problems) Err() error {
	if len(ps) == 0 {
		return nil
	}
	return ps
}

// Addf adds a problem of a field that has no place in a file.
func (ps *Problems) Addf(path, format string, args ...any) {
	*ps = append(*ps, Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

// Index is the path of element i of a list.
func Index(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }
