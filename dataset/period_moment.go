package dataset

import (
	"slices"
	"strings"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset/internal/calendar"
	"github.com/kernel-fried-tensor/kft/dataset/internal/periodtext"
)

// WithIDDates returns the mode that knows in which order its ids write day, month and year,
// for [Mode.MomentOfID].
func (m Mode) WithIDDates(ids []string) Mode {
	if m.Func == "" && len(m.Columns) == 1 {
		order, _ := calendar.OrderOf(ids)
		m.idDates = string(order)
	}
	return m
}

// MomentOfID returns the first day of the period that an id names, or its moment: dates in
// the order of [Mode.WithIDDates], 31-Jan-2016, Jan 2016, 01/2016, 201601, 2016Q1, 2016-W05.
func (m Mode) MomentOfID(id string) (time.Time, bool) {
	if t, ok := calendar.Order(m.idDates).Parse([]byte(id)); ok {
		return t, true
	}
	return periodMoment(id)
}

// periodMoment returns the first day of a period of a year, or of a date with the name of a
// month.
func periodMoment(text string) (time.Time, bool) {
	if tokens, ok := periodtext.CutYear(text, calendarParts[aMonth].most); ok {
		return time.Date(int(tokens[0].Number), time.Month(tokens[1].Number), 1, 0, 0, 0, 0, time.UTC), true
	}
	numbers, roles, around := cutNumbers(text)
	if len(numbers) < 2 || len(numbers) > 3 || !allWhole(numbers) {
		return time.Time{}, false
	}
	year := slices.IndexFunc(numbers, func(v float64) bool { return v >= 1900 && v <= 2100 })
	within := slices.Index(roles, aMonth)
	if len(numbers) == 2 {
		if year < 0 && within >= 0 { // Jan-16
			year = 1 - within
		}
		within = 1 - year
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
		monday := time.Date(y, 1, 4, 0, 0, 0, 0, time.UTC) // 4 January is in the first week
		monday = monday.AddDate(0, 0, -(int(monday.Weekday())+6)%7)
		return monday.AddDate(0, 0, 7*(v-1)), true
	case roles[within] != aMonth && word != "" && word != "m" || v > 12:
		return time.Time{}, false
	}
	return time.Date(y, time.Month(v), day, 0, 0, 0, 0, time.UTC), true
}
