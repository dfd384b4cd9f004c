package dataset

import (
	"fmt"
	"slices"
)

// fewRows is the size below which a table is small for a model of several modes.
const fewRows = 50

// explain fills LeftOut, Determined and Notes.
func (g *guesser) explain() {
	if g.Wide != nil {
		return
	}
	used := map[string]bool{}
	for _, m := range g.modes {
		for _, name := range m.Columns {
			used[name] = true
		}
	}
	for i, c := range g.columns {
		if i == g.target || used[c.Name] {
			continue
		}
		if mode := g.determiningMode(c); mode != "" {
			g.Determined = append(g.Determined, Determined{Column: c.Name, Mode: mode})
			continue
		}
		reason := c.reason
		if reason == "" && c.Distinct == 1 {
			reason = "the same value in every row"
		}
		if reason == "" {
			reason = "not needed to tell cells apart"
		}
		if c.NotNumbers > 0 && c.Kind != KindNumber {
			reason += "; " + c.NotNumberText(g.unit)
		}
		g.LeftOut = append(g.LeftOut, LeftOut{Column: c.Name, Reason: reason})
	}
	g.checkTarget()
	if g.Rows < fewRows {
		g.Notes = append(g.Notes, fmt.Sprintf("the table has only %d rows; a model of so few rows is hardly better than a mean", g.Rows))
	}
	if len(g.modes) == 1 {
		g.Notes = append(g.Notes, fmt.Sprintf("there is one mode, %s; a model of one mode is a mean per id", g.modes[0].Name))
	}
}

// determiningMode returns the mode with the fewest ids that determines a column, or "".
func (g *guesser) determiningMode(c *sampleColumn) string {
	if c.Distinct < 2 || c.Name == g.given.Weight || c.Name == g.given.Exposure {
		return ""
	}
	best := -1
	for i, m := range g.modes {
		if g.repeats(m.distinct) && m.distinct >= c.Distinct && (best < 0 || m.distinct < g.modes[best].distinct) && determines(m.codes, m.distinct, c.codes) {
			best = i
		}
	}
	if best < 0 {
		return ""
	}
	return g.modes[best].Name
}

// leastWide is the number of columns of one quantity from which a table is wide.
const leastWide = 5

// findWide recognises a table with one column per period: most of its columns are
// numeric and have names that are dates or differ only in a number. Names that the
// reader made up do not count, and a column with the name of a target is one.
func (g *guesser) findWide() {
	if g.sample.Headerless || g.given.Target != "" {
		return
	}
	groups := map[string][]int{}
	for i, c := range g.columns {
		if !c.numeric || c.Kind == KindDate {
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
	named := g.target >= 0 && !slices.Contains(wide, g.target) && nameHasWord(g.Target, targetWords)
	if len(wide) < leastWide || 2*len(wide) < len(g.columns) || named {
		return
	}
	g.Wide = &Wide{First: g.columns[wide[0]].Name, Last: g.columns[wide[len(wide)-1]].Name, Count: len(wide)}
	for i, c := range g.columns {
		if !slices.Contains(wide, i) {
			g.Wide.IDs = append(g.Wide.IDs, c.Name)
		}
	}
	g.Target, g.target = "", -1
	g.modes, g.Modes, g.Duplicates, g.Repeated, g.Notes = nil, nil, "", 0, nil
}

// periodName returns what the names of the columns of a wide table have in common:
// "date" for dates, the text around the number for names with one, else "".
func periodName(name string) string {
	if _, ok := Moment(name); ok {
		return "date"
	}
	if _, ok := dayFirst(name); ok {
		return "date"
	}
	numbers, _, around := cutNumbers(name)
	if len(numbers) == 0 {
		return ""
	}
	return around
}
