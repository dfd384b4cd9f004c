package model

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/kernel-fried-tensor/kft/internal/nearest"
)

// maxSpecBytes bounds a specification; a real one has a few kilobytes, and a
// table given by mistake may have gigabytes.
const maxSpecBytes = 64 << 10

// maxNesting bounds how deep brackets are nested: the parser's time grows with
// the square of it, and a specification has two levels.
const maxNesting = 32

// Parse reads a specification in YAML, or in JSON, which is a part of it; name
// is the file's, for messages. It checks keys, types and the version, and
// reports all that is wrong as Problems with their places. What was not given
// stays zero: set what flags override, then call Fill and Validate.
func Parse(data []byte, name string) (Spec, error) {
	r := specReader{file: name}
	root, err := r.root(data)
	if err != nil {
		return Spec{}, err
	}
	if !r.version(root) {
		return Spec{}, r.problems.err()
	}
	var s Spec
	r.section(root, "", reflect.ValueOf(&s).Elem())
	if len(r.problems) > 0 {
		return Spec{}, r.problems.err()
	}
	return s, nil
}

// A specReader fills a Spec from a syntax tree and collects what is wrong. It
// takes the text of every scalar as it was written, so that a column called
// 007 or true stays that.
type specReader struct {
	file     string
	problems Problems
}

func (r *specReader) addf(n ast.Node, path, format string, args ...any) {
	p := Problem{File: r.file, Path: path, Message: fmt.Sprintf(format, args...)}
	if n != nil && n.GetToken() != nil {
		p.Line, p.Column = n.GetToken().Position.Line, n.GetToken().Position.Column
	}
	r.problems = append(r.problems, p)
}

// root parses the text and returns its only document's mapping.
func (r *specReader) root(data []byte) (*ast.MappingNode, error) {
	fail := func(n ast.Node, format string, args ...any) (*ast.MappingNode, error) {
		r.addf(n, "", format, args...)
		return nil, r.problems.err()
	}
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return fail(nil, "the specification is empty; kft init TABLE writes one")
	case len(data) > maxSpecBytes:
		return fail(nil, "%d bytes are too many for a specification (at most %d); is this another file?", len(data), maxSpecBytes)
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
			return nil, Problems{{File: r.file, Line: at.Line, Column: at.Column, Message: "not YAML: " + syntax.GetMessage()}}
		}
		return fail(nil, "not YAML: %v", err)
	}
	var body ast.Node
	for _, doc := range file.Docs {
		switch {
		case doc.Body == nil:
		case body != nil:
			return fail(doc.Body, "a second document; a specification is one")
		default:
			body = doc.Body
		}
	}
	if body == nil {
		return fail(nil, "the specification is empty; kft init TABLE writes one")
	}
	root := mapping(body)
	if root == nil {
		return fail(body, "a specification is made of lines key: value, such as version: %d", Version)
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

// version checks the version before all else: a newer specification may have
// keys this package does not know.
func (r *specReader) version(root *ast.MappingNode) bool {
	for _, entry := range root.Values {
		if key, ok := scalarText(entry.Key); !ok || key != "version" {
			continue
		}
		if text, _ := scalarText(entry.Value); text != strconv.Itoa(Version) {
			r.addf(entry.Value, "version", "%s", wrongVersion(text))
			return false
		}
		return true
	}
	r.addf(root, "version", "missing; write version: %d", Version)
	return false
}

// section fills a struct from a mapping.
func (r *specReader) section(m *ast.MappingNode, path string, section reflect.Value) {
	fields := map[string]reflect.Value{}
	var keys []string
	for tag, v := range fieldsOf(section) {
		fields[tag.key] = v
		keys = append(keys, tag.key)
	}
	seen := map[string]bool{}
	for _, entry := range m.Values {
		key, isText := scalarText(entry.Key)
		field, known := fields[key]
		switch {
		case !isText:
			r.addf(entry.Key, path, "a key must be a plain word")
		case !known:
			r.addf(entry.Key, path+key, "unknown key%s", keyHint(key, keys))
		case seen[key]:
			r.addf(entry.Key, path+key, "given twice")
		default:
			seen[key] = true
			r.field(entry.Value, path+key, field)
		}
	}
}

// keyHint names the nearest key here, or another section that has the key.
func keyHint(key string, keys []string) string {
	if hint := nearest.Hint(key, keys); hint != "" {
		return hint
	}
	for tag, v := range fieldsOf(reflect.ValueOf(Spec{})) {
		if tag.key == key {
			return " here; it belongs at the top"
		}
		if !isSection(v) {
			continue
		}
		for inner := range fieldsOf(v) {
			if inner.key == key {
				return fmt.Sprintf(" here; it belongs under %s", tag.key)
			}
		}
	}
	return "; there are " + strings.Join(keys, ", ")
}

// field fills one field from a node. No value is as good as no key.
func (r *specReader) field(n ast.Node, path string, field reflect.Value) {
	if _, isNull := n.(*ast.NullNode); isNull {
		return
	}
	if isSection(field) {
		if m := mapping(n); m != nil {
			r.section(m, path+".", field)
			return
		}
		r.addf(n, path, "needs keys below it, indented")
		return
	}
	if list, isList := field.Addr().Interface().(*[]string); isList {
		*list = r.list(n, path)
		return
	}
	if search, isSearch := field.Addr().Interface().(*SearchSpec); isSearch {
		*search = r.search(n, path, *search)
		return
	}
	text, ok := scalarText(n)
	if !ok {
		r.addf(n, path, "needs one value, not %s", kindOf(n))
		return
	}
	switch f := field.Addr().Interface().(type) {
	case *string:
		*f = text
	case *int:
		v, err := strconv.Atoi(text)
		if err != nil || v < 1 {
			r.addf(n, path, "%q is not a whole number, 1 or more", text)
		}
		*f = v
	case *uint64:
		v, err := strconv.ParseUint(text, 10, 64)
		if err != nil || v < 1 {
			r.addf(n, path, "%q is not a whole number, 1 or more", text)
		}
		*f = v
	case *float64:
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v > 0) || math.IsInf(v, 1) {
			r.addf(n, path, "%q is not a number above 0", text)
		}
		*f = v
	case *Lambda:
		if err := f.UnmarshalText([]byte(text)); err != nil {
			r.addf(n, path, "%v", err)
		}
	default:
		panic(fmt.Sprintf("model: %s has type %s, which the reader does not know", path, field.Type()))
	}
}

func (r *specReader) list(n ast.Node, path string) []string {
	seq, isSequence := n.(*ast.SequenceNode)
	if !isSequence {
		r.addf(n, path, "is a list; write each value on a line of its own after a dash, or all in [ ]")
		return nil
	}
	var list []string
	for i, item := range seq.Values {
		text, ok := scalarText(item)
		if !ok {
			r.addf(item, index(path, i), "needs one value, not %s (a text with a colon or a comma needs quotes)", kindOf(item))
			continue
		}
		list = append(list, text)
	}
	return list
}

// mapping is n as a mapping, or nil. The parser makes a node of its own of a
// mapping with one entry.
func mapping(n ast.Node) *ast.MappingNode {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n
	case *ast.MappingValueNode:
		return &ast.MappingNode{BaseNode: n.BaseNode, Start: n.Start, Values: []*ast.MappingValueNode{n}}
	}
	return nil
}

// scalarText is the text of a scalar: what was written, or what the quotes
// stand for. Anchors, aliases, merges and tags are none: a specification says
// everything in place.
func scalarText(n ast.Node) (string, bool) {
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

func kindOf(n ast.Node) string {
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
