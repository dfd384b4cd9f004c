package timepart

import "slices"

// Periods says what texts are that differ only in numbers. counted reports whether each has one
// number, as d_1, which may count periods. dated reports whether each has several, which may name a
// date or a year and a period in it, as 2016-W05, Jan 2016 or 01/2016: [Moment] decides. Texts up to
// 4/2016, which may be quarters, and texts from Jan-03 to Dec-28, which may be days, are neither.
func Periods(texts []string) (counted, dated bool) {
	parts, ok := numberParts(texts)
	if !ok || len(parts) == 1 {
		return ok, false
	}
	for i := range parts {
		parts[i].Named = parts[i].Unit != None
	}
	findShortYears(parts)
	for _, p := range parts {
		if most := slices.Max(p.values); p.Unit == None && len(parts) == 2 && (most <= 4 || most < 100 && parts[0].Named != parts[1].Named) {
			return false, false
		}
	}
	return false, true
}
