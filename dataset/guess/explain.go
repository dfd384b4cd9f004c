package guess

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/guess/relation"
	"github.com/kernel-fried-tensor/kft/dataset/internal/calendar"
	"github.com/kernel-fried-tensor/kft/dataset/internal/fieldtext"
	"github.com/kernel-fried-tensor/kft/dataset/internal/timepart"
	"github.com/kernel-fried-tensor/kft/internal/columnname"
	"github.com/kernel-fried-tensor/kft/internal/plural"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
)

// fewRows is the size below which a table is small for a model of several modes.
const fewRows = 50

// explain fills LeftOut, Determined and Notes.
func (g *guesser) explain() {
	if g.Wide != nil {
		return
	}
	used := map[string]bool{g.Exposure: true}
	for _, m := range g.modes {
		for _, name := range m.Columns {
			used[name] = true
		}
	}
	for _, text := range slices.Concat(g.given.Modes, g.Covariates) { // modes that are given may have another column that the table lacks
		if m, err := dataset.ParseMode(text); err == nil {
			for _, name := range m.Columns {
				used[name] = true
			}
		}
	}
	const fewSizes = 12 // sizes of packages, such as 500 ml, are ids, and so is 123A
	for i, c := range g.columns {
		if used[c.Name] && c.Unit != "" && c.Distinct > fewSizes && strings.ContainsAny(c.values[0], " .,") && len(g.given.Modes) == 0 {
			g.Notes = append(g.Notes, fmt.Sprintf("the values of column %s are taken for ids, because they have the unit %q; remove it if they are numbers to predict or a covariate", c.Name, c.Unit))
		}
		if i == g.target || used[c.Name] {
			continue
		}
		if mode := g.determiningMode(c); mode != "" && g.given.Future && g.describesPeriod(c, mode) {
			c.mayInform("all rows of a period have the same value")
		} else if mode != "" {
			g.Determined = append(g.Determined, Determined{Column: c.Name, Mode: mode})
			continue
		}
		if len(g.given.Modes) > 0 && g.describesRecord(c) {
			c.mayInform("it is not one of the given modes")
		}
		if c.covariate && g.copiesTarget(c) {
			c.reason, c.covariate = followsReason, false
		}
		if reason := g.computed[c]; reason != "" {
			c.reason, c.covariate = reason, false
		}
		if c.covariate && c.alike() {
			c.reason, c.covariate = alikeReason, false
		}
		reason := c.reason
		if reason == "" && c.Distinct == 1 {
			reason = "the same value in every row"
		}
		if reason == "" {
			reason = "not needed to identify cells"
		}
		if c.NotNumbers > 0 && c.Kind != KindNumber {
			reason += "; " + c.NotNumberText(g.unit)
		}
		if g.isConstantTarget(c) {
			g.notTarget = c.Name
		}
		g.LeftOut = append(g.LeftOut, LeftOut{Column: c.Name, Reason: reason, Covariate: c.covariate})
		if c.empty > 0 && c.Kind == KindID && c.Distinct > 1 && len(g.given.Modes) == 0 && g.sharesCells() && !g.reserved(c) {
			g.Notes = append(g.Notes, fmt.Sprintf("column %s is not a mode, because %d of %d rows have no value in it; fill them in or remove these rows if it identifies cells", c.Name, c.empty, g.Rows))
		}
	}
	g.checkTarget()
	for _, m := range g.modes {
		c := g.columns[slices.Index(g.sample.Names, m.Columns[0])]
		if a, b, mixed := m.MixedTimes(slices.DeleteFunc(slices.Clone(c.values), dataset.Missing)); mixed && !m.time {
			g.Notes = append(g.Notes, fmt.Sprintf("column %s has times in several forms, as %q and %q, so it is no time but a mode of ids without order; write all of them alike, as 2016-12 or 2016-12-31", c.Name, a, b))
		} else if len(m.Columns) == 1 && m.Func == "" && c.mixesFormats() {
			note := fmt.Sprintf("column %s has dates in several formats, so one day can have several ids", c.Name)
			if c.callable && c.resolution() >= stepDay {
				note += fmt.Sprintf("; the mode %s has one id per day", dataset.Mode{Name: m.Name, Columns: m.Columns, Func: "date", Dates: string(c.dates)})
			}
			g.Notes = append(g.Notes, note)
		}
	}
	g.explainAlike()
	g.explainDates()
	if g.Rows < fewRows {
		g.Notes = append(g.Notes, fmt.Sprintf("the table has only %s; a model of so few rows is hardly better than a mean", plural.Count(g.Rows, "row")))
	}
	if len(g.modes) == 1 && !g.modes[0].time && len(g.Covariates) == 0 {
		g.Notes = append(g.Notes, fmt.Sprintf("there is one mode, %s; a model of one mode is a mean per id", g.modes[0].Name))
	}
}

// determiningMode returns the mode with the fewest ids that determines a column, or "".
func (g *guesser) determiningMode(c *sampleColumn) string {
	if c.Distinct < 2 || g.given.reserves(c.Name) {
		return ""
	}
	best := -1
	for i, m := range g.modes {
		if g.repeats(m.distinct) && m.distinct >= c.Distinct && (best < 0 || m.distinct < g.modes[best].distinct) && relation.Determines(m.codes, m.distinct, c.codes) {
			best = i
		}
	}
	if best < 0 {
		return ""
	}
	return g.modes[best].Name
}

// describesPeriod reports whether a column that a mode determines says something about its periods that
// their dates do not, as the weather does.
func (g *guesser) describesPeriod(c *sampleColumn, mode string) bool {
	m := g.modes[slices.IndexFunc(g.modes, func(m sampleMode) bool { return m.Name == mode })]
	if len(m.Columns) > 1 || m.Func != "" || c.Kind == KindDate || c.Kind == KindText || c.dateUnit() != timepart.None || c.NotNumbers > 0 || c.Unit != "" || c.ambiguous {
		return false
	}
	t := g.columns[slices.Index(g.sample.Names, m.Columns[0])]
	return t.Kind == KindDate && t.moments != nil && !t.hasPart(c)
}

// leastWide is the number of columns of one quantity from which a table is wide.
const leastWide = 5

// findWide recognises a table with one column per period: most of its columns are
// numeric and have names that are dates or differ only in a number. Names that the
// reader made up do not count, and a column with the name of a target is one, unless it is the sum of the others.
func (g *guesser) findWide() {
	if g.sample.Headerless || g.given.Target != "" && len(g.given.Modes) > 0 {
		return
	}
	groups := map[string][]int{}
	for i, c := range g.columns {
		if c.Distinct > 0 && !c.numeric || c.Kind == KindDate { // a period may have no value yet
			continue
		}
		if key := periodName(c.Name); key != "" {
			groups[key] = append(groups[key], i)
		}
	}
	var wide []int
	for _, group := range groups {
		if len(group) > len(wide) || len(group) == len(wide) && group[0] < wide[0] {
			wide = group
		}
	}
	var values [][]float64
	for _, i := range wide {
		x, _ := g.rowNumbers(g.columns[i])
		values = append(values, x)
	}
	isTotal := func(i int) bool {
		y, n := g.rowNumbers(g.columns[i])
		return n > 1 && !slices.Contains(wide, i) && relation.Totals(y, values)
	}
	named := g.target >= 0 && !slices.Contains(wide, g.target) && namedTarget(g.Target) && !isTotal(g.target)
	if len(wide) < leastWide || 2*len(wide) < len(g.columns) || named {
		return
	}
	found := &Wide{First: g.columns[wide[0]].Name, Last: g.columns[wide[len(wide)-1]].Name, Count: len(wide)}
	for i, c := range g.columns {
		switch {
		case slices.Contains(wide, i):
		case c.numeric && isTotal(i):
			found.Totals = append(found.Totals, c.Name)
		default:
			found.IDs = append(found.IDs, c.Name)
			found.Series = found.Series || (c.Kind == KindDate || c.dateUnit() != timepart.None) && !namesPeriod(found.First)
		}
	}
	if g.given.Target != "" { // the user may want to predict one period from the others
		g.Notes = append(g.Notes, found.problem()+"; "+found.advice())
		return
	}
	g.Wide = found
	g.Target, g.target = "", -1
	g.modes, g.Modes, g.Covariates, g.Duplicates, g.Repeated, g.Notes = nil, nil, nil, "", 0, nil
}

// mixesFormats reports whether the values are dates that are written in several ways. A
// time of the day after the date does not count, because some programs leave out zeros.
func (c *sampleColumn) mixesFormats() bool {
	if c.numeric {
		return false
	}
	formats := map[string]bool{}
	for _, value := range c.values {
		if dataset.Missing(value) {
			continue
		}
		if _, ok := c.dates.Parse([]byte(value)); !ok {
			return false
		}
		formats[fieldtext.DateShape(value)] = true
	}
	return len(formats) > 1
}

// namesPeriod reports whether the name of a column of a wide table is a period: a date or a
// year, or a text such as week_3.
func namesPeriod(name string) bool {
	switch text := strings.Trim(strings.ToLower(periodName(name)), " _-.\x00"); {
	case text == "date" || text == "":
		return true
	default:
		return columnname.HasPeriodWord(text) || timepart.UnitOf(text) != timepart.None
	}
}

// periodName returns what the names of the columns of a wide table have in common:
// "date" for dates, the text around the number for names with one, else "".
func periodName(name string) string {
	if _, ok := calendar.OrderOf([]string{name}); ok {
		return "date"
	}
	numbers, _, around := timepart.Numbers(name)
	if len(numbers) == 0 {
		return ""
	}
	return around
}

// explainAlike notes ids of a mode that may be the same, such as 7 and 007 of two programs.
func (g *guesser) explainAlike() {
	for _, m := range g.modes {
		if m.time || m.Func != "" || len(m.Columns) > 1 {
			continue
		}
		c := g.columns[slices.Index(g.sample.Names, m.Columns[0])]
		first, second, text, n := suggest.Alike(c.values)
		if n == 0 {
			continue
		}
		note := fmt.Sprintf("column %s has ids that are equal %s, as %q and %q", c.Name, text, first, second)
		if n > 1 {
			note += fmt.Sprintf(" (%s of this kind)", plural.Count(n, "pair"))
		}
		g.Notes = append(g.Notes, note+"; write them in the same way if they mean the same")
	}
}
