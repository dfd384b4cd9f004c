package fieldtext

import (
	"strings"
	"testing"
)

func TestSeveralLines(t *testing.T) {
	t.Parallel()
	comment := "a laptop was stolen from a car\n" + strings.Repeat("and nobody knows by whom ", 4)
	for _, c := range []struct {
		texts []string
		want  bool
	}{
		{[]string{"North", "South", "Old\ntown"}, false},
		{[]string{"North\n1", "South\n2", "Old town"}, true},
		{[]string{"lost", "stolen", "none", comment}, true},
		{[]string{strings.Repeat("North ", 30)}, false},
		{nil, false},
	} {
		if got := SeveralLines(c.texts); got != c.want {
			t.Errorf("%q: got %t, want %t", c.texts, got, c.want)
		}
	}
}
