package dataset

import (
	"fmt"
	"slices"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset/internal/calendar"
)

// readDates sets the moments if the values are dates in one order of day, month and year.
// If a few of them are not, it sets the first that is not.
func (c *sampleColumn) readDates() {
	texts := slices.DeleteFunc(slices.Clone(c.values), Missing)
	order, ok := calendar.OrderOf(texts)
	if ok {
		c.dates, c.callable = order, true
		c.allMoments(func(s string) (time.Time, bool) { return order.Parse([]byte(s)) })
		return
	}
	order, bad := mostDates(texts)
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
	if present := len(c.codes) - c.Missing; wrong > max(1, present/100) {
		c.notDate = -1
	}
}

// mostDates returns the order that reads the most texts as dates and the texts that it
// does not read, or none if they are more than a tenth.
func mostDates(texts []string) (best calendar.Order, bad []string) {
	fewest := max(1, len(texts)/10)
	if len(texts) < fewDates {
		return "", nil
	}
	for _, order := range []calendar.Order{calendar.ByText, calendar.DayFirst, calendar.MonthFirst} {
		wrong := slices.DeleteFunc(slices.Clone(texts), func(text string) bool {
			_, ok := order.Parse([]byte(text))
			return ok
		})
		if len(wrong) < fewest || bad == nil && len(wrong) == fewest {
			best, bad, fewest = order, wrong, len(wrong)
		}
	}
	return best, bad
}

// fewDates is the number of values below which one that is not a date says nothing.
const fewDates = 8

// findBadDate returns the error of a time with a few values that are not dates, if nothing
// else of the table is a time.
func (g *guesser) findBadDate() *InputError {
	if len(g.given.Modes) > 0 || slices.ContainsFunc(g.modes, func(m sampleMode) bool { return m.time }) {
		return nil
	}
	for i, c := range g.columns {
		if c.notDate < 0 || i == g.target || g.reserved(c) {
			continue
		}
		return g.badID(i, c.notDate, fmt.Sprintf("this is not a date, but the other values of the column are, such as %s", c.dateExample()))
	}
	return nil
}

// badID returns the error of a value that keeps a column from being a mode.
func (g *guesser) badID(column, row int, problem string) *InputError {
	e := &InputError{Column: g.columns[column].Name, Value: g.sample.Rows[row][column], Unit: g.sample.Unit, Field: "data.modes", Problem: problem,
		Remedy: "correct it or remove the row; or name the columns that identify a cell as data.modes"}
	if g.sample.Lines != nil {
		e.Line = g.sample.Lines[row]
	}
	return e
}

// dateExample returns the first value that is a date.
func (c *sampleColumn) dateExample() string {
	at := slices.IndexFunc(c.values, func(value string) bool {
		_, ok := c.dates.Parse([]byte(value))
		return ok
	})
	return c.values[at]
}

// explainDates notes how ambiguous dates of the modes are read.
func (g *guesser) explainDates() {
	noted := map[string]bool{}
	for _, m := range g.modes {
		for _, name := range m.Columns {
			c := g.columns[slices.Index(g.sample.Names, name)]
			if c.Kind != KindDate || c.numeric || noted[name] || m.Dates != "" {
				continue
			}
			noted[name] = true
			if note := dateOrderNote(name, c.dates, slices.DeleteFunc(slices.Clone(c.values), Missing)); note != "" {
				g.Notes = append(g.Notes, note)
			}
		}
	}
}
