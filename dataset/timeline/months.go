package timeline

import "time"

// Days of a month that have no fixed number.
const (
	monthEnd         = 31
	firstBusinessDay = 0
	lastBusinessDay  = -1
)

// fewMonthly is the number of months from which one date each, on the same day of the month,
// is not by chance.
const fewMonthly = 6

// mostClosed is the number of days by which holidays move the first or the last business day
// of a month.
const mostClosed = 4

// dayOfMonth returns a date of a month: its day 1 to 31, cut to its end, or its first or last
// day from Monday to Friday.
func dayOfMonth(year int, month time.Month, day int) time.Time {
	date := func(day int) time.Time { return time.Date(year, month, day, 0, 0, 0, 0, time.UTC) }
	last := date(1).AddDate(0, 1, -1).Day()
	switch day {
	case firstBusinessDay:
		return date(1 + [7]int{time.Sunday: 1, time.Saturday: 2}[date(1).Weekday()])
	case lastBusinessDay:
		return date(last - [7]int{time.Sunday: 2, time.Saturday: 1}[date(last).Weekday()])
	}
	return date(min(day, last))
}

// monthsByDay returns the grids of months that the dates may lie on, other than that of the
// first days of months: their last days and, if there are several dates and none shares its
// month with another, the same day of each month, and the last or the first business day. Of
// these a quarter may be moved by holidays.
func monthsByDay(moments []time.Time) []grid {
	ends := grid{kind: months, day: monthEnd}
	type monthOf struct {
		year  int
		month time.Month
	}
	dates := map[monthOf]time.Time{}
	latest := 0
	for _, t := range moments {
		m := monthOf{t.Year(), t.Month()}
		if other, seen := dates[m]; seen && !other.Equal(t) {
			return []grid{ends}
		}
		dates[m] = t
		latest = max(latest, t.Day())
	}
	if len(dates) < fewMonthly {
		return []grid{ends}
	}
	grids := []grid{ends, {kind: months, day: latest}}
	for _, day := range []int{lastBusinessDay, firstBusinessDay} {
		exact := 0
		for m, t := range dates {
			if dayOfMonth(m.year, m.month, day).Equal(t) {
				exact++
			}
		}
		if 4*exact >= 3*len(dates) {
			grids = append(grids, grid{kind: months, day: day})
		}
	}
	return grids
}
