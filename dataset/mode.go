package dataset

import (
	"fmt"
	"strings"
)

// Mode says how the ids of one mode are made: from one column, from several
// joined by '-', or by a calendar function of one column.
type Mode struct {
	Name    string
	Columns []string
	Func    string // "" or one of Functions()
}

// reserved are the characters that separate modes, cores and ranks on the
// command line; a mode's name may not hold them.
const reserved = ",*:=()"

// quotable are the characters that mean something in a mode's text: a column whose
// name holds one is written in double quotes.
const quotable = "+,=()\""

// ParseMode reads "store", "time=year+month", "hour(timestamp)" or
// "h=hour(timestamp)". Without a name before '=' a mode is called as its column,
// its columns with the '+', or its function.
//
// A column whose name holds one of + , = ( ) or " is written in double quotes, a
// quote within them as two: "a+b", price="price (USD)", time="year, fiscal"+month.
func ParseMode(s string) (Mode, error) {
	name, source, named := cutUnquoted(s, '=')
	if !named {
		name, source = "", s
	}
	var m Mode
	source = strings.TrimSpace(source)
	if open := indexUnquoted(source, '('); open >= 0 {
		if !strings.HasSuffix(source, ")") {
			return Mode{}, fmt.Errorf("mode %q: the parenthesis is not closed; write it as hour(timestamp)", s)
		}
		m.Func = strings.TrimSpace(source[:open])
		if err := checkFunction(m.Func); err != nil {
			return Mode{}, fmt.Errorf("mode %q: %w; a column of that name is written in quotes: %s", s, err, quoteColumn(source))
		}
		source = source[open+1 : len(source)-1]
		if indexUnquoted(source, '+') >= 0 || indexUnquoted(source, '(') >= 0 || indexUnquoted(source, ')') >= 0 {
			return Mode{}, fmt.Errorf("mode %q: a function takes one column, as in hour(timestamp)", s)
		}
	}
	for more := true; more; {
		var column string
		column, source, more = cutUnquoted(source, '+')
		column, ok := unquoteColumn(strings.TrimSpace(column))
		if !ok {
			return Mode{}, fmt.Errorf(`mode %q: the quotes are not closed; write "a+b", and a quote within quotes twice`, s)
		}
		if column == "" {
			return Mode{}, fmt.Errorf("mode %q: a column's name is missing; write store, time=year+month or hour(timestamp)", s)
		}
		m.Columns = append(m.Columns, column)
	}
	m.Name = m.defaultName()
	if named {
		m.Name = strings.TrimSpace(name)
	}
	if m.Name == "" {
		return Mode{}, fmt.Errorf("mode %q: the name before '=' is missing", s)
	}
	if strings.ContainsAny(m.Name, reserved) {
		return Mode{}, fmt.Errorf("mode %q: a mode's name may not hold any of %q; name it, as in time=%s", s, reserved, m.source())
	}
	return m, nil
}

// ParseModes reads modes separated by commas and refuses a name that is used twice.
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

// SplitModes cuts a list of modes at the commas that are not within quotes.
func SplitModes(s string) []string {
	var parts []string
	for more := true; more; {
		var part string
		part, s, more = cutUnquoted(s, ',')
		parts = append(parts, part)
	}
	return parts
}

// indexUnquoted returns the place of the first c that is not within double quotes,
// or -1. Quotes open where a column's name may begin.
func indexUnquoted(s string, c byte) int {
	begins := true
	for i := 0; i < len(s); i++ {
		if s[i] == '"' && begins {
			closing := closingQuote([]byte(s), i+1)
			if closing < 0 {
				return -1
			}
			i = closing
			begins = false
			continue
		}
		if s[i] == c {
			return i
		}
		begins = s[i] == ' ' && begins || strings.IndexByte("+,=(", s[i]) >= 0
	}
	return -1
}

func cutUnquoted(s string, c byte) (before, after string, found bool) {
	i := indexUnquoted(s, c)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// unquoteColumn returns the name of a column that may stand in quotes.
func unquoteColumn(s string) (string, bool) {
	if !strings.HasPrefix(s, `"`) {
		return s, true
	}
	if closingQuote([]byte(s), 1) != len(s)-1 {
		return "", false
	}
	return strings.ReplaceAll(s[1:len(s)-1], `""`, `"`), true
}

func quoteColumn(name string) string {
	if !strings.ContainsAny(name, quotable) {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

func checkModes(modes []Mode) error {
	if len(modes) == 0 {
		return fmt.Errorf("no modes are given; name the columns of ids, as in store,item,time=year+month")
	}
	seen := map[string]bool{}
	for _, m := range modes {
		if seen[m.Name] {
			return fmt.Errorf("two modes are called %q; name one of them, as in other=%s", m.Name, m.source())
		}
		seen[m.Name] = true
	}
	return nil
}

// ID makes the id of a cell from the values of the mode's columns; ok is false
// where one of them is not there.
func (m Mode) ID(values map[string]string) (id string, ok bool, err error) {
	var parts []string
	for _, column := range m.Columns {
		value, there := values[column]
		if !there {
			return "", false, nil
		}
		parts = append(parts, strings.TrimSpace(value))
	}
	if m.Func == "" {
		return strings.Join(parts, "-"), true, nil
	}
	t, isMoment := parseMoment([]byte(parts[0]))
	if !isMoment {
		return "", false, fmt.Errorf("%s=%s is not %s, which %s needs; %s", m.Columns[0], parts[0], moment, m.source(), momentRemedy)
	}
	return string(calendarFunctions()[m.Func](nil, t)), true, nil
}

// String returns what ParseMode reads back to an equal Mode.
func (m Mode) String() string {
	if m.Name == m.defaultName() {
		return m.source()
	}
	return m.Name + "=" + m.source()
}

// source returns the columns as they are written, with the function around them.
func (m Mode) source() string {
	quoted := make([]string, len(m.Columns))
	for i, column := range m.Columns {
		quoted[i] = quoteColumn(column)
	}
	columns := strings.Join(quoted, "+")
	if m.Func != "" {
		return m.Func + "(" + columns + ")"
	}
	return columns
}

func (m Mode) defaultName() string {
	if m.Func != "" {
		return m.Func
	}
	return strings.Join(m.Columns, "+")
}
