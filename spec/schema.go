package spec

import (
	"iter"
	"reflect"
)

// fieldsOf yields the tag and the value of every field of a section, in the order of
// the struct.
func fieldsOf(section reflect.Value) iter.Seq2[fieldTag, reflect.Value] {
	return func(yield func(fieldTag, reflect.Value) bool) {
		for i := range section.NumField() {
			tag := section.Type().Field(i).Tag
			if !yield(fieldTag{key: tag.Get("yaml"), doc: tag.Get("doc")}, section.Field(i)) {
				return
			}
		}
	}
}

// A fieldTag is the key and the comment of a field.
type fieldTag struct{ key, doc string }

// isSection reports whether a field is a group of keys rather than a value.
func isSection(v reflect.Value) bool {
	switch v.Interface().(type) {
	case Data, Side, Uncertainty, Fit:
		return true
	}
	return false
}

// texts yields every string of the specification with its path.
func (s Spec) texts() iter.Seq2[string, string] {
	return func(yield func(path, text string) bool) {
		walkTexts(reflect.ValueOf(s), "", yield)
	}
}

func walkTexts(section reflect.Value, path string, yield func(path, text string) bool) bool {
	for tag, v := range fieldsOf(section) {
		here := path + tag.key
		switch value := v.Interface().(type) {
		case string:
			if !yield(here, value) {
				return false
			}
		case []string:
			if !walkList(here, value, yield) {
				return false
			}
		case Search:
			if !value.walkTexts(here, yield) {
				return false
			}
		default:
			if isSection(v) && !walkTexts(v, here+".", yield) {
				return false
			}
		}
	}
	return true
}
