package nearest

import "testing"

func TestName(t *testing.T) {
	candidates := []string{"store", "item", "month", "bottles"}
	for _, tc := range []struct{ name, want string }{
		{"botles", "bottles"},
		{"Store", "store"},
		{"itme", "item"},
		{"tmei", ""}, // too far to guess
		{"itm", "item"},
		{"price", ""},
		{"", ""},
	} {
		if got := Name(tc.name, candidates); got != tc.want {
			t.Errorf("Name(%q) = %q, want %q", tc.name, got, tc.want)
		}
	}
	if got := Hint("botles", candidates); got != ` (did you mean "bottles"?)` {
		t.Errorf("Hint = %q", got)
	}
}
