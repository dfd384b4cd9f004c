package dataset

import (
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset/internal/calendar"
	"github.com/kernel-fried-tensor/kft/dataset/internal/periodtext"
)

// An IDFormat is how the ids of a mode write a time: which columns and numbers in them
// are the year, the month, and so on.
type IDFormat struct {
	Parts    []TimePart // from coarse to fine
	TwoYears bool       // a period is written as its year and the next, as in 1999/00

	columns   int
	restFirst bool     // a column's own '-' belong to the first column, else to the last
	firstYear float64  // of years with two digits: lower ones belong to the next century
	compact   float64  // the largest month or week, if it is one number with the year, as in 201612; else 0
	around    []string // by column: the text around its numbers
}

// A TimePart is one number of an id, or a whole date.
type TimePart struct {
	Unit   string // date, year, quarter, month, week, day, weekday, hour or minute; "" for a running number
	Column int    // of the mode
	At     int    // among the numbers of the column
	Named  bool   // the column or the id names the unit; otherwise its range suggests it
	Half   bool   // of a time of the day with AM or PM
	Dates  string // order of day, month and year of a date, see [DateOrders]

	clock calendar.Clock // of a date
}

type idReading struct {
	IDFormat
	sorted []calendarPart
	note   string
}

// readIDs finds the format of ids with an order in time.
func (m Mode) readIDs(ids []string) (idReading, bool) {
	for _, restFirst := range []bool{true, false} {
		f := IDFormat{columns: len(m.Columns), restFirst: restFirst}
		fields := make([][]string, f.columns)
		ambiguous := false
		for _, id := range ids {
			pieces, ok := f.Split(id)
			if !ok {
				return idReading{}, false
			}
			ambiguous = ambiguous || strings.Count(id, "-") >= f.columns
			for c, piece := range pieces {
				fields[c] = append(fields[c], piece)
			}
		}
		if parts, ok := sixDigits(m, fields); ok {
			f.compact, f.around = calendarParts[parts[1].role].most, []string{""}
			f.Parts = []TimePart{{Unit: aYear.unit(), Named: true}, {Unit: parts[1].role.unit(), At: 1, Named: true}}
			return idReading{IDFormat: f, sorted: parts}, true
		}
		if part, around, ok := yearPairs(m, fields); ok {
			f.TwoYears, f.around = true, []string{around}
			f.Parts = []TimePart{{Unit: aYear.unit(), Named: true}}
			return idReading{IDFormat: f, sorted: []calendarPart{part}}, true
		}
		if parts, ok := partsOfColumns(m.Columns, fields); ok {
			if note, ok := rankParts(parts); ok {
				for _, p := range parts {
					f.Parts = append(f.Parts, TimePart{Unit: p.role.unit(), Column: p.column, At: p.at, Named: p.named, Half: p.half, Dates: string(p.dates), clock: p.clock})
					f.firstYear = max(f.firstYear, p.firstYear)
				}
				for _, column := range fields {
					f.around = append(f.around, around(column))
				}
				return idReading{IDFormat: f, sorted: parts, note: note}, true
			}
		}
		if !ambiguous || f.columns == 1 {
			break
		}
	}
	return idReading{}, false
}

func (r calendarRole) unit() string {
	switch r {
	case anyNumber:
		return ""
	case wholeDate:
		return "date"
	}
	return calendarParts[r].words[0]
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
	if f.compact > 0 {
		tokens, ok := periodtext.CutYear(id, f.compact)
		if !ok {
			return nil, false
		}
		return []float64{tokens[0].Number, tokens[1].Number}, true
	}
	if f.TwoYears {
		year, around, ok := yearPair(id)
		return []float64{year}, ok && around == f.around[0]
	}
	for _, p := range f.Parts {
		text := columns[p.Column]
		if p.Unit == "date" {
			t, ok := calendar.Order(p.Dates).Parse([]byte(text))
			if !ok {
				return nil, false
			}
			seconds, ok := p.clock.Seconds(t)
			if !ok {
				return nil, false
			}
			values = append(values, seconds)
			continue
		}
		numbers, words := []float64(nil), f.around[p.Column]
		if p.Half {
			if numbers, ok = halfClock(text); !ok {
				return nil, false
			}
		} else if plain, ok := plainNumbers([]string{text}); ok && words == "" { // 1.2016 may be January as well
			numbers = plain.values
		} else if numbers, _, words = cutNumbers(text); words != f.around[p.Column] {
			return nil, false
		}
		if p.At >= len(numbers) {
			return nil, false
		}
		v := numbers[p.At]
		if p.Unit == "year" && v < f.firstYear {
			v += 100
		}
		values = append(values, v)
	}
	return values, true
}

// Tokens cuts the text of a column into its numbers and what is between them.
func (f IDFormat) Tokens(text string) []periodtext.Token {
	if tokens, ok := periodtext.CutYear(text, f.compact); f.compact > 0 && ok {
		return tokens
	}
	return periodtext.Cut(text)
}

// The number of ids from which numbers such as 201612 are months, or weeks, whatever the
// name of their column: that all of them end in 01 to 12, or in 01 to 53, is not by chance.
const (
	fewMonths = 6
	fewWeeks  = 26
)

// sixDigits reads a single column of numbers such as 201612 as months or, if some end in 13
// to 53 or the column is named so, as weeks.
func sixDigits(m Mode, fields [][]string) ([]calendarPart, bool) {
	if len(fields) != 1 {
		return nil, false
	}
	named := roleOfName(m.Columns[0])
	if parts, ok := cutYears(fields[0], aMonth); ok && named != aWeek {
		return parts, named == aMonth || len(fields[0]) >= fewMonths
	}
	parts, ok := cutYears(fields[0], aWeek)
	return parts, ok && (named == aWeek || len(fields[0]) >= fewWeeks)
}

// cutYears cuts numbers of six digits into the year and a month or a week.
func cutYears(texts []string, role calendarRole) ([]calendarPart, bool) {
	parts := []calendarPart{{role: aYear, named: true}, {role: role, at: 1, named: true}}
	for _, text := range texts {
		tokens, ok := periodtext.CutYear(text, calendarParts[role].most)
		if !ok {
			return nil, false
		}
		for i := range parts {
			parts[i].values = append(parts[i].values, tokens[i].Number)
		}
	}
	return parts, true
}

// around returns the text around the numbers of a column, which all ids share.
func around(texts []string) string {
	if _, plain := plainNumbers(texts); plain && !dottedPeriods(texts) {
		return ""
	}
	_, _, words := cutNumbers(texts[0])
	return words
}
