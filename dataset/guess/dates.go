package guess

import (
	"fmt"
	"slices"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/internal/calendar"
	"github.com/kernel-fried-tensor/kft/dataset/internal/timepart"
)

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
	if present := len(c.codes) - c.Missing; wrong > max(1, present/100) {
		c.notDate = -1
	}
}

// findBadDate returns the error of a time with a few values that are not dates, if nothing
// else of the table is a time.
func (g *guesser) findBadDate() *dataset.InputError {
	if len(g.given.Modes) > 0 || slices.ContainsFunc(g.modes, func(m sampleMode) bool { return m.time }) {
		return nil
	}
	for i, c := range g.columns {
		if c.notDate < 0 || i == g.target || g.reserved(c) {
			continue
		}
		if c.zoned != "" {
			e := g.badID(i, c.notDate, fmt.Sprintf("it has no offset from UTC, and %s%s has one, so their order in time is unknown", c.zoned, g.inLine(c.first[slices.Index(c.values, c.zoned)])))
			e.Remedy = "write all times of the column with an offset or all without"
			return e
		}
		return g.badID(i, c.notDate, fmt.Sprintf("this is not a date, but the other values of the column are, such as %s", c.dateExample()))
	}
	return nil
}

// badID returns the error of a value that keeps a column from being a mode.
func (g *guesser) badID(column, row int, problem string) *dataset.InputError {
	e := &dataset.InputError{Column: g.columns[column].Name, Value: g.sample.Rows[row][column], Unit: g.sample.Unit, Field: "data.modes", Problem: problem,
		Remedy: "correct it or remove the row; or name the columns that identify a cell as data.modes"}
	if g.sample.Lines != nil {
		e.Line = g.sample.Lines[row]
	}
	return e
}

// inLine says where a row of the sample is, if that is known.
func (g *guesser) inLine(row int) string {
	if g.sample.Lines == nil {
		return ""
	}
	return " in " + dataset.Place(g.sample.Unit, g.sample.Lines[row])
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
			numbers := c.dates == calendar.Serial || c.dates == calendar.Decimal
			if c.Kind != KindDate || noted[name] || !numbers && (c.numeric || m.Dates != "") {
				continue
			}
			noted[name] = true
			if note := timepart.DateNote(name, c.dates, slices.DeleteFunc(slices.Clone(c.values), dataset.Missing)); note != "" {
				g.Notes = append(g.Notes, note)
			}
		}
	}
}

// withoutDateParts drops columns that are parts of a date that each row has for its own, such
// as the day of the year.
func (g *guesser) withoutDateParts(columns, times []*sampleColumn) []*sampleColumn {
	return slices.DeleteFunc(slices.Clone(columns), func(c *sampleColumn) bool {
		return slices.ContainsFunc(times, func(t *sampleColumn) bool {
			if g.repeats(t.Distinct) || c.Distinct < 2 || c == t {
				return false
			}
			for _, part := range dateParts {
				codes, n := t.partCodes(part)
				if n > 1 && determines(codes, n, c.codes) {
					c.reason = "a part of " + t.Name
					return true
				}
			}
			return false
		})
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

// A column that reveals the target has few values, each of many rows with one value of the
// target, of which there are few too: the target is computed from it.
const (
	revealingValues = 10
	revealingRows   = 20 // of each value, on average
)

// revealsTarget reports whether a column, other than a date, determines the target.
func (g *guesser) revealsTarget(c *sampleColumn) bool {
	if g.target < 0 || c.Kind == KindDate || c.Distinct < 2 || c.Distinct > revealingValues || revealingRows*c.Distinct > g.Rows {
		return false
	}
	y := g.columns[g.target]
	return y.Distinct > 1 && y.Distinct <= c.Distinct && determines(c.codes, len(c.values), y.codes)
}
