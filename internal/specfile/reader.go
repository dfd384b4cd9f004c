// Package specfile reads the files people write for kft, in YAML or in JSON, which
// is a part of it. Every value keeps its text as written and its place in the
// file, and all that is wrong is collected.
package specfile

import (
	"fmt"
	"iter"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// A Reader walks through a syntax tree and collects what is wrong with it.
type Reader struct {
	File     string // its name, for messages
	What     string // it is, as in "specification"
	Make     string // how to come by one, as in "kft init TABLE writes one"
	Problems Problems
}

// Addf adds a problem of the field at path, with the place of n where there is one.
func (r *Reader) Addf(n ast.Node, path, format string, args ...any) {
	p := Problem{File: r.File, Path: path, Message: fmt.Sprintf(format, args...)}
	if n != nil && n.GetToken() != nil {
		p.Line, p.Column = n.GetToken().Position.Line, n.GetToken().Position.Column
	}
	r.Problems = append(r.Problems, p)
}

// Entries are the entries of a mapping by their keys, the mapping's path ending in
// a dot where it is not the root. The parser refuses a key that is given again.
func (r *Reader) Entries(m *ast.MappingNode, path string) iter.Seq2[string, *ast.MappingValueNode] {
	return func(yield func(string, *ast.MappingValueNode) bool) {
		for _, entry := range m.Values {
			key, isText := Scalar(entry.Key)
			if !isText {
				r.Addf(entry.Key, strings.TrimSuffix(path, "."), "a key must be a plain word")
			} else if !yield(key, entry) {
				return
			}
		}
	}
}

// Elements are the elements of a list by their paths.
func (r *Reader) Elements(n ast.Node, path string) iter.Seq2[string, ast.Node] {
	return func(yield func(string, ast.Node) bool) {
		list, isList := n.(*ast.SequenceNode)
		if !isList {
			r.Addf(n, path, "is a list; write each value on a line of its own after a dash, or all in [ ]")
			return
		}
		for i, element := range list.Values {
			if !yield(Index(path, i), element) {
				return
			}
		}
	}
}

// Texts are the elements of a list of texts.
func (r *Reader) Texts(n ast.Node, path string) []string {
	var texts []string
	for here, element := range r.Elements(n, path) {
		text, ok := Scalar(element)
		if !ok {
			r.Addf(element, here, "needs one value, not %s (a text with a colon or a comma needs quotes)", Kind(element))
			continue
		}
		texts = append(texts, text)
	}
	return texts
}
