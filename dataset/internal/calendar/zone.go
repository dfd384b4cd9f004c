package calendar

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"time"
)

// mostQuarters bounds the offsets from UTC, in quarters of an hour; the largest in use are
// 14 hours.
const mostQuarters = 4 * 15

// zones has one location for each offset, so that equal offsets are the same location. None is
// time.UTC, which is that of a text without an offset.
var zones = sync.OnceValue(func() (z [2*mostQuarters + 1]*time.Location) {
	for i := range z {
		z[i] = time.FixedZone("", (i-mostQuarters)*15*60)
	}
	return z
})

// zoneNames are abbreviations of zones, with their offsets in hours.
var zoneNames = map[string]int{
	"Z": 0, "UTC": 0, "GMT": 0, "WET": 0, "WEST": 1, "BST": 1, "CET": 1, "CEST": 2, "MEZ": 1, "MESZ": 2, "EET": 2, "EEST": 3,
	"EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7,
}

// parseZone returns the location of the offset at the end of a time: Z, +02:00, +0200, -05,
// CEST, UTC. It is time.UTC if there is none.
func parseZone(rest []byte) *time.Location {
	if open := bytes.IndexByte(rest, '['); open > 0 { // +02:00[Europe/Berlin]
		rest = rest[:open]
	}
	if rest = bytes.TrimSpace(rest); len(rest) == 0 {
		return time.UTC
	}
	sign, minutes := 1, 0
	switch rest[0] {
	case '-':
		sign = -1
	case '+':
	default:
		hours, known := zoneNames[strings.ToUpper(string(rest[:min(len(rest), 5)]))]
		if !known {
			return time.UTC
		}
		return zones()[mostQuarters+4*hours]
	}
	hours, minuteText, colon := bytes.Cut(rest[1:], []byte(":"))
	if !colon && len(hours) > 2 {
		hours, minuteText = hours[:len(hours)-2], hours[len(hours)-2:]
	}
	h, ok := smallNumber(hours)
	if len(minuteText) > 0 && ok {
		minutes, ok = smallNumber(minuteText)
	}
	minutes += 60 * h
	if !ok || minutes%15 != 0 || minutes > 15*mostQuarters {
		return time.UTC
	}
	return zones()[mostQuarters+sign*minutes/15]
}

// Zoned reports whether a moment was written with its offset from UTC.
func Zoned(t time.Time) bool { return t.Location() != time.UTC }

// A Clock turns moments into seconds.
type Clock struct {
	Zoned    bool // the moments are written with offsets from UTC
	Instants bool // seconds are those since 1970 in UTC, plus Offset; otherwise they are those of the clock as written
	Offset   int
	Minutes  bool // seconds of the minute do not count
}

// Seconds returns the seconds of a moment. ok is false if the moment has an offset and others
// have not, or the other way round: their distance is unknown.
func (c Clock) Seconds(t time.Time) (seconds float64, ok bool) {
	_, offset := t.Zone()
	if c.Instants {
		offset = c.Offset
	}
	if c.Minutes {
		t = t.Add(-time.Duration(t.Second())*time.Second - time.Duration(t.Nanosecond()))
	}
	return float64(t.Unix()+int64(offset)) + float64(t.Nanosecond())/1e9, c.Zoned == Zoned(t)
}

// leastSeconds is the shortest regular step in which seconds count, if minutes tell moments apart.
const leastSeconds = 5

// WithoutSeconds returns the clock without the seconds of texts such as 12:00:03, 12:05:01 and
// 12:10:04, which differ by chance: each minute has one moment at most, and their steps
// have no common divisor of some seconds.
func (c Clock) WithoutSeconds(moments []time.Time) Clock {
	minutes := map[int64]int64{}
	step, first := int64(0), int64(0)
	for i, t := range moments {
		at := t.Unix()
		if i == 0 {
			first = at
		}
		if other, taken := minutes[at/60]; taken && other != at {
			return c
		}
		minutes[at/60] = at
		step = commonDivisor(step, max(at-first, first-at))
	}
	c.Minutes = step > 0 && step < leastSeconds
	return c
}

// ClockOf returns the clock of moments. With several offsets, as on both sides of a clock
// change, it counts instants, as the latest moment would write them: the hour that occurs twice
// in autumn is two. Where the clock as written has a longer regular step it counts
// that: midnights remain a day apart. ok is false if only some of the moments have an offset.
// The cost is O(n log n).
func ClockOf(moments []time.Time) (c Clock, ok bool) {
	offsets := map[int]bool{}
	zoned := 0
	for _, t := range moments {
		if Zoned(t) {
			_, offset := t.Zone()
			offsets[offset] = true
			zoned++
		}
	}
	if zoned == 0 || zoned < len(moments) {
		return Clock{}, zoned == 0
	}
	sorted := slices.SortedFunc(slices.Values(moments), time.Time.Compare)
	_, last := sorted[len(sorted)-1].Zone()
	c = Clock{Zoned: true, Instants: true, Offset: last}
	if len(offsets) == 1 {
		return c, true
	}
	written, instants := int64(0), int64(0) // greatest common divisors of the steps
	for i := 1; i < len(sorted); i++ {
		_, before := sorted[i-1].Zone()
		_, after := sorted[i].Zone()
		step := sorted[i].Unix() - sorted[i-1].Unix()
		if step == 0 {
			continue
		}
		if step+int64(after-before) <= 0 {
			return c, true
		}
		written, instants = commonDivisor(written, step+int64(after-before)), commonDivisor(instants, step)
	}
	c.Instants = written <= instants
	return c, true
}

func commonDivisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// SomeZoned reports whether the texts are times of which only some have an offset from UTC, so
// that their order is unknown, and returns the first text with an offset and the first without.
func SomeZoned(texts []string) (with, without string, mixed bool) {
	order, dates := OrderOf(texts)
	if !dates {
		return "", "", false
	}
	for _, text := range texts {
		t, _ := order.Parse([]byte(text))
		switch zoned := Zoned(t); {
		case zoned && with == "":
			with = text
		case !zoned && without == "":
			without = text
		}
	}
	return with, without, with != "" && without != ""
}
