package dataset

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset/internal/calendar"
	"github.com/kernel-fried-tensor/kft/dataset/internal/periodtext"
)

// WithIDDates returns the mode that knows in which order its ids write day, month and year,
// and whether their six digits are a year and a week, for [Mode.MomentOfID].
func (m Mode) WithIDDates(ids []string) Mode {
	if m.Func == "" && len(m.Columns) == 1 {
		order, dates := calendar.OrderOf(ids)
		if !dates {
			order, _ = numberDates(m.Columns[0], ids)
		}
		m.idDates = string(order)
		parts, ok := sixDigits(m, [][]string{ids})
		m.idWeeks = ok && parts[1].role == aWeek
	}
	if m.Func == "" && len(m.Columns) == 2 {
		if f, ok := m.readIDs(ids); ok && f.Parts[0].Unit == wholeDate.unit() && f.restFirst {
			m.idDates, m.idClock = f.Parts[0].Dates, true
		}
	}
	return m
}

// HasClock reports whether the ids, which [Mode.WithIDDates] has read, join the date of one column
// and the time of the day of another: 2016-12-31-23:30, or 2016-12-31-23 with the hour.
func (m Mode) HasClock() bool { return m.idClock }

// joinedMoment reads the id of a mode that [Mode.HasClock].
func (m Mode) joinedMoment(id string) (time.Time, bool) {
	at := strings.LastIndexByte(id, '-')
	if at < 0 {
		return time.Time{}, false
	}
	t, ok := calendar.Order(m.idDates).Parse([]byte(id[:at]))
	if numbers, half := halfClock(id[at+1:]); half {
		for i, n := range numbers {
			t = t.Add(time.Duration(n) * []time.Duration{time.Hour, time.Minute, time.Second}[i])
		}
		return t, ok
	}
	for i, text := range strings.Split(id[at+1:], ":") {
		n, err := strconv.Atoi(text)
		if err != nil || i > 2 {
			return time.Time{}, false
		}
		t = t.Add(time.Duration(n) * []time.Duration{time.Hour, time.Minute, time.Second}[i])
	}
	return t, ok
}

// MomentOfID returns the first day of the period that an id names, or its moment: dates in
// the order of [Mode.WithIDDates], 31-Jan-2016, Jan 2016, 01/2016, 201601, 2016Q1, 2016-W05.
func (m Mode) MomentOfID(id string) (time.Time, bool) {
	if m.idClock {
		return m.joinedMoment(id)
	}
	if t, ok := calendar.Order(m.idDates).Parse([]byte(id)); ok {
		return t, true
	}
	if tokens, ok := periodtext.CutYear(id, calendarParts[aWeek].most); ok && m.idWeeks {
		return mondayOf(int(tokens[0].Number), int(tokens[1].Number)), true
	}
	return periodMoment(id)
}

// mondayOf returns the first day of a week of ISO 8601.
func mondayOf(year, week int) time.Time {
	january := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC) // is in the first week
	return january.AddDate(0, 0, 7*(week-1)-(int(january.Weekday())+6)%7)
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
	switch {
	case len(numbers) == 2:
		if named := max(within, slices.Index(roles, aQuarter)); year < 0 && named >= 0 { // Jan-16, Q1'16
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
		return mondayOf(y, v), true
	case roles[within] != aMonth && word != "" && word != "m" || v > 12:
		return time.Time{}, false
	}
	return time.Date(y, time.Month(v), day, 0, 0, 0, 0, time.UTC), true
}
