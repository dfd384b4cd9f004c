package guess

import (
	"fmt"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/internal/calendar"
	"github.com/kernel-fried-tensor/kft/dataset/internal/timepart"
)

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
