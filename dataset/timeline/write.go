package timeline

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/internal/calendar"
	"github.com/kernel-fried-tensor/kft/dataset/internal/periodtext"
)

// A writer writes ids like the latest id of a table.
type writer struct {
	grid    grid
	format  dataset.IDFormat
	weeks   bool
	ends24  bool // midnight is hour 24 of the day before
	columns []columnWriter
}

// columnWriter writes the text of one column.
type columnWriter struct {
	date   *calendar.Layout // of a column of dates
	tokens []periodtext.Token
	part   []int // of each token: its part, -1 for a text, aWeekday or aHalf
	pad    []int // of each token: the number of digits to fill up with zeros
	short  bool  // months have names of three letters

	months   map[int]string // names that occur
	weekdays map[int]string // the same, from 0 for Sunday
}

// In place of the part of a token: the name of a weekday, and AM or PM.
const (
	aWeekday = -2
	aHalf    = -3
)

// newWriter learns how the ids are written. It returns nil if they are not all alike.
func (t *Timeline) newWriter(order []int32) *writer {
	w := &writer{grid: t.grid, format: t.format, weeks: hasUnit(t.format, "week")}
	texts := make([][]string, 0)
	hour := slices.IndexFunc(t.format.Parts, func(p dataset.TimePart) bool { return p.Unit == "hour" })
	for _, code := range order {
		if values, ok := t.format.Values(t.ids[code]); ok && hour >= 0 {
			w.ends24 = w.ends24 || values[hour] == 24
		}
		columns, _ := t.format.Split(t.ids[code])
		for c, text := range columns {
			if c == len(texts) {
				texts = append(texts, nil)
			}
			texts[c] = append(texts[c], text)
		}
	}
	for c := range texts {
		column, ok := t.newColumn(c, texts[c])
		if !ok {
			return nil
		}
		w.columns = append(w.columns, column)
	}
	return w
}

func (t *Timeline) newColumn(c int, texts []string) (columnWriter, bool) {
	example := texts[len(texts)-1]
	var out columnWriter
	var parts []int
	half := false
	for k, p := range t.format.Parts {
		half = half || p.Column == c && p.Half
		switch {
		case p.Column != c:
		case p.Unit == "date":
			order := calendar.Order(p.Dates)
			layout, ok := calendar.LayoutOf(texts, order)
			if !ok { // dates are written in several ways
				texts = slices.DeleteFunc(slices.Clone(texts), func(text string) bool {
					_, alike := calendar.LayoutOf([]string{text, example}, order)
					return !alike
				})
				layout, ok = calendar.LayoutOf(texts, order)
			}
			return columnWriter{date: layout}, ok
		default:
			parts = append(parts, k)
		}
	}
	out.tokens, out.short = t.format.Tokens(example), true
	if _, plain := dataset.Number(example); plain && len(out.tokens) == 1 || len(example) > 0 && example[0] == '-' {
		out.tokens = []periodtext.Token{{Text: example, Kind: periodtext.Number}} // -3 is one number
	}
	out.part, out.pad = make([]int, len(out.tokens)), make([]int, len(out.tokens))
	out.findNames(texts, t.format)
	number := 0
	for i, token := range out.tokens {
		out.part[i] = -1
		if token.Kind == periodtext.Weekday {
			out.part[i] = aWeekday
		}
		if half && token.Kind == periodtext.Other && strings.ContainsAny(token.Text[:1], "aApP") {
			out.part[i] = aHalf
		}
		if token.Kind == periodtext.Other || token.Kind == periodtext.Weekday {
			continue
		}
		for _, k := range parts {
			if p := t.format.Parts[k]; p.At == number || p.Pair && p.At+1 == number {
				out.part[i] = k
			}
		}
		if out.part[i] < 0 {
			return out, false
		}
		out.measure(i, texts, t.format)
		number++
	}
	return out, true
}

// findNames collects the names of months and weekdays that occur.
func (w *columnWriter) findNames(texts []string, format dataset.IDFormat) {
	w.months, w.weekdays = map[int]string{}, map[int]string{}
	for _, text := range texts {
		for _, token := range format.Tokens(text) {
			switch token.Kind {
			case periodtext.Month:
				w.months[int(token.Number)] = token.Text
			case periodtext.Weekday:
				w.weekdays[int(token.Number)] = token.Text
			}
		}
	}
}

// measure finds out whether token i is filled up with zeros. Numbers that all have two
// digits are, if they stand within a text.
func (w *columnWriter) measure(i int, texts []string, format dataset.IDFormat) {
	within := len(w.tokens) > 1
	shortest, longest, zeros := 1<<30, 0, false
	for _, text := range texts {
		token := periodtext.Token{Text: text}
		if tokens := format.Tokens(text); within && i < len(tokens) {
			token = tokens[i]
		}
		shortest, longest = min(shortest, len(token.Text)), max(longest, len(token.Text))
		zeros = zeros || len(token.Text) > 1 && token.Text[0] == '0'
	}
	if w.tokens[i].Kind == periodtext.Month {
		w.short = w.short && longest <= 4
		return
	}
	if zeros || within && shortest == 2 && longest == 2 {
		w.pad[i] = longest
	}
}

// write returns the id at a coordinate.
func (w *writer) write(c int64) (string, bool) {
	var at time.Time
	if w.grid.kind != numbers {
		at = w.grid.at(c)
		if at.Year() < 0 || at.Year() > 9999 {
			return "", false
		}
	}
	if w.ends24 && at.Hour() == 0 {
		at = at.AddDate(0, 0, -1)
	}
	columns := make([]string, len(w.columns))
	for i := range w.columns {
		column := &w.columns[i]
		if column.date != nil {
			if !column.date.Covers(at) {
				return "", false
			}
			columns[i] = column.date.Format(at)
			continue
		}
		var b strings.Builder
		for k, token := range column.tokens {
			if column.part[k] == aWeekday {
				name, known := column.weekdays[int(at.Weekday())]
				if !known {
					return "", false
				}
				b.WriteString(name)
				continue
			}
			if column.part[k] == aHalf {
				b.WriteString(halfName(at, token.Text))
				continue
			}
			if column.part[k] < 0 {
				b.WriteString(token.Text)
				continue
			}
			written := at
			if w.format.Parts[column.part[k]].Pair && slices.Contains(column.part[:k], column.part[k]) {
				written = at.AddDate(1, 0, 0)
			}
			b.WriteString(w.number(c, written, column, k))
		}
		columns[i] = b.String()
	}
	return strings.Join(columns, "-"), true
}

// number returns the text of token k of a column at a coordinate.
func (w *writer) number(c int64, at time.Time, column *columnWriter, k int) string {
	part, token, pad := column.part[k], column.tokens[k], column.pad[k]
	unit := w.format.Parts[part].Unit
	if w.grid.kind == numbers {
		if part != len(w.format.Parts)-1 {
			return token.Text // the year beside a running number is unknown
		}
		return padded(c, pad)
	}
	v := value(unit, at, w.weeks)
	switch {
	case unit == "hour" && v == 0 && w.ends24:
		v = 24
	case unit == "hour" && w.format.Parts[part].Half:
		v = (v+11)%12 + 1
	case token.Kind == periodtext.Month:
		if name, known := column.months[v]; known {
			return name
		}
		return periodtext.MonthName(v, token.Text, column.short)
	case unit == "year" && len(token.Text) == 2:
		return padded(int64(v%100), 2)
	}
	return padded(int64(v), pad)
}

func padded(v int64, width int) string {
	text := strconv.FormatInt(v, 10)
	if n := width - len(text); n > 0 && v >= 0 {
		text = strings.Repeat("0", n) + text
	}
	return text
}

// halfName writes AM or PM, or their first letters, like an example.
func halfName(at time.Time, example string) string {
	names := "apAP"
	i := strings.IndexByte(names, example[0]) &^ 1 // of a or A
	if at.Hour() >= 12 {
		i++
	}
	return names[i:i+1] + example[1:]
}
