package sideinfo

import "testing"

func TestYearOf(t *testing.T) {
	for _, c := range []struct {
		text string
		year float64
		ok   bool
	}{
		{"Toy Story (1995)", 1995, true},
		{" Babylon 5 (1998) ", 1998, true},
		{"2001: A Space Odyssey (1968)", 1968, true},
		{"Fast (and) Furious", 0, false},
		{"(95)", 0, false},
		{"Untitled (abcd)", 0, false},
		{"1995", 0, false},
		{"", 0, false},
	} {
		if year, ok := yearOf(c.text); ok != c.ok || ok && year != c.year {
			t.Errorf("yearOf(%q) = %v, %v, want %v, %v", c.text, year, ok, c.year, c.ok)
		}
	}
}

// Titles are taken for their year if almost all of them have one. A title without one is
// a missing value.
func TestGuessYear(t *testing.T) {
	titles := make([]string, 20)
	for i := range titles {
		titles[i] = "A film (19" + string(rune('0'+i%10)) + "5)"
	}
	titles[3] = "A film without a year"
	if got, notice := guessType("title", titles, func(int) string { return "" }); got != Year || notice != "" {
		t.Errorf("guessed %q, %q, want year", got, notice)
	}
	titles[5], titles[7] = "B", "C"
	if got, _ := guessType("title", titles, func(int) string { return "" }); got != Cat {
		t.Errorf("guessed %q, want cat", got)
	}
	if !Year.missing(titles[3]) || Year.missing(titles[0]) {
		t.Error("a title without a year must count as missing, and only that")
	}
}
