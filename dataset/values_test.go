package dataset

import (
	"fmt"
	"testing"
)

func TestValues(t *testing.T) {
	for text, want := range map[string]bool{"": true, "NA": true, "nan": true, "NULL": true, "N": false, "none": false} {
		if Missing(text) != want {
			t.Errorf("Missing(%q) is %v", text, !want)
		}
	}
	for text, want := range map[string]float64{"42.517182": 42.517182, "-1e3": -1000, "0.1": 0.1} {
		if got, ok := Number(text); !ok || got != want {
			t.Errorf("Number(%q) = %v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "x", "Inf", "NA", "0x10", "1_000", "1e400"} {
		if got, ok := Number(text); ok {
			t.Errorf("Number(%q) = %v", text, got)
		}
	}
	if m, ok := Moment("10/01/2016"); !ok || fmt.Sprint(m.Date()) != "2016 October 1" {
		t.Errorf("Moment gives %v, %v", m, ok)
	} else if month, ok := Calendar("month", m); !ok || month != "10" {
		t.Errorf("the month is %q, %v", month, ok)
	} else if _, ok := Calendar("era", m); ok {
		t.Error("there is an era")
	}
}
