package model

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Set gives a field its value by its dotted name, as in fit.sweeps: one text, or
// for a list any number. What is wrong are Problems, and then nothing changes. Call Fill and Validate
// afterwards.
func (s *Spec) Set(name string, list bool, values ...string) error {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = strconv.QuoteToASCII(v)
	}
	text := strings.Join(quoted, ", ")
	if list {
		text = "[" + text + "]"
	}
	if section, key, inner := strings.Cut(name, "."); inner {
		text = fmt.Sprintf("%q: {%q: %s}", section, key, text)
	} else {
		text = fmt.Sprintf("%q: %s", name, text)
	}
	var r specReader
	root, err := r.root([]byte(text))
	changed := *s
	if err == nil {
		r.section(root, "", reflect.ValueOf(&changed).Elem())
	}
	for i := range r.problems {
		r.problems[i].Line, r.problems[i].Column = 0, 0 // of a text that nobody wrote
	}
	if len(r.problems) == 0 {
		*s = changed
	}
	return r.problems.err()
}

// ParseYAML parses a file of keys and values that stands beside specifications,
// as strictly: one document, no size or depth that a person would not write.
func ParseYAML(data []byte, name string) (*ast.MappingNode, error) {
	r := specReader{file: name}
	return r.root(data)
}

// MappingOf is a node as a mapping, nil where it is none.
func MappingOf(n ast.Node) *ast.MappingNode { return mapping(n) }

// ScalarOf is the text of a scalar as it was written; false for anything else.
func ScalarOf(n ast.Node) (string, bool) { return scalarText(n) }
