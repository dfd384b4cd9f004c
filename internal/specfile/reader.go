// Package specfile reads YAML and JSON files written by users. Every value keeps
// its text as written and its position in the file, and all problems are collected.
package specfile

import (
	"fmt"
	"iter"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// A Reader walks through a syntax tree and collects problems.
type Reader struct {
	File     string // file name, for messages
	Kind     string // kind of file, such as "specification"
	Remedy   string // how to create one, such as "run kft init TABLE"
	Problems Problems
}

// Addf adds a problem of the field at path, with the position of n if known.
func (r *Reader) Addf(n ast.Node, path, format string, args ...any) {
	p := Problem{File: r.File, Path: path, Message: fmt.Sprintf(format, args...)}
	if n != nil && n.GetToken() != nil {
		p.Line, p.Column = n.GetToken().Position.Line, n.GetToken().Position.Column
	}
	r.Problems = append(r.Problems, p)
}

// Entries iterates over the entries of a mapping by key. The path of the mapping
// ends in a dot unless it is the root. The parser rejects duplicate keys.
func (r *Reader) Entries(m *ast.MappingNode, path string) iter.Seq2[string, *ast.MappingValueNode] {
	return func(yield func(string, *ast.MappingValueNode) bool) {
		for _, entry := range m.Values {
			key, isText := Scalar(entry.Key)
			if !isText {
				r.Addf(entry.Key, strings.TrimSuffix(path, "."), "the key must be a plain word")
			} else if !yield(key, entry) {
				return
			}
		}
	}
}

// Elements iterates over the elements of a list by path.
func (r *Reader) Elements(n ast.Node, path string) iter.Seq2[string, ast.Node] {
	return func(yield func(string, ast.Node) bool) {
		list, isList := n.(*ast.SequenceNode)
		if !isList {
			r.Addf(n, path, "must be a list; write each value on its own line after a dash, or all in [ ]")
			return
		}
		for i, element := range list.Values {
			if !yield(Index(path, i), element) {
				return
			}
		}
	}
}

// Texts returns the elements of a list of scalars as text.
func (r *Reader) Texts(n ast.Node, path string) []string {
	var texts []string
	for here, element := range r.Elements(n, path) {
		text, ok := Scalar(element)
		if !ok {
			r.Addf(element, here, "must be a single value, not %s (quote a text that contains a colon or a comma)", Kind(element))
			continue
		}
		texts = append(texts, text)
	}
	return texts
}
