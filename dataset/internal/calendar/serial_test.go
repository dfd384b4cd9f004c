package calendar

import (
	"strconv"
	"testing"
	"time"
)

func TestAreSerials(t *testing.T) {
	t.Parallel()
	months, ends := []int{}, []int{}
	for m := range 24 {
		first := time.Date(2020, time.Month(1+m), 1, 0, 0, 0, 0, time.UTC)
		months = append(months, int(first.Sub(serialEpoch).Hours()/24))
		ends = append(ends, months[m]-1)
	}
	every := func(from, step, n int) (days []int) {
		for i := range n {
			days = append(days, from+i*step)
		}
		return days
	}
	open := []int{}
	for _, d := range every(45292, 1, 100) {
		if d%7 != 1 { // Sundays
			open = append(open, d)
		}
	}
	for _, c := range []struct {
		name string
		days []int
		want bool
	}{
		{"days", every(45292, 1, 30), true},
		{"days but Sundays", open, true},
		{"weeks", every(45292, 7, 30), true},
		{"first days of months", months, true},
		{"last days of months", ends, true},
		{"few days", every(45292, 1, 7), false},
		{"hundreds", every(30000, 100, 30), false},
		{"every third", every(45292, 3, 30), false},
		{"small numbers", every(1000, 1, 30), false},
		{"large numbers", every(59990, 1, 30), false},
	} {
		var texts []string
		for _, d := range c.days {
			texts = append(texts, strconv.Itoa(d))
		}
		if got := AreSerials(texts); got != c.want {
			t.Errorf("%s: got %t, want %t", c.name, got, c.want)
		}
	}
	for text, want := range map[string]string{"45292": "2024-01-01 00:00", "45292.75": "2024-01-01 18:00", "43466.0": "2019-01-01 00:00", "45x92": "", "452": "", "99999": "", "NaN": "", "1e999": ""} {
		got, ok := Serial.Parse([]byte(text))
		if ok != (want != "") || ok && got.Format("2006-01-02 15:04") != want {
			t.Errorf("%s: got %v, %t, want %q", text, got, ok, want)
		}
	}
}
