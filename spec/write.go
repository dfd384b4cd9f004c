package spec

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// commentColumn is where comments start, unless the value is longer.
const commentColumn = 30

// YAML returns the full specification with defaults and one comment per key. Parse
// reads it back as the same, filled, Spec.
func (s Spec) YAML() []byte {
	s.Fill()
	var b strings.Builder
	b.WriteString("# Specification of a kft model.\n")
	writeSection(&b, "", reflect.ValueOf(s))
	return []byte(b.String())
}

// BriefYAML returns the fields that are neither empty nor the default, with one comment
// per key. Parse and Fill make the same specification of it. A field that is not
// written can be overridden together with those on which its default depends, as
// fit.solver with uncertainty.inference.
func (s Spec) BriefYAML() []byte {
	s.Version = Version
	defaults := Spec{Terms: s.Terms, Side: Side{Tables: s.Side.Tables}, Uncertainty: Uncertainty{Inference: s.Uncertainty.Inference}}
	defaults.Fill()
	defaults.Side.Tables, defaults.Uncertainty.Inference = nil, Default().Uncertainty.Inference
	if defaults.Automatic() {
		defaults.Uncertainty.Inference = Auto
	}
	defaults.Terms = []string{Auto}
	var b strings.Builder
	writeGiven(&b, "", reflect.ValueOf(s), reflect.ValueOf(defaults))
	return []byte(strings.TrimLeft(b.String(), "\n"))
}

// writeGiven writes the fields of a section that differ from the defaults.
func writeGiven(b *strings.Builder, indent string, section, defaults reflect.Value) {
	for i := range section.NumField() {
		field := section.Field(i)
		tag := section.Type().Field(i).Tag
		key, doc := tag.Get("yaml"), tag.Get("doc")
		if isSection(field) {
			var inner strings.Builder
			writeGiven(&inner, indent+"  ", field, defaults.Field(i))
			if inner.Len() > 0 {
				b.WriteString("\n")
				writeLine(b, indent+key+":", doc)
				b.WriteString(inner.String() + "\n")
			}
			continue
		}
		if key != "version" && (field.IsZero() || reflect.DeepEqual(field.Interface(), defaults.Field(i).Interface())) {
			continue
		}
		writeField(b, indent, key, doc, field)
	}
}

// JSON returns the full specification with defaults, on one line.
func (s Spec) JSON() []byte {
	s.Fill()
	for _, list := range []*[]string{&s.Terms, &s.Data.Files, &s.Data.Modes, &s.Side.Tables, &s.Side.Kernels} {
		*list = notNil(*list)
	}
	text, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("spec: %v", err)) // a NaN or infinite number, which Validate reports
	}
	return text
}

// notNil returns an empty list for nil, so that JSON has [] instead of null.
func notNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func writeSection(b *strings.Builder, indent string, section reflect.Value) {
	for tag, v := range fieldsOf(section) {
		key := indent + tag.key + ":"
		if isSection(v) {
			if !strings.HasSuffix(b.String(), "\n\n") {
				b.WriteString("\n")
			}
			writeLine(b, key, tag.doc)
			writeSection(b, indent+"  ", v)
			b.WriteString("\n")
			continue
		}
		writeField(b, indent, tag.key, tag.doc, v)
	}
}

// writeField writes a field that is not a section.
func writeField(b *strings.Builder, indent, name, doc string, v reflect.Value) {
	key := indent + name + ":"
	switch value := v.Interface().(type) {
	case []string:
		if len(value) == 0 {
			writeLine(b, key+" []", doc)
			return
		}
		writeLine(b, key, doc)
		for _, text := range value {
			b.WriteString(indent + "  - " + quoteYAML(text) + "\n")
		}
	case Search:
		value.write(b, key, doc)
	case string:
		writeLine(b, key+" "+quoteYAML(value), doc)
	default: // numbers, and lambda
		writeLine(b, fmt.Sprintf("%s %v", key, value), doc)
	}
}

func writeLine(b *strings.Builder, text, comment string) {
	fmt.Fprintf(b, "%-*s # %s\n", commentColumn-1, text, comment)
}

// plainYAML matches text that every YAML reader takes for a string: it starts with a
// letter and contains nothing that could be syntax.
var plainYAML = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./+=()-]*$`)

// notPlain matches words that some YAML readers take for another type.
var notPlain = regexp.MustCompile(`^(?i:true|false|yes|no|on|off|null|y|n|nan|inf)$`)

// quoteYAML returns text as a YAML scalar: plain if that is safe, single-quoted if the
// text is printable, otherwise double-quoted with escapes.
func quoteYAML(text string) string {
	switch {
	case plainYAML.MatchString(text) && !notPlain.MatchString(text):
		return text
	case text != "" && isPrintable(text):
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	return strconv.QuoteToASCII(text) // YAML has the same escapes
}

func isPrintable(text string) bool {
	for _, r := range text {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return false
		}
	}
	return true
}
