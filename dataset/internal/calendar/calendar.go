// Package calendar reads dates and times and derives ids such as the month from them.
package calendar

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kernel-fried-tensor/kft/internal/suggest"
)

// functions lists the calendar functions, which make an id from a moment. A moment
// given as unix time is in UTC. One given as date and time keeps the clock with which
// it was written.
func functions() map[string]Function {
	number := func(f func(time.Time) int) Function {
		return func(dst []byte, t time.Time) []byte { return strconv.AppendInt(dst, int64(f(t)), 10) }
	}
	layout := func(layout string) Function {
		return func(dst []byte, t time.Time) []byte { return t.AppendFormat(dst, layout) }
	}
	return map[string]Function{
		"year":      number(time.Time.Year),
		"quarter":   number(func(t time.Time) int { return (int(t.Month()) + 2) / 3 }),     // 1..4
		"month":     number(func(t time.Time) int { return int(t.Month()) }),               // 1..12
		"week":      number(func(t time.Time) int { _, week := t.ISOWeek(); return week }), // ISO, 1..53
		"day":       number(time.Time.Day),                                                 // 1..31
		"weekday":   number(func(t time.Time) int { return (int(t.Weekday())+6)%7 + 1 }),   // 1 is Monday
		"workdays":  number(workdays),                                                      // of the month, 20..23
		"monthday":  number(monthday),                                                      // 1..27, the last four days -4..-1
		"workday":   number(workday),                                                       // of the month, 1..15, the last five -5..-1, 0 on weekends
		"hour":      number(time.Time.Hour),                                                // 0..23
		"minute":    number(time.Time.Minute),                                              // 0..59
		"clock":     layout("15:04"),
		"date":      layout("2006-01-02"),
		"datehour":  layout("2006-01-02 15:00"),
		"yearmonth": layout("2006-01"),
		"yearquarter": func(dst []byte, t time.Time) []byte {
			return fmt.Appendf(dst, "%04d-Q%d", t.Year(), (int(t.Month())+2)/3)
		},
		"yearweek": func(dst []byte, t time.Time) []byte { // ISO, with the year to which the week belongs
			year, week := t.ISOWeek()
			return fmt.Appendf(dst, "%04d-W%02d", year, week)
		},
	}
}

// workdays returns the number of days from Monday to Friday in the month of a moment.
func workdays(t time.Time) int {
	first := time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
	n := 20 // of the first 28 days
	for day := first.AddDate(0, 0, 28); day.Month() == first.Month(); day = day.AddDate(0, 0, 1) {
		if !isWeekend(day) {
			n++
		}
	}
	return n
}

// Days of the month count from its start, the last ones from its end, because payments fall on either. All numbers occur
// in every long month.
const (
	lastDays     = 4
	lastWorkdays = 5
	midWorkdays  = 15 // the days between these and the last workdays of a long month have this number too
)

// monthday returns the day of the month, or minus one for the last day, minus two for the one before it and so on.
func monthday(t time.Time) int {
	last := time.Date(t.Year(), t.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
	if before := t.Day() - last - 1; before >= -lastDays {
		return before
	}
	return t.Day()
}

// workday returns the number of days from Monday to Friday in the month up to a moment, or that of the last ones from the
// end as monthday does. It is 0 on weekends.
func workday(t time.Time) int {
	if isWeekend(t) {
		return 0
	}
	n := 0
	for day := time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC); day.Day() < t.Day(); day = day.AddDate(0, 0, 1) {
		if !isWeekend(day) {
			n++
		}
	}
	if before := n - workdays(t); before >= -lastWorkdays {
		return before
	}
	return min(n+1, midWorkdays)
}

func isWeekend(t time.Time) bool { return t.Weekday() == time.Saturday || t.Weekday() == time.Sunday }

// Function appends the id of a moment.
type Function func(dst []byte, t time.Time) []byte

// ByName returns a calendar function, or nil if the name is unknown.
func ByName(name string) Function {
	if f := minutesFunction(name); f != nil {
		return f
	}
	return functions()[name]
}

// Names returns the names of the calendar functions, sorted.
func Names() []string { return slices.Sorted(maps.Keys(functions())) }

// Check returns an error if name is not a calendar function.
func Check(name string) error {
	names := Names()
	if ByName(name) == nil {
		in, nearest := Minutes(10)
		return fmt.Errorf("unknown function %q%s; the functions are %s, and those of periods of some minutes, such as %s and %s", name, suggest.Hint(name, names), strings.Join(names, ", "), in, nearest)
	}
	return nil
}

// What a moment is, for messages, and how to write one.
const (
	Moment = "a date or a time"
	Remedy = "write unix seconds (or milliseconds), 2016-12-31, 2016-12-31 23:59 or 12/31/2016 (month first)"
)

// Parse reads unix time in seconds, milliseconds, microseconds or nanoseconds
// (distinguished by size), yyyymmdd, also with hhmmss behind it, an ISO-like date with or without a time, and
// month/day/year or day.month.year with or without a time; these may have years of two
// digits. The moment has the clock that was written, in the zone of its offset from UTC if it
// has one (see Zoned), and otherwise in UTC.
func Parse(b []byte) (time.Time, bool) { return ByText.Parse(b) }

// Parse is like the function Parse for dates whose parts have a known order.
func (o Order) Parse(b []byte) (time.Time, bool) {
	if o == Serial {
		return parseSerial(b)
	}
	if o == Decimal {
		return parseDecimal(b)
	}
	if date, ok := o.turned(b); ok {
		return parseCompact(date[:])
	}
	if t, ok := parseUnix(b); ok {
		return t, true
	}
	date, clock := b, []byte(nil)
	if i := bytes.IndexAny(b, "T "); i >= 0 {
		date, clock = b[:i], bytes.TrimSpace(b[i+1:])
	}
	year, month, day, ok := o.parseDate(date)
	if compact, isCompact := parseCompact(date); isCompact && len(date) == len("20060102") && clock != nil {
		year, month, day, ok = compact.Year(), int(compact.Month()), compact.Day(), true
	}
	if !ok {
		return time.Time{}, false
	}
	at, zone, ok := parseClock(clock)
	if !ok {
		return time.Time{}, false
	}
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, zone)
	if t.Day() != day || t.Month() != time.Month(month) { // 31 June
		return time.Time{}, false
	}
	return t.Add(at), true
}

// compactLayouts are dates and times in digits, by their number.
var compactLayouts = map[int]string{8: "20060102", 10: "2006010215", 12: "200601021504", 14: "20060102150405"}

// parseCompact reads digits that form a date or a date and a time, of the years 1950 to 2049 if
// there is a time: others are unix times.
func parseCompact(b []byte) (time.Time, bool) {
	if len(b) < 8 || len(b) > 14 || len(b)%2 != 0 {
		return time.Time{}, false
	}
	var part [7]int // pairs of digits: the year in two of them, month, day, hour, minute, second
	for i, c := range b {
		if c < '0' || c > '9' {
			return time.Time{}, false
		}
		part[i/2] = 10*part[i/2] + int(c-'0')
	}
	year, month, day, hour, minute, second := 100*part[0]+part[1], part[2], part[3], part[4], part[5], part[6]
	if year < 1000 || len(b) > 8 && (year < 1950 || year > 2049) || hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, false
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC)
	return t, t.Day() == day && t.Month() == time.Month(month)
}

// parseUnix reads integers of nine digits or more, which are moments after 1973, and
// eight digits that form a date.
func parseUnix(b []byte) (time.Time, bool) {
	whole, _, _ := bytes.Cut(b, []byte("."))
	if len(whole) < 8 || len(whole) > 19 {
		return time.Time{}, false
	}
	var v int64
	for _, c := range whole {
		if c < '0' || c > '9' {
			return time.Time{}, false
		}
		v = v*10 + int64(c-'0')
	}
	if t, ok := parseCompact(whole); ok || len(whole) == 8 {
		return t, ok
	}
	switch {
	case v < 1e11:
		return time.Unix(v, 0).UTC(), true
	case v < 1e14:
		return time.UnixMilli(v).UTC(), true
	case v < 1e17:
		return time.UnixMicro(v).UTC(), true
	}
	return time.Unix(0, v).UTC(), v >= 0
}

// parseClock reads h:m, h:m:s, h, hhmm and hhmmss, with AM or PM and the zone after it. It ignores
// a fraction of a second. 24:00 is the end of the day.
func parseClock(b []byte) (at time.Duration, zone *time.Location, ok bool) {
	if len(b) == 0 {
		return 0, time.UTC, true
	}
	var part [3]int // hour, minute, second
	digits := len(b) - len(bytes.TrimLeft(b, "0123456789"))
	if digits == 4 || digits == 6 {
		for k := range digits / 2 {
			part[k], _ = smallNumber(b[2*k : 2*k+2])
		}
		b = b[digits:]
	} else {
		for k := range part {
			if part[k], ok = smallNumber(b[:digits]); !ok {
				return 0, nil, false
			}
			b = b[digits:]
			if k == 2 || len(b) < 2 || b[0] != ':' {
				break
			}
			b = b[1:]
			digits = len(b) - len(bytes.TrimLeft(b, "0123456789"))
		}
	}
	hour, minute, second := part[0], part[1], part[2]
	b = bytes.TrimSpace(bytes.TrimLeft(b, ":.,0123456789"))
	if half := halfOfDay(b); half != "" {
		switch {
		case half[0]|0x20 == 'p' && hour < 12:
			hour += 12
		case half[0]|0x20 == 'a' && hour == 12:
			hour = 0
		}
		b = b[len(half):]
	}
	at = time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second
	return at, parseZone(b), at <= 24*time.Hour && minute < 60 && second <= 60
}

// halfOfDay returns AM, PM, a.m. or p.m. at the beginning of a text as it is written, or "".
func halfOfDay(b []byte) string {
	for _, half := range []string{"am", "pm", "a.m.", "p.m."} {
		if len(b) >= len(half) && strings.EqualFold(string(b[:len(half)]), half) {
			return string(b[:len(half)])
		}
	}
	return ""
}

func smallNumber(b []byte) (int, bool) {
	if len(b) == 0 || len(b) > 4 {
		return 0, false
	}
	v := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + int(c-'0')
	}
	return v, true
}
