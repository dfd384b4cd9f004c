package calendar

import (
	"testing"
	"time"
)

func TestMinutes(t *testing.T) {
	t.Parallel()
	at := time.Date(2024, 12, 31, 23, 55, 3, 0, time.UTC)
	for name, want := range map[string]string{"date10min": "2024-12-31 23:50", "near10min": "2025-01-01 00:00", "date60min": "2024-12-31 23:00", "near1min": "2024-12-31 23:55"} {
		f := ByName(name)
		if f == nil {
			t.Fatalf("%s is no function", name)
		}
		if got := string(f(nil, at)); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"date7min", "near0min", "date-5min", "near1440min", "datemin", "date05min", "min", "date10"} {
		if ByName(name) != nil {
			t.Errorf("%s is a function", name)
		}
	}
}
