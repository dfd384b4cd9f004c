package spec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/kernel-fried-tensor/kft/internal/specfile"
)

// A Search says what a search varies, by the names of its parameters: one
// value or several to choose from, a range such as 4..64, or fixed. It is about
// searches alone: fits take no notice of it, and which names there are is
// theirs to say.
type Search map[string][]string

// search reads the section, one value of which may stand without brackets, over
// what was there before.
func (r *specReader) search(n ast.Node, path string, before Search) Search {
	m := specfile.Mapping(n)
	if m == nil {
		r.Addf(n, path, "needs parameters below it, indented, such as rank.1: 4..64")
		return nil
	}
	s := Search{}
	for name, entry := range r.Entries(m, path+".") {
		if name == "" {
			r.Addf(entry.Key, path, "the key must be a plain word")
			continue
		}
		name = r.key(entry.Key, path+".", name)
		if text, one := specfile.Scalar(entry.Value); one {
			s[name] = []string{text}
			continue
		}
		if s[name] = r.Texts(entry.Value, path+"."+name); len(s[name]) == 0 {
			r.Addf(entry.Value, path+"."+name, "needs values: one, some in [ ], a range such as 4..64, or fixed")
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

// write writes the section; without parameters there is none.
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
