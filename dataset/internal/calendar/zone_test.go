package calendar

import (
	"testing"
	"time"
)

func TestParseZone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2024-10-27T02:00:00+02:00":                "2024-10-27 00:00",
		"2024-10-27T02:00:00.250+0100":             "2024-10-27 01:00",
		"2024-10-27 02:00 -05":                     "2024-10-27 07:00",
		"2024-10-27T02:30+05:45":                   "2024-10-26 20:45",
		"2024-10-27T02:00:00Z":                     "2024-10-27 02:00",
		"2024-10-27 02:00 UTC":                     "2024-10-27 02:00",
		"2024-10-27 02:00:00 CEST":                 "2024-10-27 00:00",
		"10/27/2024 2:00 PM EDT":                   "2024-10-27 18:00",
		"2024-10-27T02:00+02:00[Europe/Berlin]":    "2024-10-27 00:00",
		"2024-10-27T02:00:00":                      "",
		"2024-10-27 2:00 PM":                       "",
		"2024-10-27 02:00 o'clock":                 "",
		"2024-10-27 02:00 +99:00":                  "",
		"2024-10-27 02:00 +9999999999999999999:00": "",
		"2024-10-27":                               "",
	} {
		got, ok := Parse([]byte(text))
		if !ok || Zoned(got) != (want != "") || want != "" && got.UTC().Format("2006-01-02 15:04") != want {
			t.Errorf("Parse(%q) = %v, %t, zoned %t, want %q in UTC", text, got, ok, Zoned(got), want)
		}
		if got.Day() != 27 || got.Hour()%12 > 2 {
			t.Errorf("Parse(%q) = %v, want the clock that was written", text, got)
		}
	}
}

func TestClockOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		texts    []string
		instants bool
		offset   int
		ok       bool
	}{
		{"no offsets", []string{"2024-10-27 02:00", "2024-10-27 03:00"}, false, 0, true},
		{"one offset", []string{"2024-10-27T02:00+02:00", "2024-10-28T02:00+02:00"}, true, 7200, true},
		{"hours over a change", []string{"2024-10-27T02:00+01:00", "2024-10-27T01:00+02:00", "2024-10-27T02:00+02:00"}, true, 3600, true},
		{"days over a change", []string{"2024-10-26T00:00+02:00", "2024-10-27T00:00+02:00", "2024-10-28T00:00+01:00"}, false, 0, true},
		{"six hours over a change", []string{"2024-10-26T18:00+02:00", "2024-10-27T00:00+02:00", "2024-10-27T06:00+01:00"}, false, 0, true},
		{"hours after a change in spring", []string{"2024-03-31T01:00+01:00", "2024-03-31T03:00+02:00", "2024-03-31T04:00+02:00"}, true, 7200, true},
		{"only some", []string{"2024-10-27T02:00Z", "2024-10-27T03:00"}, false, 0, false},
	} {
		var moments []time.Time
		for _, text := range c.texts {
			m, _ := Parse([]byte(text))
			moments = append(moments, m)
		}
		got, ok := ClockOf(moments)
		if ok != c.ok || got.Instants != c.instants || got.Instants && got.Offset != c.offset {
			t.Errorf("%s: got %+v, %t, want instants %t with offset %d, %t", c.name, got, ok, c.instants, c.offset, c.ok)
		}
	}
}
