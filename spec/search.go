package spec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/kernel-fried-tensor/kft/internal/specfile"
)

// A Search requests what tuning varies. By parameter name, it has one value or several
// to choose from, a range such as 4..64, or the word fixed. A fit ignores it. Package
// search defines the parameters and checks their names.
type Search map[string][]string

// clone returns a copy that shares no memory with s.
func (s Search) clone() Search {
	c := maps.Clone(s)
	for name, values := range c {
		c[name] = slices.Clone(values)
	}
	return c
}

// search reads the section on top of what was there before. A single value needs no
// brackets.
func (r *specReader) search(n ast.Node, path string, before Search) Search {
	m := specfile.Mapping(n)
	if m == nil {
		r.Addf(n, path, "must be a section with indented parameters, such as rank.1: 4..64")
		return nil
	}
	s, written := Search{}, map[string]string{}
	for name, entry := range r.Entries(m, path+".") {
		if name == "" {
			r.Addf(entry.Key, path, "the key is empty; write the name of a parameter")
			continue
		}
		name = r.key(entry.Key, path+".", name, written)
		here := path + "." + name
		if text, one := specfile.Scalar(entry.Value); one {
			s[name] = []string{r.value(entry.Value, here, text)}
			continue
		}
		if s[name] = r.Texts(entry.Value, here); len(s[name]) == 0 {
			r.Addf(entry.Value, here, "needs values: one, several in [ ], a range such as 4..64, or fixed")
		}
		if list, isList := entry.Value.(*ast.SequenceNode); isList && len(list.Values) == len(s[name]) {
			for i, element := range list.Values {
				s[name][i] = r.value(element, here, s[name][i])
			}
		}
	}
	for name, values := range before {
		if _, again := s[name]; !again {
			s[name] = values
		}
	}
	if len(s) == 0 {
		return nil
	}
	return s
}

// write writes the section, unless it is empty.
func (s Search) write(b *strings.Builder, key, doc string) {
	if len(s) == 0 {
		return
	}
	b.WriteString("\n")
	writeLine(b, key, doc)
	for _, name := range slices.Sorted(maps.Keys(s)) {
		var texts []string
		for _, text := range s[name] {
			texts = append(texts, quoteYAML(text))
		}
		fmt.Fprintf(b, "  %s: [%s]\n", quoteYAML(name), strings.Join(texts, ", "))
	}
}

func (s Search) walkTexts(path string, yield func(path, text string) bool) bool {
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if !yield(path, name) || !walkList(path+"."+name, s[name], yield) {
			return false
		}
	}
	return true
}

func walkList(path string, list []string, yield func(path, text string) bool) bool {
	for i, text := range list {
		if !yield(index(path, i), text) {
			return false
		}
	}
	return true
}
