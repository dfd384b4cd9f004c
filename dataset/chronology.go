package dataset

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset/internal/calendar"
	"github.com/kernel-fried-tensor/kft/dataset/internal/fieldtext"
	"github.com/kernel-fried-tensor/kft/dataset/internal/periodtext"
	"github.com/kernel-fried-tensor/kft/internal/columnname"
)

// A Chronology is the order in time of a mode's ids.
type Chronology struct {
	Order []int32 // codes, earliest first
	Note  string  // assumption that the order rests on, or ""

	Format IDFormat // how the ids write the time

	// Cycle is the unit of periods without a year that fill their cycle, such as the months
	// Jan to Dec: nothing can follow the last of them. It is "" for others.
	Cycle string
}

// calendarRole is what a number in an id counts. The roles are ordered from coarse
// to fine.
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
	aSecond
)

// calendarParts lists, for each role, the names that its column may have in some languages, the largest
// value (a larger one means a running number), and the roles that restart its count.
var calendarParts = map[calendarRole]struct {
	words  []string
	most   float64
	within []calendarRole
}{
	aYear:    {words: []string{"year", "yr", "yyyy", "jahr", "jaar", "année", "annee", "año", "ano", "anno", "год", "年"}, most: 9999},
	aQuarter: {words: []string{"quarter", "qtr", "quartal", "kwartaal", "trimestre", "квартал"}, most: 4, within: []calendarRole{aYear}},
	aMonth:   {words: []string{"month", "mon", "mth", "mo", "yearmonth", "yyyymm", "monat", "maand", "mois", "mes", "mês", "mese", "месяц", "月"}, most: 12, within: []calendarRole{aYear}},
	aWeek:    {words: []string{"week", "wk", "yearweek", "yyyyww", "woche", "kw", "semaine", "semana", "settimana", "неделя"}, most: 53, within: []calendarRole{aYear}},
	aDay:     {words: []string{"day", "jour", "día", "dia", "giorno", "dag", "день", "日"}, most: 31, within: []calendarRole{aMonth}},
	aWeekday: {words: []string{"weekday", "dow", "wochentag"}, most: 7, within: []calendarRole{aWeek}},
	anHour:   {words: []string{"hour", "hr", "stunde", "heure", "hora", "uur", "час"}, most: 24, within: []calendarRole{wholeDate, aDay, aWeekday}},
	aMinute:  {words: []string{"minute"}, most: 60, within: []calendarRole{anHour}},
	aSecond:  {words: []string{"second"}, most: 60, within: []calendarRole{aMinute}},
}

// cyclicFunctions repeat: the ids of hour(at) do not determine the day.
var cyclicFunctions = []string{"quarter", "month", "week", "day", "weekday", "hour", "minute", "clock"}

// Chronology finds the order in time of a mode's ids: dates by date; numbers by size;
// several numbers (year and month, in one column or joined from several) by the names
// of their columns and by their range, with the year first wherever it stands. It
// returns an error if the order is ambiguous, because a guess could put the future
// into the training set.
func (m Mode) Chronology(ids []string) (Chronology, error) {
	if slices.Contains(cyclicFunctions, m.Func) {
		column := fieldtext.QuoteColumn(m.Columns[0])
		return Chronology{}, fmt.Errorf("mode %s is %s, which is cyclic and has no last %s; use a mode made of yearmonth(%s) or date(%s), or of columns such as time=year+month",
			m.Name, m.Expression(), m.Func, column, column)
	}
	if f, ok := m.readIDs(ids); ok {
		return Chronology{Order: sortedBy(f.sorted, ids), Note: f.note, Format: f.IDFormat, Cycle: cycleOf(f.sorted)}, nil
	}
	if _, bad := calendar.MostDates(ids); bad != nil {
		return Chronology{}, fmt.Errorf("id %q of mode %s is not a date, but almost all others are; correct it or remove its rows", bad[0], m.Name)
	}
	if a, b, mixed := m.MixedTimes(ids); mixed {
		return Chronology{}, fmt.Errorf("the ids of mode %s are times in several forms, as %q and %q; write all of them alike, as 2016-12 or 2016-12-31", m.Name, a, b)
	}
	first, last := slices.MinFunc(ids, fieldtext.CompareNatural), slices.MaxFunc(ids, fieldtext.CompareNatural)
	return Chronology{}, fmt.Errorf("the order in time of mode %s (ids %q to %q) is ambiguous; make it from a year and a period within the year (time=year+month), from yearmonth(column) or date(column), or write its ids as 2016-12 or 2016-12-31",
		m.Name, first, last)
}

// mostForms is the largest number of forms of one column that are taken for times.
const mostForms = 4

// MixedTimes reports whether the ids of a mode of one column, which have no common order in
// time, are times in several forms, each of which has one, and returns two ids that differ in form.
func (m Mode) MixedTimes(ids []string) (a, b string, mixed bool) {
	if m.Func != "" || len(m.Columns) != 1 || len(ids) < 2 {
		return "", "", false
	}
	if with, without, mixed := calendar.SomeZoned(ids); mixed {
		return with, without, true
	}
	forms := map[string][]string{}
	var names []string
	for _, id := range ids {
		form := formOf(id)
		if forms[form] == nil {
			if names = append(names, form); len(names) > mostForms {
				return "", "", false
			}
		}
		forms[form] = append(forms[form], id)
	}
	if len(names) < 2 {
		return "", "", false
	}
	for _, form := range names {
		if f, ok := m.readIDs(forms[form]); !ok || strings.Trim(form, "9") == "" && len(form) < 4 || len(f.Parts) == 0 {
			return "", "", false
		}
	}
	if _, common := m.readIDs(ids); common {
		return "", "", false
	}
	return forms[names[0]][0], forms[names[1]][0], true
}

// formOf replaces the digits of an id by 9, where one digit and two are alike, and letters by a.
func formOf(id string) string {
	var form []byte
	for i := 0; i < len(id); {
		n := 0
		for i+n < len(id) && id[i+n] >= '0' && id[i+n] <= '9' {
			n++
		}
		switch c := id[i] | 0x20; {
		case n > 0:
			form = append(form, "99"...)
			for range n - 2 {
				form = append(form, '9')
			}
			i += n
		case c >= 'a' && c <= 'z':
			form = append(form, 'a')
			i++
		default:
			form = append(form, id[i])
			i++
		}
	}
	return string(form)
}

// calendarPart is one number of every id.
type calendarPart struct {
	role      calendarRole
	values    []float64
	most      float64
	firstYear float64 // of years with two digits; see startOfCentury
	column    int     // of the mode
	at        int     // among the numbers of the column
	named     bool    // the role is not a guess by its range
	half      bool    // a part of a time of the day with AM or PM
	dates     calendar.Order
	clock     calendar.Clock
	note      string // how ambiguous dates are read
}

// partsOfColumns reads the values of each column as dates, as numbers, or as texts
// that differ only in their numbers.
func partsOfColumns(columns []string, fields [][]string) (parts []calendarPart, ok bool) {
	for c, values := range fields {
		if p, ok := datePart(columns[c], values); ok {
			p.column = c
			parts = append(parts, p)
			continue
		}
		within, ok := numberParts(values)
		if len(parts) == 1 && parts[0].role == wholeDate && !(ok && areClocks(values)) {
			if clock, half := halfClockParts(values); half {
				within, ok = clock, true
			}
		}
		if !ok {
			return nil, false
		}
		if len(within) == 1 && within[0].role == anyNumber {
			within[0].role = roleOfName(columns[c])
		}
		if len(parts) == 1 && parts[0].role == wholeDate && areClocks(values) {
			for at := range within {
				within[at].role = anHour + calendarRole(at)
			}
		}
		for at := range within {
			within[at].column, within[at].at, within[at].named = c, at, within[at].role != anyNumber
		}
		parts = append(parts, within...)
	}
	findShortYears(parts)
	for i := range parts {
		p := &parts[i]
		p.most = slices.Max(p.values)
		if p.role == anyNumber && slices.Min(p.values) >= 1000 && p.most <= 2999 && allWhole(p.values) {
			p.role = aYear
		}
		if p.role == aYear && p.most < 100 { // two digits
			p.firstYear = startOfCentury(p.values)
			for k, v := range p.values {
				if v < p.firstYear { // of the next century
					p.values[k] += 100
				}
			}
		}
	}
	return parts, true
}

// areClocks reports whether all texts are times of the day, as 9:30 or 09:30:00.
func areClocks(texts []string) bool {
	for _, text := range texts {
		pieces := strings.Split(text, ":")
		if len(pieces) != 2 && len(pieces) != 3 {
			return false
		}
		for i, piece := range pieces {
			n, err := strconv.Atoi(piece)
			if err != nil || len(piece) > 2 || i > 0 && len(piece) != 2 || n < 0 || float64(n) > calendarParts[anHour+calendarRole(i)].most {
				return false
			}
		}
	}
	return len(texts) > 0
}

// startOfCentury returns the year of two digits after the longest gap between years, if the
// year 99 is followed by 00: the other years then follow it as closely as they can, as in
// 98, 99, 00, 01 and in 63 to 92.
func startOfCentury(years []float64) float64 {
	sorted := slices.Compact(slices.Sorted(slices.Values(years)))
	first, gap := sorted[0], sorted[0]+100-sorted[len(sorted)-1]
	for i := 1; i < len(sorted); i++ {
		if d := sorted[i] - sorted[i-1]; d > gap {
			first, gap = sorted[i], d
		}
	}
	return first
}

// findShortYears takes numbers below 100 for years: beside the name of a month, as in Jan-16, unless
// they run from the first to the last days of a month; beside a quarter, as in Q1'16; and
// after a day and the name of a month, as in 31-Jan-16.
func findShortYears(parts []calendarPart) {
	short := func(p *calendarPart) bool {
		return p.role == anyNumber && slices.Min(p.values) >= 0 && slices.Max(p.values) < 100 && allWhole(p.values)
	}
	oneColumn := !slices.ContainsFunc(parts, func(p calendarPart) bool { return p.column != parts[0].column })
	switch {
	case len(parts) == 3 && oneColumn && parts[1].role == aMonth && parts[1].named && short(&parts[0]) && short(&parts[2]):
		day, year := &parts[0], &parts[2]
		if low, high := slices.Min(day.values), slices.Max(day.values); low >= 1 && high <= 31 {
			day.role, day.named, year.role, year.named = aDay, true, aYear, true
		}
	case len(parts) == 2 && oneColumn:
		within, year := &parts[0], &parts[1]
		if !within.named {
			within, year = year, within
		}
		if !within.named || !short(year) {
			return
		}
		low, high := slices.Min(year.values), slices.Max(year.values)
		if within.role == aQuarter || within.role == aMonth && (low > 3 || high < 27 || high > 31) {
			year.role, year.named = aYear, true
		}
	}
}

// roleOfName returns the part of a date that a name says. A year may have a prefix, as in iyear or
// fyear.
func roleOfName(column string) calendarRole {
	if slices.ContainsFunc(columnname.Words(column), func(word string) bool { return strings.HasSuffix(word, "year") }) {
		return aYear
	}
	for role := aYear; role <= aMinute; role++ {
		if columnname.HasWord(column, calendarParts[role].words) {
			return role
		}
	}
	return anyNumber
}

func allWhole(values []float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return v != float64(int(v)) })
}

// datePart reads the values of a column as dates.
func datePart(column string, values []string) (p calendarPart, ok bool) {
	p.role = wholeDate
	if dottedQuarters(values) {
		return p, false // not months
	}
	if p.dates, ok = calendar.OrderOf(values); ok {
		p.note = dateOrderNote(column, p.dates, values)
	} else if p.dates, ok = numberDates(column, values); ok {
		p.note = numberNote(column, p.dates, values)
	}
	if !ok {
		return p, false
	}
	moments := make([]time.Time, len(values))
	for i, v := range values {
		moments[i], _ = p.dates.Parse([]byte(v))
	}
	if p.clock, ok = calendar.ClockOf(moments); !ok {
		return p, false
	}
	if strings.Contains(values[0], ":") { // a clock, not unix time
		p.clock = p.clock.WithoutSeconds(moments)
	}
	for _, t := range moments {
		seconds, _ := p.clock.Seconds(t)
		p.values = append(p.values, seconds)
	}
	return p, true
}

// numberParts extracts the numbers from texts that differ only in them: 2016Q1,
// week 12, Jan 2016. The name of a month counts as a number.
func numberParts(values []string) ([]calendarPart, bool) {
	if p, ok := plainNumbers(values); ok && !dottedPeriods(values) {
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

// dottedMonths reports whether every text is a month before its year, as in 01.2016, which
// is not the number 1.2016.
func dottedMonths(values []string) bool {
	for _, text := range values {
		month, year, ok := strings.Cut(text, ".")
		m, err := strconv.Atoi(month)
		if !ok || err != nil || len(month) > 2 || m < 1 || m > 12 || len(year) != 4 || year < "1900" || year > "2100" {
			return false
		}
	}
	return len(values) > 0
}

// dottedPeriods reports whether every text is a month before its year or a quarter behind it, as in
// 01.2016 and 2016.4, which are not decimal numbers.
func dottedPeriods(values []string) bool { return dottedMonths(values) || dottedQuarters(values) }

// fewDottedQuarters is the number of values below which numbers such as 2016.1 are no quarters.
const fewDottedQuarters = 8

// dottedQuarters reports whether the texts are years with a quarter, as in 2016.4, and all four
// quarters are among them.
func dottedQuarters(values []string) bool {
	seen := map[string]bool{}
	for _, text := range values {
		year, quarter, _ := strings.Cut(text, ".")
		if len(year) != 4 || year < "1900" || year > "2100" || len(quarter) != 1 || quarter < "1" || quarter > "4" {
			return false
		}
		seen[quarter] = true
	}
	return len(values) >= fewDottedQuarters && len(seen) == 4
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

// markedRole returns the role of a number after the mark Q or W.
func markedRole(mark string) calendarRole {
	switch strings.ToLower(mark) {
	case "q", "qtr", "quarter":
		return aQuarter
	case "w", "wk", "week":
		return aWeek
	}
	return anyNumber
}

// weekdayMark stands for the name of a weekday, which differs between dates.
const weekdayMark = 2

// cutNumbers returns the numbers in a text, their roles if the text names them, and
// the text with a mark in place of each number.
func cutNumbers(text string) (numbers []float64, roles []calendarRole, around string) {
	var words strings.Builder
	tokens := periodtext.Cut(text)
	for i, token := range tokens {
		switch token.Kind {
		case periodtext.Number:
			role := anyNumber
			if i > 1 || i == 1 && len(tokens) > 2 { // 2016Q1, W05/2016
				role = markedRole(tokens[max(i-1, 0)].Text)
			}
			if role == aQuarter && i >= 2 && len(tokens[i-2].Text) == 1 && tokens[i-2].Kind == periodtext.Number && len(token.Text) > 1 { // 1Q16
				roles[len(roles)-1], role = aQuarter, anyNumber
			}
			numbers, roles = append(numbers, token.Number), append(roles, role)
			words.WriteByte(0)
		case periodtext.Month:
			numbers, roles = append(numbers, token.Number), append(roles, aMonth)
			words.WriteByte(1)
		case periodtext.Weekday:
			words.WriteByte(weekdayMark)
		default:
			words.WriteString(strings.ToLower(token.Text))
		}
	}
	return numbers, roles, words.String()
}

// rankParts sorts parts from coarse to fine. It fails if the role of a part is
// unknown, or if the count of a part restarts with something that is not among the
// parts: year and hour, without the day.
func rankParts(parts []calendarPart) (note string, ok bool) {
	if !assignRoles(parts) {
		return "", false
	}
	slices.SortStableFunc(parts, func(a, b calendarPart) int { return cmp.Compare(a.role, b.role) })
	note = parts[0].note
	for i, p := range parts {
		about := calendarParts[p.role]
		running := len(about.within) == 0 || p.most > about.most
		switch {
		case i > 0 && parts[i-1].role == p.role:
			return "", false
		case i == 0 && !running:
			cycle := about.words[0]
			note = fmt.Sprintf("a %s is cyclic, and the table does not say which cycle it belongs to: the order of the periods is right only if the table spans a single cycle; add the missing part, as in time=year+month", cycle)
		case i > 0 && parts[0].role == wholeDate: // the date determines all but the hour
		case i > 0 && !running && !slices.ContainsFunc(parts[:i], func(q calendarPart) bool { return slices.Contains(about.within, q.role) }):
			return "", false
		}
	}
	return note, true
}

// cycleEnds are the values from which on a cycle is full; hours and days of the week may count
// from 0, and years may have 52 weeks.
var cycleEnds = map[calendarRole]float64{aQuarter: 4, aMonth: 12, aWeek: 52, aDay: 28, aWeekday: 6, anHour: 23, aMinute: 59}

// cycleOf returns the unit of parts that fill the cycle of the coarsest one, or "".
func cycleOf(parts []calendarPart) string {
	if len(parts) == 0 {
		return ""
	}
	p := parts[0]
	if end, cyclic := cycleEnds[p.role]; !cyclic || p.most < end || p.most > calendarParts[p.role].most {
		return ""
	}
	return calendarParts[p.role].words[0]
}

// assignRoles gives a role to numbers that nothing names. A number alone counts
// periods. Beside a year or a date its range determines its role. It reports whether
// all numbers have a role.
func assignRoles(parts []calendarPart) bool {
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
		// It counts something within the year. As a week it is finer than a year and,
		// beyond 53, a running number.
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

// sortedBy returns the codes in the order of their parts, and in natural order if the
// parts are equal (2015-1 and 2015-01).
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
		return fieldtext.CompareNatural(ids[a], ids[b])
	})
	return order
}
