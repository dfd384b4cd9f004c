package dataset

import (
	"slices"
	"strings"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset/internal/calendar"
)

// readUnix recognises unix times and yyyymmdd among integers: by the name of the
// column, or in a table without names by the range.
func (c *sampleColumn) readUnix(headerless bool) {
	if !c.whole || c.Min < 19000101 || namedID(c.Name) && !nameHasWord(c.Name, timeWords) {
		return
	}
	isDate := c.Max < 21001231
	if !isDate && !nameHasWord(c.Name, timeWords) && !headerless {
		return
	}
	ok := c.allMoments(func(s string) (time.Time, bool) {
		t, ok := calendar.Parse([]byte(s))
		return t, ok && t.Year() >= 1980 && t.Year() < 2100
	})
	if !ok {
		return
	}
	first, last := c.span()
	if !isDate && headerless && !nameHasWord(c.Name, timeWords) && last.Sub(first) > 30*366*24*time.Hour || isDate && c.Distinct < 3 && !nameHasWord(c.Name, timeWords) {
		c.moments = nil // ids, probably
		return
	}
	c.callable = true
}

// span returns the earliest and the latest moment.
func (c *sampleColumn) span() (first, last time.Time) {
	for code, t := range c.moments {
		if Missing(c.values[code]) {
			continue
		}
		if first.IsZero() || t.Before(first) {
			first = t
		}
		if last.IsZero() || t.After(last) {
			last = t
		}
	}
	return first, last
}

// regular reports whether the moments follow each other at a constant step, as those
// of a series do, unlike those of events. Months and years differ by a few days.
func (c *sampleColumn) regular() bool {
	var moments []time.Time
	for code, t := range c.moments {
		if !Missing(c.values[code]) {
			moments = append(moments, t)
		}
	}
	slices.SortFunc(moments, time.Time.Compare)
	var steps []float64
	for i := 1; i < len(moments); i++ {
		steps = append(steps, moments[i].Sub(moments[i-1]).Hours())
	}
	if len(steps) < 2 {
		return false
	}
	sorted := slices.Sorted(slices.Values(steps))
	median, equal := sorted[len(sorted)/2], 0
	for _, step := range steps {
		if step > 0.9*median && step < 1.1*median {
			equal++
		}
	}
	return median > 0 && 4*equal >= 3*len(steps)
}

// readPeriods recognises texts that name a year and a period in it (2016-W05, 2016Q1,
// Jan 2016, Jan-16, 01/2016), dates with the name of the month (31-Jan-2016), and counts of
// periods (d_1) in a column with the name of one.
func (c *sampleColumn) readPeriods() {
	texts := slices.DeleteFunc(slices.Clone(c.values), Missing)
	parts, ok := numberParts(texts)
	if !ok {
		return
	}
	if len(parts) == 1 {
		c.period = nameHasWord(c.Name, periodWords)
		return
	}
	for i := range parts {
		parts[i].named = parts[i].role != anyNumber
	}
	yearBesideMonth(&parts[0], &parts[1])
	year, within, day := -1, -1, -1
	for i, p := range parts {
		switch {
		case p.role == aYear && len(parts) == 2, p.role == anyNumber && slices.Min(p.values) >= 1900 && slices.Max(p.values) <= 2100:
			year = i
		case p.role == aMonth || len(parts) == 2:
			within = i
		default:
			day = i
		}
	}
	if year < 0 || within < 0 || len(parts) > 3 || len(parts) == 3 && day < 0 {
		return
	}
	words := strings.FieldsFunc(around(texts), func(r rune) bool { return r < 'a' || r > 'z' })
	word := strings.Join(words, " ")
	months := 0.0
	switch most, least := slices.Max(parts[within].values), slices.Min(parts[within].values); {
	case day >= 0 && (slices.Min(parts[day].values) < 1 || slices.Max(parts[day].values) > 31):
		return
	case parts[within].role == aMonth:
		months = 1
	case slices.Contains([]string{"q", "quarter", "qtr"}, word) && most <= 4:
		months = 3
	case slices.Contains([]string{"w", "kw", "wk", "week"}, word) && most <= 53:
	case slices.Contains([]string{"", "m"}, word) && least >= 1 && most > 4 && most <= 12: // up to 4 it may be a quarter
		months = 1
	default:
		return
	}
	c.moments = make([]time.Time, len(c.values))
	k := 0
	for code, value := range c.values {
		if Missing(value) {
			continue
		}
		y, v, d := int(parts[year].values[k]), parts[within].values[k], 1
		if day >= 0 {
			d = int(parts[day].values[k])
		}
		if y < 100 {
			y = calendar.Century(y)
		}
		if months > 0 {
			c.moments[code] = time.Date(y, time.Month(1+months*(v-1)), d, 0, 0, 0, 0, time.UTC)
		} else {
			monday := time.Date(y, 1, 4, 0, 0, 0, 0, time.UTC) // 4 January is in the first week
			monday = monday.AddDate(0, 0, -(int(monday.Weekday())+6)%7)
			c.moments[code] = monday.AddDate(0, 0, 7*(int(v)-1))
		}
		k++
	}
}

// step is the resolution of a column of times.
type step int

const (
	stepMinute step = iota // or finer
	stepHour
	stepDay
	stepWeek
	stepMonth
	stepYear
)

// resolution returns the coarsest step of which all moments are multiples. Dates that
// fall on one day of the week are weeks.
func (c *sampleColumn) resolution() step {
	weekday, dates := -1, 0
	is := map[step]bool{stepHour: true, stepDay: true, stepWeek: true, stepMonth: true, stepYear: true}
	for code, t := range c.moments {
		if Missing(c.values[code]) {
			continue
		}
		dates++
		if t.Minute() != 0 || t.Second() != 0 {
			return stepMinute
		}
		if t.Hour() != 0 {
			is[stepDay] = false
		}
		if weekday >= 0 && weekday != int(t.Weekday()) {
			is[stepWeek] = false
		}
		weekday = int(t.Weekday())
		is[stepMonth] = is[stepMonth] && t.Day() == 1
		is[stepYear] = is[stepYear] && t.YearDay() == 1
	}
	switch {
	case !is[stepDay]:
		return stepHour
	case is[stepYear] && dates > 1:
		return stepYear
	case is[stepMonth] && dates > 1:
		return stepMonth
	case is[stepWeek] && dates > 3:
		return stepWeek
	}
	return stepDay
}
