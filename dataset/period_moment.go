package dataset

import (
	"strconv"
	"strings"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset/internal/calendar"
	"github.com/kernel-fried-tensor/kft/dataset/internal/timepart"
)

// WithIDDates returns the mode that knows in which order its ids write day, month and year,
// and whether their six digits are a year and a week, for [Mode.MomentOfID].
func (m Mode) WithIDDates(ids []string) Mode {
	if m.Func == "" && len(m.Columns) == 1 {
		order, dates := calendar.OrderOf(ids)
		if !dates {
			order, _ = timepart.NumberDates(m.Columns[0], ids)
		}
		m.idDates = string(order)
		m.idWeeks = timepart.AreWeeks(m.Columns[0], ids)
	}
	if m.Func == "" && len(m.Columns) == 2 {
		if f, _, ok := m.readIDs(ids); ok && f.Parts[0].Unit == timepart.Date.String() && f.restFirst {
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
	if numbers, half := timepart.HalfClock(id[at+1:]); half {
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
	if m.idWeeks {
		if t, ok := timepart.WeekMoment(id); ok {
			return t, true
		}
	}
	return timepart.Moment(id)
}
