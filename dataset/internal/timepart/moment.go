package timepart

import (
	"slices"
	"strings"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset/internal/calendar"
	"github.com/kernel-fried-tensor/kft/dataset/internal/periodtext"
)

// Moment returns the first day of a period of a year, such as 201601, 01/2016, 2016Q1 or 2016-W05,
// or of a date with the name of a month.
func Moment(text string) (time.Time, bool) {
	if tokens, ok := periodtext.CutYear(text, Month.Most()); ok {
		return time.Date(int(tokens[0].Number), time.Month(tokens[1].Number), 1, 0, 0, 0, 0, time.UTC), true
	}
	numbers, found, around := Numbers(text)
	if len(numbers) < 2 || len(numbers) > 3 || !allWhole(numbers) {
		return time.Time{}, false
	}
	year := slices.IndexFunc(numbers, func(v float64) bool { return v >= 1900 && v <= 2100 })
	within := slices.Index(found, Month)
	switch {
	case len(numbers) == 2:
		if named := max(within, slices.Index(found, Quarter)); year < 0 && named >= 0 { // Jan-16, Q1'16
			year = 1 - named
		}
		within = 1 - year
	case within == 1 && year < 0 && numbers[2] < 100: // 31-Jan-16
		year = 2
	case within < 0 && strings.IndexByte(around, weekdayMark) >= 0 && (year == 0 || year == 2 && strings.Contains(text, ".")): // Sun 2016-01-31, So 31.01.2016
		within = 1
	}
	if year < 0 || within < 0 {
		return time.Time{}, false
	}
	y, v, day := int(numbers[year]), int(numbers[within]), 1
	if y < 100 {
		y = calendar.Century(y)
	}
	if len(numbers) == 3 {
		day = int(numbers[3-year-within])
	}
	word := strings.Join(strings.FieldsFunc(around, func(r rune) bool { return r < 'a' || r > 'z' }), " ")
	switch {
	case day < 1 || day > 31 || v < 1:
		return time.Time{}, false
	case slices.Contains([]string{"q", "quarter", "qtr"}, word) && v <= 4:
		v = 3*v - 2
	case slices.Contains([]string{"w", "kw", "wk", "week"}, word) && v <= 53:
		return monday(y, v), true
	case found[within] != Month && word != "" && word != "m" || v > 12:
		return time.Time{}, false
	}
	return time.Date(y, time.Month(v), day, 0, 0, 0, 0, time.UTC), true
}

// WeekMoment returns the first day of a week that is written with its year as one number, as 201605.
func WeekMoment(text string) (time.Time, bool) {
	tokens, ok := periodtext.CutYear(text, Week.Most())
	if !ok {
		return time.Time{}, false
	}
	return monday(int(tokens[0].Number), int(tokens[1].Number)), true
}

// monday returns the first day of a week of ISO 8601.
func monday(year, week int) time.Time {
	january := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC) // is in the first week
	return january.AddDate(0, 0, 7*(week-1)-(int(january.Weekday())+6)%7)
}
