package words

import (
	"slices"
	"testing"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"Bushmills 750ml w/Black Bush 50ml": {"bushmills", "ml", "black", "bush"},
		"Köstritzer, KÖSTRITZER 0.5 l":      {"köstritzer"},
		"":                                  nil,
		"12 / 3":                            nil,
	} {
		if got := Split(text); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		texts []string
		want  bool
	}{
		{[]string{"red vodka", "blue vodka", "red gin", "old gin"}, true},
		{[]string{"vodka red", "vodka red", "gin old", "gin old"}, false}, // categories
		{[]string{"Ames", "Boone", "Nevada", "Story City"}, false},        // one word
		{[]string{"a b", "c d"}, false},
		{[]string{"main road", "lake view", "old mill"}, false}, // nothing shared
		{nil, false},
	} {
		if got := Describe(c.texts); got != c.want {
			t.Errorf("%q: got %v", c.texts, got)
		}
	}
}
