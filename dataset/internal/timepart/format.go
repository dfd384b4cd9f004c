package timepart

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset/internal/periodtext"
)

// A Format is how the texts of one or more columns write a time.
type Format struct {
	Parts []Part // from coarse to fine

	firstYear float64  // of years with two digits: lower ones belong to the next century
	compact   float64  // the largest month or week, if it is one number with the year, as in 201612; else 0
	around    []string // by column: the text around its numbers
}

// A Reading is the format of some times and their numbers.
type Reading struct {
	Format
	Values [][]float64 // by part and time, see [Format.Read]
	Note   string      // assumption that it rests on, or ""

	// Cycle is the unit of periods without a year that fill their cycle, such as the months Jan to
	// Dec, or "".
	Cycle string
}

// Read finds the format of times with an order, given the texts of each column that has a part of
// them. ok is false if there is none, or if it is ambiguous.
func Read(columns []string, texts [][]string) (r Reading, ok bool) {
	if len(columns) == 1 {
		if parts, ok := sixDigits(columns[0], texts[0]); ok {
			r.take(parts)
			r.compact = parts[1].Unit.Most()
			return r, true
		}
	}
	parts, ok := partsOfColumns(columns, texts)
	if !ok {
		return Reading{}, false
	}
	if r.Note, ok = rankParts(parts); !ok {
		return Reading{}, false
	}
	r.take(parts)
	r.Cycle = cycleOf(parts)
	for c, column := range texts {
		_, words, pair := yearPair(column[0])
		if !pair || !slices.ContainsFunc(r.Parts, func(p Part) bool { return p.Column == c && p.Pair }) {
			words = around(column)
		}
		r.around = append(r.around, words)
	}
	return r, true
}

// take sets the parts of a reading.
func (r *Reading) take(parts []partValues) {
	for _, p := range parts {
		r.Parts, r.Values = append(r.Parts, p.Part), append(r.Values, p.values)
		r.firstYear = max(r.firstYear, p.firstYear)
	}
}

// Read returns the number of each part of a time, given its text in each column: the seconds of a
// date since 1970, and numbers otherwise. The time need not be among those that the format was found
// for.
func (f Format) Read(columns []string) (values []float64, ok bool) {
	if f.compact > 0 {
		tokens, ok := periodtext.CutYear(columns[0], f.compact)
		if !ok {
			return nil, false
		}
		return []float64{tokens[0].Number, tokens[1].Number}, true
	}
	for _, p := range f.Parts {
		v, ok := f.number(p, columns[p.Column])
		if !ok {
			return nil, false
		}
		values = append(values, v)
	}
	return values, true
}

// number returns the number of a part in the text of its column.
func (f Format) number(p Part, text string) (float64, bool) {
	if p.Unit == Date {
		t, ok := p.Dates.Parse([]byte(text))
		if !ok {
			return 0, false
		}
		return p.clock.Seconds(t)
	}
	if p.Pair {
		year, words, ok := yearPair(text)
		return year, ok && words == f.around[p.Column]
	}
	numbers, words := []float64(nil), f.around[p.Column]
	if p.Half {
		numbers, _ = HalfClock(text)
	} else if plain, ok := plainNumbers([]string{text}); ok && words == "" { // 1.2016 may be January as well
		numbers = plain.values
	} else if numbers, _, words = Numbers(text); words != f.around[p.Column] {
		return 0, false
	}
	if p.At >= len(numbers) {
		return 0, false
	}
	v := numbers[p.At]
	if p.Unit == Year && v < f.firstYear {
		v += 100
	}
	return v, true
}

// Tokens cuts the text of a column into its numbers and what is between them.
func (f Format) Tokens(text string) []periodtext.Token {
	if tokens, ok := periodtext.CutYear(text, f.compact); f.compact > 0 && ok {
		return tokens
	}
	return periodtext.Cut(text)
}

// around returns the text around the numbers of a column, which all texts share.
func around(texts []string) string {
	if _, plain := plainNumbers(texts); plain && !DottedPeriods(texts) {
		return ""
	}
	_, _, words := Numbers(texts[0])
	return words
}
