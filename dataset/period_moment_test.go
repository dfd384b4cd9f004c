package dataset

import (
	"slices"
	"testing"
	"time"
)

func TestMomentOfSixDigits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode string
		ids  []string
		want string // moment of the first id
	}{
		{"week", []string{"202101", "202113"}, "2021-01-04"},
		{"yearweek", []string{"202053", "202101"}, "2020-12-28"},
		{"month", []string{"202101", "202112"}, "2021-01-01"},
	} {
		m, err := ParseMode(c.mode)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := m.WithIDDates(c.ids).MomentOfID(c.ids[0]); !ok || got.Format(time.DateOnly) != c.want {
			t.Errorf("%s %q: got %v, %v, want %s", c.mode, c.ids, got, ok, c.want)
		}
	}
}

func TestMomentOfHalfClock(t *testing.T) {
	t.Parallel()
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
