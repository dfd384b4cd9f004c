package timepart

import (
	"slices"
	"testing"
)

func TestHalfClock(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]float64{"9:30 PM": {21, 30}, "12:00 AM": {0, 0}, "12:15:30 p.m.": {12, 15, 30}, "01am": {1}, "11 PM": {23}, "13:00 PM": nil, "0:30 AM": nil, "9:75 AM": nil, "9:30": nil, "9:30 XM": nil, "AM": nil} {
		if got, ok := HalfClock(text); ok != (want != nil) || !slices.Equal(got, want) {
			t.Errorf("%q: got %v, %v, want %v", text, got, ok, want)
		}
	}
}

func TestAreClocks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		texts []string
		want  bool
	}{
		{[]string{"9:30", "09:30:00"}, true}, {[]string{"9:30 PM", "1:00 am"}, true}, {[]string{"9:30", "9:75"}, false}, {[]string{"9:30 PM", "10 PM"}, false}, {nil, false},
	} {
		if got := AreClocks(c.texts); got != c.want {
			t.Errorf("%q: got %v, want %v", c.texts, got, c.want)
		}
	}
}
