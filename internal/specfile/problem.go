package specfile

import (
	"fmt"
	"strings"
)

// A Problem is an error in a specification, with the path of the field (terms[1],
// fit.solver) and its position if it was read from a file.
type Problem struct {
	File         string
	Line, Column int // starting at 1; 0 if unknown
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

// FieldPath returns the path of the field.
func (p Problem) FieldPath() string { return p.Path }

// Problems is a list of problems. Its text has one line per problem.
type Problems []Problem

func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// FieldPath returns the path of the only problem, and "" if there are several.
func (ps Problems) FieldPath() string {
	if len(ps) != 1 {
		return ""
	}
	return ps[0].Path
}

// Err returns ps as an error, or nil if it is empty.
func (ps Problems) Err() error {
	if len(ps) == 0 {
		return nil
	}
	return ps
}

// Addf adds a problem of a field without a position in a file.
func (ps *Problems) Addf(path, format string, args ...any) {
	*ps = append(*ps, Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

// Index returns the path of element i of a list.
func Index(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }
