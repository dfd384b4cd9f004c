package guess

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/internal/timepart"
	"github.com/kernel-fried-tensor/kft/internal/columnname"
)

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

// primaryTime returns the column of the time: that with the most values that repeat,
// else the first.
func (g *guesser) primaryTime(times []*sampleColumn) *sampleColumn {
	var best *sampleColumn
	for _, c := range times {
		switch {
		case best == nil:
			best = c
		case g.repeats(c.Distinct) != g.repeats(best.Distinct):
			if g.repeats(c.Distinct) {
				best = c
			}
		case g.repeats(c.Distinct) && c.Distinct > best.Distinct:
			best = c
		}
	}
	for _, c := range times {
		if c != best {
			c.reason = "a second column of times, beside " + best.Name
		}
	}
	return best
}

// addTime adds the time to the modes: as it is if its values repeat from row to row,
// by day, week or month if they do not and the cells are not unique without it. Alone it
// is a single series if its values follow each other regularly, and is taken by its parts
// (date and hour) otherwise.
func (g *guesser) addTime(c *sampleColumn, weak []*sampleColumn) {
	plain := g.modeOfColumn(c)
	plain.Name, plain.time = g.freeName("time"), true
	others := len(g.modes)
	if m, ok := g.jitteringTime(c); ok {
		g.modes = append(g.modes, m)
		return
	}
	if 10*c.Distinct > 9*g.Rows && (others == 0 && len(weak) == 0 || c.regular()) {
		if others == 0 && (c.regular() || c.resolution() >= stepDay) {
			g.modes = append(g.modes, plain)
			g.Notes = append(g.Notes, "the table is a single series along "+c.Name)
			return
		}
		g.addParts(c)
		return
	}
	unique := others > 1 && g.unique(g.modes)
	switch share := float64(g.Rows) / float64(max(1, c.Distinct)); {
	case unique && (!g.repeats(c.Distinct) || share < 20 && c.resolution() < stepDay):
		if !g.addMoments(c) {
			c.reason = "times that hardly repeat; the cells are unique without them"
		}
		return
	case g.plainTime(c), others > 0 && !unique && g.unaligned(c, plain):
		g.modes = append(g.modes, plain)
		return
	case !c.callable:
		c.reason = "times that hardly repeat; written as 2016-12-31 23:59 they can be taken by day, week or month"
		return
	}
	var fallback *sampleMode
	for _, function := range []string{"date", "datehour", "yearweek", "yearmonth", "yearquarter", "year"} {
		m, ok := g.sampleModeOf(dataset.Mode{Name: plain.Name, Columns: []string{c.Name}, Func: function, Dates: string(c.dates)})
		m.time = true
		if !ok || m.distinct < 2 || 10*m.distinct > 6*g.Rows { // two series that begin or end a few periods apart hardly repeat
			continue
		}
		if g.unique(append(slices.Clone(g.modes), m)) {
			g.modes = append(g.modes, m)
			return
		}
		if fallback == nil && g.repeats(m.distinct) {
			fallback = &m
		}
	}
	if fallback != nil {
		g.modes = append(g.modes, *fallback)
		return
	}
	c.reason = "times that hardly repeat"
}

// plainTime reports whether the values of a time can be ids as they are: they repeat
// and are not the moments of events, which only the rows of one event share.
func (g *guesser) plainTime(c *sampleColumn) bool {
	return g.repeats(c.Distinct) && (g.Rows >= 20*c.Distinct || c.resolution() >= stepDay || !c.callable || c.regular())
}

// unaligned reports whether a time that hardly repeats is that of series of different years:
// its values follow each other regularly, and each row has a cell of its own with it alone.
func (g *guesser) unaligned(c *sampleColumn, plain sampleMode) bool {
	return c.regular() && !g.unique(g.modes) && g.unique(append(slices.Clone(g.modes), plain))
}

// addParts makes modes of a single series, whose rows all have their own time: the
// days and the hours, the weeks and the days of the week, the years and the months.
func (g *guesser) addParts(c *sampleColumn) {
	if !c.callable {
		c.reason = "another time in every row; written as 2016-12-31 23:59 it can be divided into days and hours"
		return
	}
	functions := map[step][]string{
		stepMinute: {"date", "hour", "minute"}, stepHour: {"date", "hour"}, stepDay: {"yearweek", "weekday"},
		stepWeek: {"year", "week"}, stepMonth: {"year", "month"},
	}[c.resolution()]
	var modes []sampleMode
	for _, function := range functions {
		m, ok := g.sampleModeOf(dataset.Mode{Name: g.freeName(function), Columns: []string{c.Name}, Func: function, Dates: string(c.dates)})
		if !ok || m.distinct < 2 {
			continue
		}
		m.time = true
		if len(modes) >= 2 && g.unique(modes) {
			break // the minutes only if they are needed
		}
		modes = append(modes, m)
	}
	if len(modes) < 2 {
		c.reason = "another time in every row"
		return
	}
	g.modes = append(g.modes, modes...)
	g.Notes = append(g.Notes, fmt.Sprintf("the table is a single series: each row has its own %s, which is divided into %s", c.Name, strings.Join(functions[:len(modes)], " and ")))
}

// addMoments adds the day and the hour of events whose cells are unique without them:
// people rate and buy in sessions, and what they do depends on the hour. It reports
// whether there is anything to add.
func (g *guesser) addMoments(c *sampleColumn) bool {
	if !c.callable {
		return false
	}
	var used []string
	for _, function := range []string{"hour", "date"} {
		m, ok := g.sampleModeOf(dataset.Mode{Name: g.freeName(function), Columns: []string{c.Name}, Func: function, Dates: string(c.dates)})
		if !ok || m.distinct < 2 || !g.repeats(m.distinct) {
			continue
		}
		m.time = true
		g.modes = append(g.modes, m)
		used = append(used, m.Expression())
	}
	if len(used) > 0 {
		g.Notes = append(g.Notes, fmt.Sprintf("the cells are unique without %s; %s may still explain something (modes without them need no %s in a table to predict)", c.Name, strings.Join(used, " and "), c.Name))
	}
	return len(used) > 0
}

// addSeries makes a mode of the time of a single series that is not written as a date: a
// column of other periods (Jan-16, 201601, years), or of running numbers by its name or
// for want of another column.
func (g *guesser) addSeries() {
	var numbers []*sampleColumn
	for i, c := range g.columns {
		if i == g.target || g.reserved(c) || 10*len(c.values) <= 9*g.Rows || c.empty > 0 {
			continue
		}
		m := g.modeOfColumn(c)
		if m.IsTime(c.values) && (c.Kind != KindNumber || c.Integer || c.ordered()) {
			numbers = []*sampleColumn{c}
			break
		}
		counts := columnname.HasPeriodWord(c.Name) || len(g.columns) == 2 && !columnname.IsID(c.Name)
		if counts && c.Integer && c.Max-c.Min < 2*float64(c.Distinct) {
			numbers = append(numbers, c)
		}
	}
	if len(numbers) != 1 {
		return
	}
	m := g.modeOfColumn(numbers[0])
	m.Name, m.time = g.freeName("time"), true
	g.modes = append(g.modes, m)
	g.Notes = append(g.Notes, "the table is a single series along "+numbers[0].Name)
}

// ordered reports whether the numbers of a column rise or fall from row to row, as times of a
// series do and periods of planets do not.
func (c *sampleColumn) ordered() bool {
	values, _ := c.numbersOrNaN()
	for _, sign := range []float64{1, -1} {
		row := 1
		for row < len(c.codes) && !(sign*values[c.codes[row]] < sign*values[c.codes[row-1]]) {
			row++
		}
		if row >= len(c.codes) {
			return true
		}
	}
	return false
}
