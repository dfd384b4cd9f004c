package dataset

import (
	"slices"
	"testing"
	"time"
)

func TestHalfClock(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]float64{"9:30 PM": {21, 30}, "12:00 AM": {0, 0}, "12:15:30 p.m.": {12, 15, 30}, "01am": {1}, "11 PM": {23}, "13:00 PM": nil, "0:30 AM": nil, "9:75 AM": nil, "9:30": nil, "9:30 XM": nil, "AM": nil} {
		if got, ok := halfClock(text); ok != (want != nil) || !slices.Equal(got, want) {
			t.Errorf("%q: got %v, %v, want %v", text, got, ok, want)
		}
	}
	m := Mode{Name: "time", Columns: []string{"day", "clock"}}
	ids := []string{"2024-03-01-11:30 PM", "2024-03-01-1:00 AM", "2024-03-02-12:30 AM", "2024-03-01-12:00 PM"}
	c, err := m.Chronology(ids)
	if err != nil || !slices.Equal(c.Order, []int32{1, 3, 0, 2}) {
		t.Errorf("got the order %v, %v", c.Order, err)
	}
	if at, ok := m.WithIDDates(ids).MomentOfID(ids[0]); !ok || !at.Equal(time.Date(2024, 3, 1, 23, 30, 0, 0, time.UTC)) {
		t.Errorf("%s is the moment %v, %v", ids[0], at, ok)
	}
}
