package dataset

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A chronology is the order in time of a mode's ids.
type chronology struct {
	order []int32 // codes, the earliest first
	note  string  // what the order takes for granted, or ""
}

// calendarRole is what a number in an id counts. A role further down counts
// within the one that spans gives.
type calendarRole int

const (
	anyNumber calendarRole = iota // 1, 2, 3, ... of anything
	wholeDate                     // a date or a moment
	aYear
	aQuarter
	aMonth
	aWeek
	aDay
	aWeekday
	anHour
	aMinute
)

// calendarParts says of each role what a column of it may be called, the largest
// value before it is taken for a running number, and what it starts anew with.
var calendarParts = map[calendarRole]struct {
	words  []string
	most   float64
	within []calendarRole
}{
	aYear:    {words: []string{"year", "yr", "yyyy"}, most: 9999},
	aQuarter: {words: []string{"quarter", "qtr"}, most: 4, within: []calendarRole{aYear}},
	aMonth:   {words: []string{"month", "mon", "mth"}, most: 12, within: []calendarRole{aYear}},
	aWeek:    {words: []string{"week", "wk"}, most: 53, within: []calendarRole{aYear}},
	aDay:     {words: []string{"day"}, most: 31, within: []calendarRole{aMonth}},
	aWeekday: {words: []string{"weekday", "dow"}, most: 7, within: []calendarRole{aWeek}},
	anHour:   {words: []string{"hour", "hr"}, most: 24, within: []calendarRole{wholeDate, aDay, aWeekday}},
	aMinute:  {words: []string{"minute"}, most: 60, within: []calendarRole{anHour}},
}

// cyclicFunctions come round again: the ids of hour(at) say nothing of the day.
var cyclicFunctions = []string{"quarter", "month", "week", "day", "weekday", "hour"}

// chronologyOf finds the order in time of a mode's ids: dates by date; numbers by
// size; several numbers (year and month, in one column or joined from several) by
// what their columns are called and by their range, the year first wherever it
// stands. Where it cannot be told that is an error, for a guess would let the
// future into the training rows.
func chronologyOf(m Mode, ids []string) (chronology, error) {
	if slices.Contains(cyclicFunctions, m.Func) {
		column := quoteColumn(m.Columns[0])
		return chronology{}, fmt.Errorf("mode %s is %s, which comes round again and so has no last %s; make a mode of yearmonth(%s) or date(%s), or of columns such as time=year+month",
			m.Name, m.source(), m.Func, column, column)
	}
	for _, fields := range splitIDs(ids, len(m.Columns)) {
		parts, ok := partsOfColumns(m.Columns, fields)
		if !ok {
			continue
		}
		if note, ok := rankParts(parts); ok {
			return chronology{order: sortedBy(parts, ids), note: note}, nil
		}
	}
	first, last := slices.MinFunc(ids, compareNatural), slices.MaxFunc(ids, compareNatural)
	return chronology{}, fmt.Errorf("the order in time of mode %s (ids %q to %q) cannot be told; make it of a year and what is within it (time=year+month), of yearmonth(column) or date(column), or write its ids as 2016-12 or 2016-12-31",
		m.Name, first, last)
}

// splitIDs undoes the joining of n columns by '-'. Where a column's values hold
// that character too there are two ways: the first column takes what is over, or
// the last does. fields[c] are the values of column c.
func splitIDs(ids []string, n int) (ways [][][]string) {
	for _, restFirst := range []bool{true, false} {
		fields := make([][]string, n)
		ambiguous := false
		for _, id := range ids {
			pieces := strings.Split(id, "-")
			over := len(pieces) - n
			if over < 0 {
				return ways
			}
			ambiguous = ambiguous || over > 0
			if restFirst {
				pieces = append([]string{strings.Join(pieces[:over+1], "-")}, pieces[over+1:]...)
			} else {
				pieces = append(pieces[:n-1:n-1], strings.Join(pieces[n-1:], "-"))
			}
			for c, piece := range pieces {
				fields[c] = append(fields[c], piece)
			}
		}
		ways = append(ways, fields)
		if !ambiguous || n == 1 {
			break
		}
	}
	return ways
}

// calendarPart is one number of every id.
type calendarPart struct {
	role   calendarRole
	values []float64
	most   float64
}

// partsOfColumns reads the values of each column as dates, as numbers, or as
// texts with the same words around their numbers.
func partsOfColumns(columns []string, fields [][]string) (parts []calendarPart, ok bool) {
	for c, values := range fields {
		if p, ok := datePart(values); ok {
			parts = append(parts, p)
			continue
		}
		within, ok := numberParts(values)
		if !ok {
			return nil, false
		}
		if len(within) == 1 && within[0].role == anyNumber {
			within[0].role = roleCalled(columns[c])
		}
		parts = append(parts, within...)
	}
	for i := range parts {
		p := &parts[i]
		p.most = slices.Max(p.values)
		if p.role == anyNumber && slices.Min(p.values) >= 1000 && p.most <= 2999 && allWhole(p.values) {
			p.role = aYear
		}
		if p.role == aYear && p.most < 100 { // 98, 99, 00, 01
			for k, v := range p.values {
				if v < 70 {
					p.values[k] += 100
				}
			}
		}
	}
	return parts, true
}

func roleCalled(column string) calendarRole {
	for role := aYear; role <= aMinute; role++ {
		if called(column, calendarParts[role].words) {
			return role
		}
	}
	return anyNumber
}

func allWhole(values []float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return v != float64(int(v)) })
}

func datePart(values []string) (calendarPart, bool) {
	p := calendarPart{role: wholeDate}
	for _, v := range values {
		t, ok := parseMoment([]byte(v))
		if !ok {
			return p, false
		}
		p.values = append(p.values, float64(t.UnixNano())/1e9)
	}
	return p, true
}

// numberParts takes the numbers out of texts that are alike but for them: 2016Q1,
// week 12, Jan 2016. The name of a month is a number.
func numberParts(values []string) ([]calendarPart, bool) {
	if p, ok := plainNumbers(values); ok {
		return []calendarPart{p}, true
	}
	var parts []calendarPart
	around := ""
	for k, text := range values {
		numbers, roles, words := cutNumbers(text)
		if k == 0 {
			around = words
			for _, role := range roles {
				parts = append(parts, calendarPart{role: role})
			}
		}
		if words != around || len(numbers) != len(parts) || len(numbers) == 0 {
			return nil, false
		}
		for i, v := range numbers {
			parts[i].values = append(parts[i].values, v)
		}
	}
	return parts, true
}

func plainNumbers(values []string) (p calendarPart, ok bool) {
	for _, text := range values {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || v-v != 0 {
			return p, false
		}
		p.values = append(p.values, v)
	}
	return p, true
}

// cutNumbers returns the numbers of a text, what their words say they are, and the
// text with a mark in place of each.
func cutNumbers(text string) (numbers []float64, roles []calendarRole, around string) {
	var words strings.Builder
	isLetter := func(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80 }
	for i := 0; i < len(text); {
		start := i
		switch {
		case isDigit(text[i]):
			for i < len(text) && isDigit(text[i]) {
				i++
			}
			v, _ := strconv.ParseFloat(text[start:i], 64)
			numbers, roles = append(numbers, v), append(roles, anyNumber)
			words.WriteByte(0)
		case isLetter(text[i]):
			for i < len(text) && isLetter(text[i]) {
				i++
			}
			word := strings.ToLower(text[start:i])
			if month := monthNamed(word); month > 0 {
				numbers, roles = append(numbers, float64(month)), append(roles, aMonth)
				words.WriteByte(1)
			} else {
				words.WriteString(word)
			}
		default:
			words.WriteByte(text[i])
			i++
		}
	}
	return numbers, roles, words.String()
}

func monthNamed(word string) int {
	names := []string{"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}
	for i, name := range names {
		if word == name || word == name[:3] || word == "sept" && i == 8 {
			return i + 1
		}
	}
	return 0
}

// rankParts sorts parts from the coarsest to the finest. It fails where what a
// part counts cannot be told, or where it starts anew with something that is not
// among the parts: year and hour, without the day.
func rankParts(parts []calendarPart) (note string, ok bool) {
	if !nameUnknown(parts) {
		return "", false
	}
	slices.SortStableFunc(parts, func(a, b calendarPart) int { return cmp.Compare(a.role, b.role) })
	for i, p := range parts {
		about := calendarParts[p.role]
		running := len(about.within) == 0 || p.most > about.most
		switch {
		case i > 0 && parts[i-1].role == p.role:
			return "", false
		case i == 0 && !running:
			cycle := about.words[0]
			note = fmt.Sprintf("a %s comes round again, and nothing says with what: the periods are in order only where the table does not span more than one round; add the part that is missing, as in time=year+month", cycle)
		case i > 0 && parts[0].role == wholeDate: // the date says it all but the hour
		case i > 0 && !running && !slices.ContainsFunc(parts[:i], func(q calendarPart) bool { return slices.Contains(about.within, q.role) }):
			return "", false
		}
	}
	return note, true
}

// nameUnknown gives numbers that nothing names a role: alone they count periods;
// beside a year or a date a number is a part of it, by its range.
func nameUnknown(parts []calendarPart) bool {
	var unknown []*calendarPart
	has := map[calendarRole]bool{}
	for i := range parts {
		if parts[i].role == anyNumber {
			unknown = append(unknown, &parts[i])
		}
		has[parts[i].role] = true
	}
	if len(unknown) == 0 || len(parts) == 1 {
		return true
	}
	slices.SortStableFunc(unknown, func(a, b *calendarPart) int { return cmp.Compare(a.most, b.most) })
	fits := func(p *calendarPart, role calendarRole) bool {
		return !has[role] && slices.Min(p.values) >= 1 && p.most <= calendarParts[role].most && allWhole(p.values)
	}
	switch {
	case len(unknown) == 1 && has[aYear] && len(parts) == 2:
		// Whatever it counts, it counts within the year: as a week it is finer than
		// a year and, beyond 53, a running number.
		unknown[0].role = aWeek
		return slices.Min(unknown[0].values) >= 0
	case len(unknown) == 1 && has[aYear] && has[aMonth] && fits(unknown[0], aDay):
		unknown[0].role = aDay
	case len(unknown) == 2 && has[aYear] && unknown[1].most > 12 && fits(unknown[0], aMonth) && fits(unknown[1], aDay):
		unknown[0].role, unknown[1].role = aMonth, aDay
	case len(unknown) == 1 && has[wholeDate] && len(parts) == 2 && unknown[0].most < 24:
		unknown[0].role = anHour
	default:
		return false
	}
	return true
}

// sortedBy returns the codes in the order of their parts; equal ones (2015-1 and
// 2015-01) in natural order.
func sortedBy(parts []calendarPart, ids []string) []int32 {
	order := make([]int32, len(ids))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		for _, p := range parts {
			if c := cmp.Compare(p.values[a], p.values[b]); c != 0 {
				return c
			}
		}
		return compareNatural(ids[a], ids[b])
	})
	return order
}
