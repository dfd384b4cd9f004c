package guess

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/internal/calendar"
	"github.com/kernel-fried-tensor/kft/dataset/internal/timepart"
	"github.com/kernel-fried-tensor/kft/internal/columnname"
)

// readUnix recognises unix times and yyyymmdd among integers: by the name of the
// column, or in a table without names by the range.
func (c *sampleColumn) readUnix(headerless bool) {
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

// leastHours is the number of hours of a day that a time of two columns must have.
const leastHours = 22

// joinClock returns the time that a column of dates and one of times of the day give together, and
// the latter: clocks such as 09:30, or hours under such a name. The table must have most hours of
// most dates, of day and night, and with them each row its own cell, as a log has; the hours of
// events are a fact about them, and those of shops and flights ids, because no night follows their
// day.
func (g *guesser) joinClock(dates *sampleColumn, ids, parts []*sampleColumn) (*sampleMode, *sampleColumn) {
	if dates == nil || dates.resolution() < stepDay || !dates.callable || g.sample.Headerless {
		return nil, nil
	}
	clocks := slices.DeleteFunc(slices.Concat(ids, parts), func(c *sampleColumn) bool {
		return c.empty > 0 || c.Missing > 0 || c.Distinct < 2 || c.dateUnit() != timepart.Hour && !timepart.AreClocks(c.values)
	})
	if len(clocks) != 1 {
		return nil, nil
	}
	clock := clocks[0]
	hours := map[string]bool{}
	for _, v := range clock.values {
		hour, _, _ := strings.Cut(v, ":")
		if numbers, half := timepart.HalfClock(v); half {
			hour = strconv.Itoa(int(numbers[0]))
		}
		hours[strings.TrimLeft(hour, "0")] = true
	}
	if len(hours) < leastHours {
		return nil, nil
	}
	time, ok := g.sampleModeOf(dataset.Mode{Name: g.freeName("time"), Columns: []string{dates.Name, clock.Name}})
	if !ok || 2*time.distinct < dates.Distinct*clock.Distinct {
		return nil, nil
	}
	var modes []sampleMode
	for _, c := range ids {
		if c != clock {
			modes = append(modes, g.modeOfColumn(c))
		}
	}
	time.time = true
	if 100*g.repeated(append(modes, time)) > g.Rows {
		return nil, nil
	}
	return &time, clock
}
