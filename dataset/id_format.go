package dataset

import (
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset/internal/periodtext"
	"github.com/kernel-fried-tensor/kft/dataset/internal/timepart"
)

// An IDFormat is how the ids of a mode write a time: which columns and numbers in them
// are the year, the month, and so on.
type IDFormat struct {
	Parts []TimePart // from coarse to fine

	columns   int
	restFirst bool // a column's own '-' belong to the first column, else to the last
	texts     timepart.Format
}

// A TimePart is one number of an id, or a whole date.
type TimePart struct {
	Unit   string // date, year, half, quarter, month, week, day, weekday, hour or minute; "" for a running number
	Column int    // of the mode
	At     int    // among the numbers of the column
	Named  bool   // the column or the id names the unit; otherwise its range suggests it
	Half   bool   // of a time of the day with AM or PM
	Pair   bool   // a year is written with the next one, as in 1999/00
	Dates  string // order of day, month and year of a date, see [DateOrders]
}

// readIDs finds the format of ids with an order in time, and their numbers.
func (m Mode) readIDs(ids []string) (IDFormat, timepart.Reading, bool) {
	for _, restFirst := range []bool{true, false} {
		f := IDFormat{columns: len(m.Columns), restFirst: restFirst}
		fields := make([][]string, f.columns)
		ambiguous := false
		for _, id := range ids {
			pieces, ok := f.Split(id)
			if !ok {
				return IDFormat{}, timepart.Reading{}, false
			}
			ambiguous = ambiguous || strings.Count(id, "-") >= f.columns
			for c, piece := range pieces {
				fields[c] = append(fields[c], piece)
			}
		}
		if times, ok := m.readTimes(fields); ok {
			f.texts = times.Format
			for _, p := range times.Parts {
				f.Parts = append(f.Parts, TimePart{Unit: p.Unit.String(), Column: p.Column, At: p.At, Named: p.Named, Half: p.Half, Pair: p.Pair, Dates: string(p.Dates)})
			}
			return f, times, true
		}
		if !ambiguous || f.columns == 1 {
			break
		}
	}
	return IDFormat{}, timepart.Reading{}, false
}

// readTimes reads the texts of each column of the mode.
func (m Mode) readTimes(fields [][]string) (timepart.Reading, bool) {
	if times, ok := m.readYearPairs(fields[0]); ok {
		return times, true
	}
	return timepart.Read(m.Columns, fields)
}

// readYearPairs reads ids that are years and the next one, as 1999/00.
func (m Mode) readYearPairs(ids []string) (timepart.Reading, bool) {
	if m.Func != "" || len(m.Columns) != 1 {
		return timepart.Reading{}, false
	}
	return timepart.ReadYearPairs(m.Columns[0], ids)
}

// Split undoes the joining of columns by '-'. If the values of a column contain that
// character too, the surplus belongs to the first column or to the last.
func (f IDFormat) Split(id string) (columns []string, ok bool) {
	pieces := strings.Split(id, "-")
	over := len(pieces) - f.columns
	if over < 0 {
		return nil, false
	}
	if f.restFirst {
		return append([]string{strings.Join(pieces[:over+1], "-")}, pieces[over+1:]...), true
	}
	return append(pieces[:f.columns-1:f.columns-1], strings.Join(pieces[f.columns-1:], "-")), true
}

// Values returns the number of each part of an id: the seconds of a date since 1970, and
// numbers otherwise. The id need not be among those that the format was found for.
func (f IDFormat) Values(id string) (values []float64, ok bool) {
	columns, ok := f.Split(id)
	if !ok {
		return nil, false
	}
	return f.texts.Read(columns)
}

// Tokens cuts the text of a column into its numbers and what is between them.
func (f IDFormat) Tokens(text string) []periodtext.Token { return f.texts.Tokens(text) }
