package forecast

import (
	"slices"
	"testing"
)

func TestSplitIDs(t *testing.T) {
	t.Parallel()
	known := []string{`Müller, "Süd"`, "a", "a,b", "c", "d,e,f"}
	for list, want := range map[string][]string{
		`Müller, "Süd"`:      {`Müller, "Süd"`},
		`c, Müller, "Süd",a`: {"c", `Müller, "Süd"`, "a"},
		"a,b,c":              {"a,b", "c"},
		"b,a":                {"b", "a"},
		"a,c,":               {"a", "c", ""},
		"d,e,f,d,e":          {"d,e,f", "d", "e"},
	} {
		if got := splitIDs(list, known); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", list, got, want)
		}
	}
}
