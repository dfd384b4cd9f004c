package specfile

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxBytes bounds a specification; a real one has a few kilobytes, and a
// table given by mistake may have gigabytes.
const maxBytes = 64 << 10

// maxNesting bounds how deep brackets are nested: the parser's time grows with
// the square of it, and a specification has two levels.
const maxNesting = 32

// Root parses the text and returns its only document's mapping, as strictly as a
// person writes: no size or depth beyond that.
func (r *Reader) Root(data []byte) (*ast.MappingNode, error) {
	fail := func(n ast.Node, format string, args ...any) (*ast.MappingNode, error) {
		r.Addf(n, "", format, args...)
		return nil, r.Problems
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // some editors write a mark of UTF-8
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return fail(nil, "the %s is empty; %s", r.What, r.Make)
	case len(data) > maxBytes:
		return fail(nil, "%d bytes are too many for a file of this kind, %s (at most %d); is this another file?", len(data), r.What, maxBytes)
	case !utf8.Valid(data):
		return fail(nil, "not a text in UTF-8; is this another file?")
	case nesting(data) > maxNesting:
		return fail(nil, "brackets are nested more than %d deep; is this another file?", maxNesting)
	}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		var syntax yaml.Error
		if errors.As(err, &syntax) && syntax.GetToken() != nil {
			at := syntax.GetToken().Position
			return nil, Problems{{File: r.File, Line: at.Line, Column: at.Column, Message: "not YAML: " + syntax.GetMessage()}}
		}
		return fail(nil, "not YAML: %v", err)
	}
	var body ast.Node
	for _, doc := range file.Docs {
		switch {
		case doc.Body == nil:
		case body != nil:
			return fail(doc.Body, "a second document; the %s is one", r.What)
		default:
			body = doc.Body
		}
	}
	if body == nil {
		return fail(nil, "the %s is empty; %s", r.What, r.Make)
	}
	root := Mapping(body)
	if root == nil {
		return fail(body, "not made of lines key: value, such as version: 1")
	}
	return root, nil
}

// nesting is how many brackets are open at once, at most, quoted ones included.
func nesting(data []byte) int {
	depth, deepest := 0, 0
	for _, c := range data {
		switch c {
		case '[', '{':
			depth++
			deepest = max(deepest, depth)
		case ']', '}':
			depth = max(0, depth-1)
		}
	}
	return deepest
}

// Mapping is n as a mapping, or nil. The parser makes a node of its own of a
// mapping with one entry.
func Mapping(n ast.Node) *ast.MappingNode {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n
	case *ast.MappingValueNode:
		return &ast.MappingNode{BaseNode: n.BaseNode, Start: n.Start, Values: []*ast.MappingValueNode{n}}
	}
	return nil
}

// Scalar is the text of a scalar: what was written, or what the quotes stand for,
// so that a column called 007 or true stays that. Anchors, aliases, merges and tags
// are none: a file says everything in place.
func Scalar(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// Kind says what a node is instead of one value.
func Kind(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "keys and values"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode:
		return "nothing"
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		return "an anchor, an alias or a tag"
	}
	return "this"
}
