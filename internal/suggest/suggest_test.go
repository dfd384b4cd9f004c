package suggest

import "testing"

func TestNearest(t *testing.T) {
	candidates := []string{"store", "item", "month", "bottles"}
	for _, tc := range []struct{ name, want string }{
		{"botles", "bottles"},
		{"Store", "store"},
		{"itme", "item"},
		{"tmei", ""}, // too far
		{"itm", "item"},
		{"price", ""},
		{"", ""},
	} {
		if got := Nearest(tc.name, candidates); got != tc.want {
			t.Errorf("Nearest(%q) = %q, want %q", tc.name, got, tc.want)
		}
	}
	if got := Hint("botles", candidates); got != ` (did you mean "bottles"?)` {
		t.Errorf("Hint = %q", got)
	}
}
