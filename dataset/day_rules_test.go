package dataset

import (
	"slices"
	"testing"
	"time"
)

func TestDayRules(t *testing.T) {
	t.Parallel()
	for date, want := range map[string][]string{
		"2019-11-29": {"11-29", "11-5fri", "11-lastfri", "thanksgiving1"},
		"2024-11-28": {"11-28", "11-4thu", "11-lastthu", "thanksgiving0"},
		"2020-05-25": {"05-25", "05-4mon", "05-lastmon", "easter43"},
		"2024-04-01": {"04-01", "04-1mon", "easter1"},
		"2025-04-18": {"04-18", "04-3fri", "easter-2"},
		"2000-02-29": {"02-29", "02-5tue", "02-lasttue"},
	} {
		at, err := time.Parse(time.DateOnly, date)
		if err != nil {
			t.Fatal(err)
		}
		if got := DayRules(at); !slices.Equal(got, want) {
			t.Errorf("%s: got the rules %v, want %v", date, got, want)
		}
	}
	for year, want := range map[int]string{1961: "04-02", 1999: "04-04", 2008: "03-23", 2011: "04-24", 2024: "03-31", 2038: "04-25"} {
		if got := easter(year).Format("01-02"); got != want {
			t.Errorf("Easter Sunday of %d: got %s, want %s", year, got, want)
		}
	}
}

func TestDaysOfYear(t *testing.T) {
	t.Parallel()
	christmas := time.Date(2023, 12, 25, 18, 0, 0, 0, time.UTC) // the fourth and last Monday
	for part, want := range map[string]string{"days_12-25": "12-25", "days_01-01_12-lastmon_12-25": "12-lastmon", "days_12-24": OtherDays, "days_easter1": OtherDays} {
		if got, ok := Calendar(part, christmas); !ok || got != want {
			t.Errorf("%s: got %q, %t, want %s", part, got, ok, want)
		}
	}
	for _, part := range []string{"days_", "days_13-01", "days_12-25_", "days_12-6mon", "days_easter90", "days_christmas"} {
		if got, ok := Calendar(part, christmas); ok {
			t.Errorf("%s: got %q, want no part of the date", part, got)
		}
	}
}
