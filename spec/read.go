package spec

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/kernel-fried-tensor/kft/internal/specfile"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
)

// Parse reads a specification in YAML or JSON. The name is that of the file, for
// messages. Parse checks keys, types and the version, and returns everything that
// is wrong as Problems with their places. The warnings name deprecated keys and
// values, which are replaced. Fields that are not given stay zero: override them
// if necessary, then call Fill and Validate.
func Parse(data []byte, name string) (s Spec, warnings []string, err error) {
	r := specReader{Reader: specfile.Reader{File: name, Kind: "specification", Remedy: "kft init TABLE writes one"}}
	root, err := r.Root(data)
	if err != nil {
		return Spec{}, nil, err
	}
	if !r.version(root) {
		return Spec{}, nil, r.Problems.Err()
	}
	r.section(root, "", reflect.ValueOf(&s).Elem())
	if len(r.Problems) > 0 {
		return Spec{}, nil, r.Problems.Err()
	}
	for _, w := range s.ReplaceDeprecated() {
		r.warnings = append(r.warnings, name+": "+w)
	}
	return s, r.warnings, nil
}

// A specReader fills a Spec from a syntax tree.
type specReader struct {
	specfile.Reader
	warnings []string // about deprecated keys
}

// key returns today's name of a key.
func (r *specReader) key(n ast.Node, section, key string) string {
	today, deprecated := todayKey(section, key)
	if deprecated {
		r.warnings = append(r.warnings, fmt.Sprintf("%s:%d: %s%s is deprecated; use %s%s", r.File, n.GetToken().Position.Line, section, key, section, today))
	}
	return today
}

// version checks the version before all else: a newer specification may have
// keys this package does not know.
func (r *specReader) version(root *ast.MappingNode) bool {
	for _, entry := range root.Values {
		if key, ok := specfile.Scalar(entry.Key); !ok || key != "version" {
			continue
		}
		if text, _ := specfile.Scalar(entry.Value); text != strconv.Itoa(Version) {
			r.Addf(entry.Value, "version", "%s", wrongVersion(text))
			return false
		}
		return true
	}
	r.Addf(root, "version", "missing; write version: %d", Version)
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
	for key, entry := range r.Entries(m, path) {
		key = r.key(entry.Key, path, key)
		if field, known := fields[key]; known {
			r.field(entry.Value, path+key, field)
		} else {
			r.Addf(entry.Key, path+key, "unknown key%s", keyHint(key, keys))
		}
	}
}

// keyHint names the nearest key here, or another section that has the key.
func keyHint(key string, keys []string) string {
	if hint := suggest.Hint(key, keys); hint != "" {
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
		if m := specfile.Mapping(n); m != nil {
			r.section(m, path+".", field)
			return
		}
		r.Addf(n, path, "needs keys below it, indented")
		return
	}
	if list, isList := field.Addr().Interface().(*[]string); isList {
		*list = r.Texts(n, path)
		return
	}
	if search, isSearch := field.Addr().Interface().(*Search); isSearch {
		*search = r.search(n, path, *search)
		return
	}
	text, ok := specfile.Scalar(n)
	if !ok {
		r.Addf(n, path, "must be a single value, not %s", specfile.Kind(n))
		return
	}
	switch f := field.Addr().Interface().(type) {
	case *string:
		*f = text
	case *int:
		v, err := strconv.Atoi(text)
		if err != nil || v < 1 {
			r.Addf(n, path, "%q is not a whole number, 1 or more", text)
		}
		*f = v
	case *uint64:
		v, err := strconv.ParseUint(text, 10, 64)
		if err != nil || v < 1 {
			r.Addf(n, path, "%q is not a whole number, 1 or more", text)
		}
		*f = v
	case *float64:
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v > 0) || math.IsInf(v, 1) {
			r.Addf(n, path, "%q is not a number above 0", text)
		}
		*f = v
	case *Lambda:
		if err := f.UnmarshalText([]byte(text)); err != nil {
			r.Addf(n, path, "%v", err)
		}
	default:
		panic(fmt.Sprintf("model: %s has type %s, which the reader does not know", path, field.Type()))
	}
}
