package specfile

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxBytes limits the size of a specification. A real one has a few kilobytes, and
// a table passed by mistake may have gigabytes.
const maxBytes = 64 << 10

// maxNesting limits the nesting of brackets: the time of the parser grows with its
// square, and a specification needs two levels.
const maxNesting = 32

// Root parses the text and returns the mapping of its only document. It rejects
// texts that are too large or nested too deeply.
func (r *Reader) Root(data []byte) (*ast.MappingNode, error) {
	fail := func(n ast.Node, format string, args ...any) (*ast.MappingNode, error) {
		r.Addf(n, "", format, args...)
		return nil, r.Problems
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // byte order mark of some editors
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return fail(nil, "the %s is empty; %s", r.Kind, r.Remedy)
	case len(data) > maxBytes:
		return fail(nil, "%d bytes exceed the maximum of %d for a file of kind %s; check the file name", len(data), maxBytes, r.Kind)
	case !utf8.Valid(data):
		return fail(nil, "not UTF-8 text; check the file name")
	case nesting(data) > maxNesting:
		return fail(nil, "brackets are nested more than %d levels deep; check the file name", maxNesting)
	}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		var syntax yaml.Error
		if errors.As(err, &syntax) && syntax.GetToken() != nil {
			at := syntax.GetToken().Position
			return nil, Problems{{File: r.File, Line: at.Line, Column: at.Column, Message: "not valid YAML: " + syntax.GetMessage()}}
		}
		return fail(nil, "not valid YAML: %v", err)
	}
	var body ast.Node
	for _, doc := range file.Docs {
		switch {
		case doc.Body == nil:
		case body != nil:
			return fail(doc.Body, "a second document; the %s must be a single document", r.Kind)
		default:
			body = doc.Body
		}
	}
	if body == nil {
		return fail(nil, "the %s is empty; %s", r.Kind, r.Remedy)
	}
	root := Mapping(body)
	if root == nil {
		return fail(body, "not a mapping; write lines of the form key: value, such as version: 1")
	}
	return root, nil
}

// nesting returns the maximum number of open brackets, including quoted ones.
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

// Mapping returns n as a mapping, or nil. The parser represents a mapping with one
// entry by a separate node type.
func Mapping(n ast.Node) *ast.MappingNode {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n
	case *ast.MappingValueNode:
		return &ast.MappingNode{BaseNode: n.BaseNode, Start: n.Start, Values: []*ast.MappingValueNode{n}}
	}
	return nil
}

// Scalar returns the text of a scalar: as written, or the content of the quotes, so
// that a column named 007 or true keeps its name. Anchors, aliases, merges and tags
// are not scalars: they are not supported.
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

// Kind describes a node that is not a single value.
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
