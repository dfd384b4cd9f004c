package timepart

import "slices"

// startOfCentury returns the year of two digits after the longest gap between years, if the
// year 99 is followed by 00: the other years then follow it as closely as they can, as in
// 98, 99, 00, 01 and in 63 to 92.
func startOfCentury(years []float64) float64 {
	sorted := slices.Compact(slices.Sorted(slices.Values(years)))
	first, gap := sorted[0], sorted[0]+100-sorted[len(sorted)-1]
	for i := 1; i < len(sorted); i++ {
		if d := sorted[i] - sorted[i-1]; d > gap {
			first, gap = sorted[i], d
		}
	}
	return first
}

// findShortYears takes numbers below 100 for years: beside the name of a month, as in Jan-16, unless
// they run from the first to the last days of a month; beside a quarter, as in Q1'16; and
// after a day and the name of a month, as in 31-Jan-16.
func findShortYears(parts []partValues) {
	short := func(p *partValues) bool {
		return p.Unit == None && slices.Min(p.values) >= 0 && slices.Max(p.values) < 100 && allWhole(p.values)
	}
	oneColumn := !slices.ContainsFunc(parts, func(p partValues) bool { return p.Column != parts[0].Column })
	switch {
	case len(parts) == 3 && oneColumn && parts[1].Unit == Month && parts[1].Named && short(&parts[0]) && short(&parts[2]):
		day, year := &parts[0], &parts[2]
		if low, high := slices.Min(day.values), slices.Max(day.values); low >= 1 && high <= 31 {
			day.Unit, day.Named, year.Unit, year.Named = Day, true, Year, true
		}
	case len(parts) == 2 && oneColumn:
		within, year := &parts[0], &parts[1]
		if !within.Named {
			within, year = year, within
		}
		if !within.Named || !short(year) {
			return
		}
		low, high := slices.Min(year.values), slices.Max(year.values)
		if within.Unit == Quarter || within.Unit == Month && (low > 3 || high < 27 || high > 31) {
			year.Unit, year.Named = Year, true
		}
	}
}
