package timeline

import (
	"math"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset"
)

// coordinate returns the coordinate of an id by the values of its parts.
func (g *grid) coordinate(f dataset.IDFormat, values []float64) (int64, bool) {
	if g.kind == numbers {
		v := values[len(values)-1]
		return int64(v), v == math.Trunc(v) && math.Abs(v) < 1<<40
	}
	t, ok := moment(f, values)
	if !ok {
		return 0, false
	}
	return g.of(t)
}

// moment returns the beginning of the period that the parts of an id name. Weeks are those
// of ISO 8601: they begin on Monday, and week 1 contains 4 January.
func moment(f dataset.IDFormat, values []float64) (time.Time, bool) {
	year, month, day, week, weekday := 0, 1, 1, 0, 1
	var clock time.Duration
	var date time.Time
	for i, p := range f.Parts {
		v := values[i]
		if p.Unit == "date" {
			whole := math.Floor(v)
			date = time.Unix(int64(whole), int64(math.Round((v-whole)*1e9))).UTC()
			continue
		}
		n := int(v)
		if v != float64(n) || n < 0 || n > 9999 {
			return time.Time{}, false
		}
		low, high := 1, 9999
		switch p.Unit {
		case "year":
			year, low = n, 0
		case "half":
			month, high = 6*n-5, 2
		case "quarter":
			month, high = 3*n-2, 4
		case "month":
			month, high = n, 12
		case "week":
			week, high = n, 53
		case "day":
			day, high = n, 31
		case "weekday":
			weekday, high = n, 7
		case "hour":
			clock, low, high = clock+time.Duration(n)*time.Hour, 0, 24
		case "minute":
			clock, low, high = clock+time.Duration(n)*time.Minute, 0, 60
		case "second":
			clock, low, high = clock+time.Duration(n)*time.Second, 0, 60
		default:
			return time.Time{}, false
		}
		if n < low || n > high {
			return time.Time{}, false
		}
	}
	switch first := f.Parts[0].Unit; {
	case first == "date":
		return date.Add(clock), true
	case first != "year":
		return time.Time{}, false
	case week > 0:
		january := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC)
		monday := january.AddDate(0, 0, 7*(week-1)-(int(january.Weekday())+6)%7)
		return monday.AddDate(0, 0, weekday-1).Add(clock), true
	}
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	return t.Add(clock), t.Day() == day
}

// value undoes moment for one part.
func value(unit string, t time.Time, weeks bool) int {
	year, week := t.Year(), 0
	if weeks {
		year, week = t.ISOWeek()
	}
	switch unit {
	case "year":
		return year
	case "half":
		return (int(t.Month()) + 5) / 6
	case "quarter":
		return (int(t.Month()) + 2) / 3
	case "month":
		return int(t.Month())
	case "week":
		return week
	case "day":
		return t.Day()
	case "weekday":
		return (int(t.Weekday())+6)%7 + 1
	case "hour":
		return t.Hour()
	case "second":
		return t.Second()
	default:
		return t.Minute()
	}
}
