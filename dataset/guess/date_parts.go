package guess

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/guess/relation"
	"github.com/kernel-fried-tensor/kft/dataset/internal/timepart"
	"github.com/kernel-fried-tensor/kft/internal/columnname"
)

// readTextParts finds the quarters, months and weeks beside a year that are written as texts, such
// as Q1, Jan or W05, and the periods of a year whose name or text does not say what they are, such as
// P01 to P12. Without a year they are periods that are written so. A year is a text only beside them.
func (g *guesser) readTextParts() {
	var years []*sampleColumn
	for i, c := range g.columns {
		if i != g.target && (c.dateUnit() == timepart.Year || c.namesYears()) {
			years = append(years, c)
		}
	}
	within := false
	for i, c := range g.columns {
		if i == g.target || len(years) == 0 || slices.Contains(years, c) {
			continue
		}
		if c.textPart = c.periodOfYear(); c.textPart == timepart.None && !c.numeric && c.Kind == KindID {
			if unit := timepart.UnitOf(c.Name); (unit == timepart.Quarter || unit == timepart.Month || unit == timepart.Week) && c.within(unit.Most()) {
				c.textPart = unit
			}
		}
		unit := c.dateUnit()
		within = within || unit == timepart.Quarter || unit == timepart.Month || unit == timepart.Week
	}
	for _, year := range years {
		if within && !year.numeric {
			year.textPart = timepart.Year
		}
	}
}

// namesYears reports whether texts under the name of a year are years, such as FY2012, FY12 or 2012/13.
func (c *sampleColumn) namesYears() bool {
	if c.numeric || c.Kind != KindID || timepart.UnitOf(c.Name) != timepart.Year {
		return false
	}
	if _, pairs := timepart.ReadYearPairs(c.Name, c.values); pairs {
		return true
	}
	return c.within(timepart.Year.Most())
}

// within reports whether each text has one number from 1 to most.
func (c *sampleColumn) within(most float64) bool {
	return !slices.ContainsFunc(c.values, func(value string) bool {
		numbers, _, _ := timepart.Numbers(value)
		return !dataset.Missing(value) && !(len(numbers) == 1 && numbers[0] >= 1 && numbers[0] <= most)
	})
}

// periodOfYear returns the part of a date that the numbers 1 to 2, 4 or 12 are under a name such as period,
// which does not say it.
func (c *sampleColumn) periodOfYear() timepart.Unit {
	unit, known := map[int]timepart.Unit{2: timepart.Quarter, 4: timepart.Quarter, 12: timepart.Month}[c.Distinct]
	if !known || c.Missing > 0 || c.Kind != KindID || !columnname.HasWord(c.Name, []string{"period", "half", "semester"}) || !c.within(float64(c.Distinct)) {
		return timepart.None
	}
	return unit
}

// dateUnit returns the part of a date that a column holds by its name and the range of its
// numbers, or timepart.None.
func (c *sampleColumn) dateUnit() timepart.Unit {
	if c.textPart != timepart.None {
		return c.textPart
	}
	if !c.Integer || c.Kind != KindID && c.Distinct > 1 {
		return timepart.None
	}
	unit := timepart.UnitOf(c.Name)
	if unit == timepart.None || c.Min < 0 || c.Max > unit.Most() || unit == timepart.Year && c.Min < 1000 && c.Max >= 100 {
		return timepart.None
	}
	return unit
}

// partsOfOneDate returns a year and the periods within it, by unit. Of several years it is one
// whose periods have the same name but for the word of the period, or else one without other words:
// yr_sold of mo_sold, not yr_built.
func partsOfOneDate(parts []*sampleColumn) map[timepart.Unit]*sampleColumn {
	of := func(c *sampleColumn) string { return columnname.Without(c.Name, c.dateUnit().Words()) }
	years := slices.DeleteFunc(slices.Clone(parts), func(c *sampleColumn) bool { return c.dateUnit() != timepart.Year })
	var best map[timepart.Unit]*sampleColumn
	most := -1
	for _, year := range years {
		byUnit := map[timepart.Unit]*sampleColumn{timepart.Year: year}
		rank := 0
		for _, c := range parts {
			unit := c.dateUnit()
			if _, taken := byUnit[unit]; taken || len(years) > 1 && of(c) != of(year) && of(c) != "" && of(year) != "" {
				continue
			}
			byUnit[unit] = c
			rank = max(rank, 1)
			if of(c) == of(year) {
				rank = 2
			}
		}
		if rank > most {
			best, most = byUnit, rank
		}
	}
	return best
}

// joinParts makes one mode of a year and the periods within it. The other parts, such
// as the hour, are modes of their own.
func (g *guesser) joinParts(parts []*sampleColumn, hasDate bool) (*sampleMode, []*sampleColumn) {
	byUnit := partsOfOneDate(parts)
	var joined []*sampleColumn
	switch {
	case hasDate || byUnit[timepart.Year] == nil:
	case byUnit[timepart.Month] != nil && byUnit[timepart.Day] != nil:
		joined = []*sampleColumn{byUnit[timepart.Year], byUnit[timepart.Month], byUnit[timepart.Day]}
	case byUnit[timepart.Month] != nil:
		joined = []*sampleColumn{byUnit[timepart.Year], byUnit[timepart.Month]}
	case byUnit[timepart.Week] != nil:
		joined = []*sampleColumn{byUnit[timepart.Year], byUnit[timepart.Week]}
	case byUnit[timepart.Quarter] != nil:
		joined = []*sampleColumn{byUnit[timepart.Year], byUnit[timepart.Quarter]}
	}
	if joined == nil {
		return nil, slices.DeleteFunc(slices.Clone(parts), func(c *sampleColumn) bool { return c.Distinct < 2 })
	}
	m := dataset.Mode{Name: g.freeName("time")}
	for _, c := range joined {
		m.Columns = append(m.Columns, c.Name)
	}
	mode, _ := g.sampleModeOf(m)
	mode.time = true
	rest := slices.DeleteFunc(slices.Clone(parts), func(c *sampleColumn) bool {
		return c.Distinct < 2 || slices.Contains(joined, c) || relation.Determines(mode.codes, mode.distinct, c.codes)
	})
	return &mode, rest
}

// withoutDateParts drops columns that are parts of a date that each row has for its own, such
// as the day of the year.
func (g *guesser) withoutDateParts(columns, times []*sampleColumn) []*sampleColumn {
	return slices.DeleteFunc(slices.Clone(columns), func(c *sampleColumn) bool {
		return slices.ContainsFunc(times, func(t *sampleColumn) bool {
			if g.repeats(t.Distinct) || c.Distinct < 2 || c == t {
				return false
			}
			if t.hasPart(c) {
				c.reason = "a part of " + t.Name
				return true
			}
			return false
		})
	})
}

// fewAgreeing is the number of dates that must repeat a part for agreeing values to be no chance.
const fewAgreeing = 12

// hasPart reports whether a part of the dates determines a column. A part that hardly repeats, such as the day of
// the year in a single year, determines every column; then only one with as many values is a part.
func (c *sampleColumn) hasPart(column *sampleColumn) bool {
	return slices.ContainsFunc(dateParts, func(part string) bool {
		codes, n := c.partCodes(part)
		return n > 1 && (n+fewAgreeing <= c.Distinct || 2*column.Distinct > n) && relation.Determines(codes, n, column.codes)
	})
}

// dateParts are the layouts of parts of a date that columns may repeat.
var dateParts = []string{"Mon", "01", "02", "002", "2006", "2006-01", "15", "01-02"}

// partCodes returns codes of a part of the dates by row, and how many there are.
func (c *sampleColumn) partCodes(layout string) ([]int32, int) {
	index, ofValue := map[string]int32{}, make([]int32, len(c.moments))
	for k, t := range c.moments {
		text := t.Format(layout)
		code, seen := index[text]
		if !seen {
			code = int32(len(index))
			index[text] = code
		}
		ofValue[k] = code
	}
	codes := make([]int32, len(c.codes))
	for row, k := range c.codes {
		codes[row] = ofValue[k]
	}
	return codes, len(index)
}
