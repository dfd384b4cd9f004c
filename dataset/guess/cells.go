package guess

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/columnname"
)

// withoutComposites drops columns whose texts join those of two or more others, such
// as the id item1_store2 beside item and store. They would determine the others, which
// are the better modes.
func (g *guesser) withoutComposites(ids []*sampleColumn) []*sampleColumn {
	return slices.DeleteFunc(slices.Clone(ids), func(c *sampleColumn) bool {
		var within []*sampleColumn
		for _, part := range ids {
			if part != c && part.Distinct < c.Distinct && c.contains(part) && determines(c.codes, len(c.values), part.codes) {
				within = append(within, part)
			}
		}
		within = g.notDetermined(within, within, false)
		if len(within) < 2 {
			return false
		}
		var names []string
		for _, part := range within {
			names = append(names, part.Name)
		}
		c.reason = "it combines " + strings.Join(names, " and ")
		return true
	})
}

// withoutEvents drops the ids of events, such as invoices, each of which has one time:
// nothing can be learned about the next one.
func (g *guesser) withoutEvents(ids, times []*sampleColumn) []*sampleColumn {
	return slices.DeleteFunc(slices.Clone(ids), func(c *sampleColumn) bool {
		isEvent := columnname.HasWord(c.Name, eventWords) && slices.ContainsFunc(times, func(t *sampleColumn) bool {
			return determines(c.codes, len(c.values), t.codes)
		})
		if isEvent {
			c.reason = "ids of events, each with its own time"
		}
		return isEvent
	})
}

// contains reports whether the value of each row contains that of part.
func (c *sampleColumn) contains(part *sampleColumn) bool {
	for code, row := range c.first {
		if !strings.Contains(c.values[code], part.values[part.codes[row]]) {
			return false
		}
	}
	return true
}

// notDetermined drops the columns that one of by determines. Of two columns that
// determine each other, the one with the name of an id or else the first stays. If
// strict is set, only a column with more values counts.
func (g *guesser) notDetermined(columns, by []*sampleColumn, strict bool) []*sampleColumn {
	return slices.DeleteFunc(slices.Clone(columns), func(c *sampleColumn) bool {
		return slices.ContainsFunc(by, func(o *sampleColumn) bool {
			if o == c || o.Distinct < c.Distinct || o.Distinct == c.Distinct && strict || !g.repeats(o.Distinct) || c.Distinct < 2 {
				return false
			}
			if !determines(o.codes, len(o.values), c.codes) {
				return false
			}
			if o.Distinct > c.Distinct {
				return true
			}
			if mine, its := columnname.IsID(c.Name), columnname.IsID(o.Name); mine != its {
				return its
			}
			return g.byPosition(o, c) < 0 || !slices.Contains(columns, o)
		})
	})
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
	unique := others > 1 && g.repeated(g.modes) == 0
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
		if g.repeated(append(slices.Clone(g.modes), m)) == 0 {
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

// plainTime reports whether the values of a time can be ids as they are: they repeat
// and are not the moments of events, which only the rows of one event share.
func (g *guesser) plainTime(c *sampleColumn) bool {
	return g.repeats(c.Distinct) && (g.Rows >= 20*c.Distinct || c.resolution() >= stepDay || !c.callable || c.regular())
}

// unaligned reports whether a time that hardly repeats is that of series of different years:
// its values follow each other regularly, and each row has a cell of its own with it alone.
func (g *guesser) unaligned(c *sampleColumn, plain sampleMode) bool {
	return c.regular() && g.repeated(g.modes) > 0 && g.repeated(append(slices.Clone(g.modes), plain)) == 0
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
		if len(modes) >= 2 && g.repeated(modes) == 0 {
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

// mostWeak is the number of integers without the name of an id that may be modes beside others.
const mostWeak = 3

// addWeak adds integers without the name of an id where the cells are not unique
// without them, or where there are fewer than two modes. Those that look like counts
// come last.
func (g *guesser) addWeak(weak []*sampleColumn) {
	slices.SortStableFunc(weak, func(a, b *sampleColumn) int {
		if a.likeCount() != b.likeCount() {
			if b.likeCount() {
				return -1
			}
			return 1
		}
		return 0
	})
	var added []sampleMode
	repeated := g.repeated(g.modes)
	if repeated == 0 && len(g.modes) == 1 && g.modes[0].time {
		for _, c := range weak {
			c.mayInform("integers beside a single series; probably a count or a code")
		}
		return
	}
	if 20*repeated < g.Rows && len(g.modes) >= 2 && g.designed(g.modes) {
		repeated = 0 // rows that occur twice by mistake
	}
	for _, c := range weak {
		enough := len(g.modes)+len(added) >= 2 || c.likeCount()
		if enough && (repeated == 0 || 100*repeated < g.Rows) {
			break
		}
		m := g.modeOfColumn(c)
		m.time = c.period
		left := g.repeated(slices.Concat(g.modes, added, []sampleMode{m}))
		if left < repeated || !enough {
			added, repeated = append(added, m), left
		}
	}
	if repeated > 0 && repeated*2 > g.repeated(g.modes) && len(g.modes) >= 2 {
		added = nil // they do not make the cells unique
	}
	if len(added) > mostWeak && len(g.modes) >= 2 {
		added = nil // the rows are records with many quantities, not cells
	}
	for i := len(added) - 1; i >= 0; i-- { // the last are the least probable
		fewer := slices.Concat(g.modes, added[:i], added[i+1:])
		if len(fewer) >= 2 && g.repeated(fewer) <= repeated {
			added = slices.Delete(added, i, i+1)
		}
	}
	g.modes = append(g.modes, added...)
	for _, c := range weak {
		c.mayInform("integers that are not needed to tell cells apart; probably a count or a code")
	}
}

// uniqueWith reports whether the cells of two modes or more are unique with integers
// that do not look like counts.
func (g *guesser) uniqueWith(weak []*sampleColumn) bool {
	modes := slices.Clone(g.modes)
	for _, c := range weak {
		if !c.likeCount() {
			modes = append(modes, g.modeOfColumn(c))
		}
	}
	return len(modes) > max(1, len(g.modes)) && g.repeated(modes) == 0
}

// repeated counts the rows whose cell an earlier row has. Rows without a target or an id are no
// observations.
func (g *guesser) repeated(modes []sampleMode) int {
	if len(modes) == 0 {
		return max(0, g.Rows-1)
	}
	n := 0
	g.eachRepeat(modes, func(int, int) { n++ })
	return n
}

// eachRepeat calls f with each row whose cell an earlier row has, and that row.
func (g *guesser) eachRepeat(modes []sampleMode, f func(row, first int)) {
	codes, distinct := modes[0].codes, modes[0].distinct
	for _, m := range modes[1:] {
		codes, distinct = crossed(codes, m.codes)
	}
	var columns []int // that may be empty
	for i, c := range g.columns {
		if c.empty > 0 && slices.ContainsFunc(modes, func(m sampleMode) bool { return slices.Contains(m.Columns, c.Name) }) {
			columns = append(columns, i)
		}
	}
	first := make([]int, distinct)
	for row, cell := range codes {
		if g.target >= 0 && dataset.MissingNumber(g.sample.Rows[row][g.target]) || slices.ContainsFunc(columns, func(c int) bool { return g.sample.Rows[row][c] == "" }) {
			continue
		}
		if first[cell] > 0 {
			f(row, first[cell]-1)
		} else {
			first[cell] = row + 1
		}
	}
}

// checkCells adds a flag if that makes the cells unique. If rows of the same cell
// remain it proposes what to do with them.
func (g *guesser) checkCells() {
	if len(g.modes) == 0 {
		g.takeRecords()
		return
	}
	g.Repeated = g.repeated(g.modes)
	const flagValues = 3                                                                                      // with a missing one
	if g.Repeated*100 > g.Rows && len(g.given.Modes) == 0 && (flagValues-1)*g.Rows >= flagValues*g.Repeated { // a flag can make cells unique
		for i, c := range g.columns {
			if i == g.target || c.Kind != KindFlag || c.empty > 0 {
				continue
			}
			more := append(slices.Clone(g.modes), g.modeOfColumn(c))
			if g.repeated(more) == 0 {
				g.modes, g.Repeated = more, 0
				g.sortModes()
				g.Notes = append(g.Notes, fmt.Sprintf("the flag %s is a mode because cells are unique only with it", c.Name))
				break
			}
		}
	}
	if g.Repeated > 0 {
		g.ProposeDuplicates(g.findRepeats(g.modes))
	}
	g.takeRecords()
}
