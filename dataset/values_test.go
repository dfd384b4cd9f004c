package dataset

import (
	"fmt"
	"testing"
)

func TestValues(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"": true, "NA": true, "nan": true, "NULL": true, "N": false, "none": false} {
		if Missing(text) != want {
			t.Errorf("Missing(%q) = %t, want %t", text, !want, want)
		}
	}
	for text, want := range map[string]float64{"42.517182": 42.517182, "-1e3": -1000, "0.1": 0.1} {
		if got, ok := Number(text); !ok || got != want {
			t.Errorf("Number(%q) = %v, %t, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "x", "Inf", "NA", "0x10", "1_000", "1e400"} {
		if got, ok := Number(text); ok {
			t.Errorf("Number(%q) = %v, want no number", text, got)
		}
	}
	if m, ok := Moment("10/01/2016"); !ok || fmt.Sprint(m.Date()) != "2016 October 1" {
		t.Errorf("Moment(10/01/2016) = %v, %t, want 1 October 2016", m, ok)
	} else if month, ok := Calendar("month", m); !ok || month != "10" {
		t.Errorf("got month %q, %t, want 10", month, ok)
	} else if _, ok := Calendar("era", m); ok {
		t.Error("Calendar accepts the unknown function era")
	}
}
