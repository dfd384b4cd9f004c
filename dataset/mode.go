package dataset

import (
	"fmt"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset/internal/calendar"
	"github.com/kernel-fried-tensor/kft/dataset/internal/fieldtext"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
)

// Mode describes how the ids of one mode are made: from one column, from several columns
// joined by '-', by a calendar function of one column, or as those of a covariate.
type Mode struct {
	Name    string
	Columns []string
	Func    string // "", one of Functions, or that of a covariate
	Dates   string // order of the dates that Func reads, see [DateOrders]; "" as in 12/31/2016 and 31.12.2016

	idDates string // the same for the ids, see [Mode.WithIDDates]
	idWeeks bool   // ids such as 202352 are weeks
	idClock bool   // ids join a date and a time of the day, see [Mode.HasClock]
}

// reserved are the characters that separate modes, cores and ranks in a
// specification. A mode's name may not contain them.
const reserved = ",*:=()"

// ValidModeName reports whether a mode may have the name.
func ValidModeName(name string) bool { return name != "" && !strings.ContainsAny(name, reserved) }

// ParseMode reads "store", "time=year+month", "hour(timestamp)" or "h=hour(timestamp)",
// "month(dmy(day))" for dates with the day first, and the covariates number(price), level(promo),
// covariate(price), joint(lat+lon), lag(1) and periods(store+item). Without a name before '=' the mode takes the
// name of its column, of its columns joined by '+', or of its function.
//
// A column whose name contains one of + , = ( ) or " is written in double quotes,
// with each quote in it doubled: "a+b", price="price (USD)",
// time="year, fiscal"+month.
func ParseMode(s string) (Mode, error) {
	m, err := parseMode(s)
	if err != nil {
		return Mode{}, fielderr.Errorf("data.modes", "mode %q: %w", s, err)
	}
	return m, nil
}

func parseMode(s string) (Mode, error) {
	name, source, named := fieldtext.CutUnquoted(s, '=')
	if !named {
		name, source = "", s
	}
	var m Mode
	source = strings.TrimSpace(source)
	if open := fieldtext.IndexUnquoted(source, '('); open >= 0 {
		if !strings.HasSuffix(source, ")") {
			return Mode{}, fmt.Errorf("the parenthesis is not closed; write it as hour(timestamp)")
		}
		inner := source[open+1 : len(source)-1]
		if err := m.setFunction(strings.TrimSpace(source[:open]), &inner); err != nil {
			return Mode{}, fmt.Errorf("%w; a column with that name is written in quotes: %s", err, fieldtext.QuoteColumn(source))
		}
		source = inner
		if m.Func != periodsFunction && !m.Joint() && !m.Target() && fieldtext.IndexUnquoted(source, '+') >= 0 || fieldtext.IndexUnquoted(source, '(') >= 0 || fieldtext.IndexUnquoted(source, ')') >= 0 {
			return Mode{}, fmt.Errorf("a function takes one column, as in hour(timestamp)")
		}
	}
	for more := true; more; {
		var column string
		column, source, more = fieldtext.CutUnquoted(source, '+')
		column, ok := fieldtext.UnquoteColumn(strings.TrimSpace(column))
		if !ok {
			return Mode{}, fmt.Errorf(`a quote is not closed; write "a+b", and double each quote within quotes`)
		}
		if column == "" {
			return Mode{}, fmt.Errorf("the name of a column is missing; write store, time=year+month or hour(timestamp)")
		}
		m.Columns = append(m.Columns, column)
	}
	if err := m.checkLag(); err != nil {
		return Mode{}, err
	}
	if m.Joint() && len(m.Columns) < 2 {
		return Mode{}, fmt.Errorf("%[1]s needs two covariates or more, as in %[1]s(%[2]s+other); one alone is number(%[2]s)", m.Func, m.Columns[0])
	}
	m.Name = m.defaultName()
	if named {
		m.Name = strings.TrimSpace(name)
	}
	if m.Name == "" {
		return Mode{}, fmt.Errorf("the name before '=' is missing; write it as time=year+month")
	}
	if strings.ContainsAny(m.Name, reserved) {
		return Mode{}, fmt.Errorf("the name of a mode may not contain any of %q; give it a name, as in time=%s", reserved, m.Expression())
	}
	return m, nil
}

// ParseModes reads modes separated by commas. Their names must be unique.
func ParseModes(s string) ([]Mode, error) {
	var modes []Mode
	for _, part := range SplitModes(s) {
		m, err := ParseMode(part)
		if err != nil {
			return nil, err
		}
		modes = append(modes, m)
	}
	if err := checkModes(modes); err != nil {
		return nil, err
	}
	return modes, nil
}

// SplitModes splits lists of modes at the commas outside quotes.
func SplitModes(lists ...string) []string {
	var parts []string
	for _, s := range lists {
		for more := true; more; {
			var part string
			part, s, more = fieldtext.CutUnquoted(s, ',')
			parts = append(parts, strings.TrimSpace(part))
		}
	}
	return parts
}

func checkModes(modes []Mode) error {
	if len(modes) == 0 {
		return fielderr.Errorf("data.modes", "there are no modes; name the columns of ids, as in store,item,time=year+month")
	}
	seen := map[string]bool{}
	for _, m := range modes {
		if seen[m.Name] {
			return fielderr.Errorf("data.modes", "two modes have the name %q; rename one of them, as in other=%s", m.Name, m.Expression())
		}
		seen[m.Name] = true
	}
	return nil
}

// ID makes the id of a cell from the values of the mode's columns. The result ok is
// false if the value of a column is absent.
func (m Mode) ID(values map[string]string) (id string, ok bool, err error) {
	var parts []string
	if m.Target() || m.Joint() {
		return "", false, nil // not made of the values of its columns
	}
	for _, column := range m.Columns {
		value, there := values[column]
		if !there {
			return "", false, nil
		}
		parts = append(parts, strings.TrimSpace(value))
	}
	if m.Func == "" || m.Covariate() {
		return strings.Join(parts, "-"), true, nil
	}
	t, isMoment := m.Moment(parts[0])
	if !isMoment {
		return "", false, fmt.Errorf("%s=%s is not %s, which %s requires; %s", m.Columns[0], parts[0], calendar.Moment, m.Expression(), m.MomentRemedy(parts[0]))
	}
	return string(calendar.ByName(m.Func)(nil, t)), true, nil
}

// String returns a text from which ParseMode makes an equal Mode.
func (m Mode) String() string {
	if m.Name == m.defaultName() {
		return m.Expression()
	}
	return m.Name + "=" + m.Expression()
}

// Expression returns the columns as they are written, with the function around them:
// year+month, hour(timestamp).
func (m Mode) Expression() string {
	quoted := make([]string, len(m.Columns))
	for i, column := range m.Columns {
		quoted[i] = fieldtext.QuoteColumn(column)
	}
	columns := strings.Join(quoted, "+")
	if m.Dates != "" {
		columns = m.Dates + "(" + columns + ")"
	}
	if m.Func != "" {
		return m.Func + "(" + columns + ")"
	}
	return columns
}

func (m Mode) defaultName() string {
	switch {
	case m.Func == lagFunction:
		return m.Func + m.Columns[0]
	case m.Func != "" && (m.Computed() || !m.Covariate()):
		return m.Func
	}
	return strings.Join(m.Columns, "+")
}
