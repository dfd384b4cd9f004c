package spec

import (
	"encoding"
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
// messages. Parse checks keys, types and the version. Everything that is wrong is
// returned as Problems with lines and columns. Deprecated keys and values are replaced,
// with one warning each. Fields that are not given stay zero: override them if
// necessary, then call Fill and Validate.
func Parse(data []byte, name string) (s Spec, warnings []string, err error) {
	r := specReader{Reader: specfile.Reader{File: name, Kind: "specification", Remedy: "it needs at least version: 1 and the section data"}}
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
	return s, r.warnings, nil
}

// A specReader fills a Spec from a syntax tree.
type specReader struct {
	specfile.Reader
	warnings []string // about deprecated keys and values
}

func (r *specReader) warnf(n ast.Node, format string, args ...any) {
	r.warnings = append(r.warnings, fmt.Sprintf("%s:%d: ", r.File, n.GetToken().Position.Line)+fmt.Sprintf(format, args...))
}

// key returns today's spelling of a key, with a warning for a deprecated one. The
// section is "" or ends in a dot. written has the spelling of each key of the section
// so far, by today's. A field that is given in both spellings is a problem.
func (r *specReader) key(n ast.Node, section, key string, written map[string]string) string {
	today := currentKey(section, key)
	if today != key {
		r.warnf(n, "%s%s is deprecated; use %s%s", section, key, section, today)
	}
	if first, again := written[today]; again {
		r.Addf(n, section+today, "%s%s and %s%s are the same field; keep one", section, first, section, key)
	}
	written[today] = key
	return today
}

// value returns today's spelling of a value, with a warning for a deprecated one.
func (r *specReader) value(n ast.Node, path, value string) string {
	today := currentValue(path, value)
	if today != value {
		r.warnf(n, "%s: %s is deprecated; use %s", path, value, today)
	}
	return today
}

// version checks the version first, because a specification of a newer version may have
// keys that this package does not know.
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
	written := map[string]string{}
	for key, entry := range r.Entries(m, path) {
		key = r.key(entry.Key, path, key, written)
		if field, known := fields[key]; known {
			r.field(entry.Value, path+key, field)
		} else {
			r.Addf(entry.Key, path+key, "unknown key%s", keyHint(key, keys))
		}
	}
}

// keyHint suggests the most similar key of the section, or another section that has the
// key, or lists all keys.
func keyHint(key string, keys []string) string {
	if hint := suggest.Hint(key, keys); hint != "" {
		return hint
	}
	for tag, v := range fieldsOf(reflect.ValueOf(Spec{})) {
		if tag.key == key {
			return " here; it belongs to the top level"
		}
		if !isSection(v) {
			continue
		}
		for inner := range fieldsOf(v) {
			if inner.key == key {
				return fmt.Sprintf(" here; it belongs to section %s", tag.key)
			}
		}
	}
	return "; the keys are " + strings.Join(keys, ", ")
}

// field fills one field from a node. A key without a value is the same as no key.
func (r *specReader) field(n ast.Node, path string, field reflect.Value) {
	if _, isNull := n.(*ast.NullNode); isNull {
		return
	}
	if isSection(field) {
		if m := specfile.Mapping(n); m != nil {
			r.section(m, path+".", field)
			return
		}
		r.Addf(n, path, "must be a section with indented keys")
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
		*f = r.value(n, path, text)
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
	case encoding.TextUnmarshaler: // Lambda, Variance, PriorMean
		if err := f.UnmarshalText([]byte(text)); err != nil {
			r.Addf(n, path, "%v", err)
		}
	default:
		panic(fmt.Sprintf("spec: field %s has the unsupported type %s", path, field.Type()))
	}
}
