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

func TestAlike(t *testing.T) {
	const encoded = "apart from how their spaces and accents are encoded"
	for _, tc := range []struct {
		ids  []string
		want string
	}{
		{[]string{"Caf\u00e9", "Cafe\u0301"}, encoded},
		{[]string{"Store 1", "Store\u00a01"}, encoded},
		{[]string{"Store  1", "Store 1"}, encoded},
		{[]string{"A1", "A\u200b1"}, encoded},
		{[]string{"Z\u00fcrich", "Zurich"}, ""},
		{[]string{"a", "A"}, "apart from upper and lower case"},
	} {
		if _, _, got, n := Alike(tc.ids); got != tc.want || (n > 0) != (tc.want != "") {
			t.Errorf("Alike(%q) = %q (%d), want %q", tc.ids, got, n, tc.want)
		}
	}
}

func TestSame(t *testing.T) {
	known := []string{"12", "S01", "FALSE", "TRUE"}
	for _, tc := range []struct {
		id, want string
		known    []string
	}{
		{"12.0", "12", known},
		{"s01", "S01", known},
		{"true", "TRUE", known},
		{"0", "FALSE", known},
		{"yes", "TRUE", known},
		{"13.0", "", known},
		{"1", "", []string{"TRUE", "yes"}}, // either
	} {
		if got := Same(tc.id, tc.known); got != tc.want {
			t.Errorf("Same(%q, %q) = %q, want %q", tc.id, tc.known, got, tc.want)
		}
	}
	if got, want := Spelling([]string{"1", "0"}, known), "apart from the words for yes and no"; got != want {
		t.Errorf("Spelling of 1 and 0 = %q, want %q", got, want)
	}
}
