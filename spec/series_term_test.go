package spec

import (
	"strings"
	"testing"
)

func TestReadableTerms(t *testing.T) {
	t.Parallel()
	exact := "series(store; time; walk, ar, season=52.17857142857143) + store,time:4"
	if got, want := ReadableTerms(exact), "series(store; time; walk, ar, season=52.18) + store,time:4"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := ReadableTerms("series(; t; season=12)"); got != "series(; t; season=12)" {
		t.Errorf("got %q, want a whole number as it is", got)
	}
	if term, err := ParseTerm("series(store; time; walk, ar, scale)", []string{"store", "time"}); err != nil || !term.Series.Scale || term.String() != "series(store; time; walk, ar, scale)" {
		t.Errorf("got %v, %v, want a scale", term, err)
	}
	if _, err := ParseTerm("store,along(time; walk, scale):2", []string{"store", "time"}); err == nil || !strings.Contains(err.Error(), "no scale") {
		t.Errorf("got %v, want a core along time without a scale", err)
	}
	term, err := ParseTerm("series(; time; season=52.17857142857143)", []string{"time"})
	if err != nil || term.Series.Periods[0] != 52.17857142857143 || !strings.Contains(term.String(), "season=52.17857142857143") {
		t.Errorf("got %v, %v, want the text of a term to keep all digits", term, err)
	}
}
