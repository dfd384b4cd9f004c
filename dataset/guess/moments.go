package guess

import (
	"slices"
	"strings"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/internal/calendar"
	"github.com/kernel-fried-tensor/kft/dataset/internal/timepart"
	"github.com/kernel-fried-tensor/kft/internal/columnname"
)

// readMoments sets the moments if the values are dates or times.
func (c *sampleColumn) readMoments(headerless bool) {
	if c.Distinct == 0 {
		return
	}
	if c.numeric && !c.dottedMonths() {
		if c.NotNumbers == 0 {
			c.readUnix(headerless)
			c.readNumberDates()
		}
		return
	}
	if c.readDates(); c.moments == nil {
		c.readPeriods()
	}
}

// readDates sets the moments if the values are dates in one order of day, month and year.
// If a few of them are not, it sets the first that is not.
func (c *sampleColumn) readDates() {
	texts := slices.DeleteFunc(slices.Clone(c.values), dataset.Missing)
	order, ok := calendar.OrderOf(texts)
	if with, without, mixed := calendar.SomeZoned(texts); mixed {
		c.dates, c.zoned = order, with
		c.notDate = c.first[slices.Index(c.values, without)]
		return
	}
	if ok {
		c.dates, c.callable = order, true
		c.allMoments(func(s string) (time.Time, bool) { return order.Parse([]byte(s)) })
		return
	}
	order, bad := calendar.MostDates(texts)
	if bad == nil {
		return
	}
	wrong := 0
	for code, value := range c.values {
		if slices.Contains(bad, value) {
			wrong += c.counts[code]
			if c.notDate < 0 || c.first[code] < c.notDate {
				c.notDate, c.dates = c.first[code], order
			}
		}
	}
	if present := len(c.codes) - c.Missing; wrong > max(1, present/10) {
		c.notDate = -1
	}
}

// dateExample returns the first value that is a date.
func (c *sampleColumn) dateExample() string {
	at := slices.IndexFunc(c.values, func(value string) bool {
		_, ok := c.dates.Parse([]byte(value))
		return ok
	})
	return c.values[at]
}

// readUnix recognises unix times, yyyymmdd, ddmmyyyy and mmddyyyy among integers: by the name of the
// column, or in a table without names by the range.
func (c *sampleColumn) readUnix(headerless bool) {
	if columnname.HasTimeWord(c.Name) || timepart.UnitOf(c.Name) == timepart.Day { // as 31122016
		order, ok := calendar.OrderOf(slices.DeleteFunc(slices.Clone(c.values), dataset.Missing))
		if ok && order != calendar.ByText {
			c.dates, c.callable = order, true
			c.allMoments(func(s string) (time.Time, bool) { return order.Parse([]byte(s)) })
			return
		}
	}
	if !c.whole || c.Min < 19000101 || columnname.IsID(c.Name) && !columnname.HasTimeWord(c.Name) {
		return
	}
	isDate := c.Max < 21001231
	if !isDate && !columnname.HasTimeWord(c.Name) && !headerless {
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
	if !isDate && headerless && !columnname.HasTimeWord(c.Name) && last.Sub(first) > 30*366*24*time.Hour || isDate && c.Distinct < 3 && !columnname.HasTimeWord(c.Name) {
		c.moments = nil // ids, probably
		return
	}
	c.callable = true
}

// readNumberDates recognises dates that a spreadsheet wrote as numbers of days, and times as their
// fractions, and decimal years.
func (c *sampleColumn) readNumberDates() {
	if order, ok := timepart.NumberDates(c.Name, slices.DeleteFunc(slices.Clone(c.values), dataset.Missing)); ok && c.Min >= 1 {
		c.dates, c.callable = order, true
		c.allMoments(func(s string) (time.Time, bool) { return c.dates.Parse([]byte(s)) })
	}
}

// readPeriods recognises texts that name a year and a period in it (2016-W05, 2016Q1,
// Jan 2016, Jan-16, 01/2016), dates with the name of the month (31-Jan-2016) or of the weekday, and counts of
// periods (d_1) in a column with the name of one.
func (c *sampleColumn) readPeriods() {
	texts := slices.DeleteFunc(slices.Clone(c.values), dataset.Missing)
	counted, dated := timepart.Periods(texts)
	c.period = counted && columnname.HasPeriodWord(c.Name)
	if dated {
		c.allMoments(timepart.Moment)
	}
}

// dottedMonths reports whether numbers are months, all as 01.2016 or all as 2016.01, or quarters, as
// 2016.4.
func (c *sampleColumn) dottedMonths() bool {
	texts := slices.DeleteFunc(slices.Clone(c.values), dataset.Missing)
	if len(texts) < fewDotted {
		return false
	}
	turned := make([]string, len(texts))
	for i, text := range texts {
		year, month, _ := strings.Cut(text, ".")
		if len(month) == 2 {
			turned[i] = month + "." + year
		}
	}
	return timepart.DottedPeriods(texts) || timepart.DottedPeriods(turned)
}

// fewDotted is the number of values below which numbers such as 2016.01 are no months.
const fewDotted = 4

// allMoments sets the moments if parse reads every value.
func (c *sampleColumn) allMoments(parse func(string) (time.Time, bool)) bool {
	moments := make([]time.Time, len(c.values))
	for code, value := range c.values {
		if dataset.Missing(value) {
			continue
		}
		t, ok := parse(value)
		if !ok {
			return false
		}
		moments[code] = t
	}
	c.moments = moments
	return true
}

// span returns the earliest and the latest moment.
func (c *sampleColumn) span() (first, last time.Time) {
	for code, t := range c.moments {
		if dataset.Missing(c.values[code]) {
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
		if !dataset.Missing(c.values[code]) {
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
		if dataset.Missing(c.values[code]) {
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
