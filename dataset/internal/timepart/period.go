package timepart

import "slices"

// Periods says what texts are that differ only in numbers. counted reports whether each has one
// number, as d_1, which may count periods. dated reports whether each has several, which may name a
// date or a year and a period in it, as 2016-W05, Jan 2016 or 01/2016: [Moment] decides. Texts such
// as 1/2016, which may be a quarter, and Jan-16, which may be a day, are neither.
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
