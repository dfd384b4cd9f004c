package timeline

import "time"

// What makes dates with a few exceptions weekly.
const (
	fewWeekly = 10 // dates, at least
	mostMoved = 10 // one date of so many may be on another weekday
	mostShift = 2  // days from the usual weekday
)

// findWeeks reports whether the dates are weekly, but for a few that are moved by a day or
// two, as those of a report that is late after a holiday, and no week has two dates. It finds
// the usual weekday.
func (g *grid) findWeeks(moments []time.Time) bool {
	dates := map[int64]bool{}
	var on [7]int
	for _, t := range moments {
		if t.Unix()%86400 != 0 || t.Nanosecond() != 0 {
			return false
		}
		if day := t.Unix() / 86400; !dates[day] {
			dates[day] = true
			on[day-7*floorDiv(day, 7)]++
		}
	}
	for weekday, n := range on {
		if n > on[g.day] {
			g.day = weekday
		}
	}
	if moved := len(dates) - on[g.day]; len(dates) < fewWeekly || moved == 0 || mostMoved*moved > len(dates) {
		return false
	}
	taken := map[int64]bool{}
	for day := range dates {
		week, ok := g.weekOf(time.Unix(day*86400, 0))
		if !ok || taken[week] {
			return false
		}
		taken[week] = true
	}
	return true
}

// weekOf returns the week of a date by the usual weekday next to it.
func (g *grid) weekOf(t time.Time) (int64, bool) {
	day := floorDiv(t.Unix(), 86400) - int64(g.day)
	week := floorDiv(day+mostShift, 7)
	return week, day-7*week <= mostShift && t.Unix()%86400 == 0 && t.Nanosecond() == 0
}
