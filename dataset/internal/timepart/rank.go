package timepart

import (
	"cmp"
	"fmt"
	"slices"
)

// rankParts sorts parts from coarse to fine. It fails if the unit of a part is
// unknown, or if the count of a part restarts with something that is not among the
// parts: year and hour, without the day.
func rankParts(parts []partValues) (note string, ok bool) {
	if !assignUnits(parts) {
		return "", false
	}
	slices.SortStableFunc(parts, func(a, b partValues) int { return cmp.Compare(a.Unit, b.Unit) })
	note = parts[0].note
	for i, p := range parts {
		about := units[p.Unit]
		running := len(about.within) == 0 || p.most > about.most
		switch {
		case i > 0 && parts[i-1].Unit == p.Unit:
			return "", false
		case i == 0 && !running:
			cycle := about.words[0]
			note = fmt.Sprintf("a %s is cyclic, and the table does not say which cycle it belongs to: the order of the periods is right only if the table spans a single cycle; add the missing part, as in time=year+month", cycle)
		case i > 0 && parts[0].Unit == Date: // the date determines all but the hour
		case i > 0 && !running && !slices.ContainsFunc(parts[:i], func(q partValues) bool { return slices.Contains(about.within, q.Unit) }):
			return "", false
		}
	}
	return note, true
}

// assignUnits gives a unit to numbers that nothing names. A number alone counts
// periods. Beside a year or a date its range determines its unit. It reports whether
// all numbers have a unit.
func assignUnits(parts []partValues) bool {
	var unknown []*partValues
	has := map[Unit]bool{}
	for i := range parts {
		if parts[i].Unit == None {
			unknown = append(unknown, &parts[i])
		}
		has[parts[i].Unit] = true
	}
	if len(unknown) == 0 || len(parts) == 1 {
		return true
	}
	slices.SortStableFunc(unknown, func(a, b *partValues) int { return cmp.Compare(a.most, b.most) })
	fits := func(p *partValues, unit Unit) bool {
		return !has[unit] && slices.Min(p.values) >= 1 && p.most <= units[unit].most && allWhole(p.values)
	}
	switch {
	case len(unknown) == 1 && has[Year] && len(parts) == 2:
		// It counts something within the year. As a week it is finer than a year and,
		// beyond 53, a running number.
		unknown[0].Unit = Week
		return slices.Min(unknown[0].values) >= 0
	case len(unknown) == 1 && has[Year] && has[Month] && fits(unknown[0], Day):
		unknown[0].Unit = Day
	case len(unknown) == 2 && has[Year] && unknown[1].most > 12 && fits(unknown[0], Month) && fits(unknown[1], Day):
		unknown[0].Unit, unknown[1].Unit = Month, Day
	case len(unknown) == 1 && has[Date] && len(parts) == 2 && unknown[0].most < 24:
		unknown[0].Unit = Hour
	default:
		return false
	}
	return true
}

// cycleEnds are the values from which on a cycle is full; hours and days of the week may count
// from 0, and years may have 52 weeks.
var cycleEnds = map[Unit]float64{Quarter: 4, Month: 12, Week: 52, Day: 28, Weekday: 6, Hour: 23, Minute: 59}

// cycleOf returns the unit of parts that fill the cycle of the coarsest one, or "".
func cycleOf(parts []partValues) string {
	if len(parts) == 0 {
		return ""
	}
	p := parts[0]
	if end, cyclic := cycleEnds[p.Unit]; !cyclic || p.most < end || p.most > units[p.Unit].most {
		return ""
	}
	return units[p.Unit].words[0]
}
