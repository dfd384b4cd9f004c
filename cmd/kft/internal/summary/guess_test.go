package summary

import (
	"fmt"
	"strings"
	"testing"
)

// Of many columns those with the same reason share a line.
func TestColumnsByReason(t *testing.T) {
	t.Parallel()
	var columns [][2]string
	for i := range 20 {
		columns = append(columns, [2]string{fmt.Sprint("x", i), []string{"a quantity", "a flag"}[i/9%2]})
	}
	var b strings.Builder
	writeColumns(&b, "Left out:", columns)
	if want := "Left out:\n  x0, x1, x2, x3, x4, x5, 5 more       a quantity\n  x9, x10, x11, x12, x13, x14, 3 more  a flag\n"; b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	writeColumns(&b, "Left out:", [][2]string{{"note\n2", "a text"}, {"店", "constant"}})
	if want := "Left out:\n  note\\n2  a text\n  店       constant\n"; b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	b.Reset()
	if writeColumns(&b, "Left out:", columns[:3]); strings.Count(b.String(), "\n") != 4 {
		t.Errorf("few columns have a line each, got\n%s", b.String())
	}
}
