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

// ParseMode reads "store", "time=year+month", "hour(timestamp)" or
// "h=hour(timestamp)". Without a name before '=' a mode is called as its column,
// its columns with the '+', or its function.
func ParseMode(s string) (Mode, error) {
	name, source, named := strings.Cut(s, "=")
	if !named {
		name, source = "", s
	}
	var m Mode
	source = strings.TrimSpace(source)
	if open := strings.IndexByte(source, '('); open >= 0 {
		if !strings.HasSuffix(source, ")") {
			return Mode{}, fmt.Errorf("mode %q: the parenthesis is not closed; write it as hour(timestamp)", s)
		}
		m.Func = strings.TrimSpace(source[:open])
		if err := checkFunction(m.Func); err != nil {
			return Mode{}, fmt.Errorf("mode %q: %w", s, err)
		}
		column := strings.TrimSpace(source[open+1 : len(source)-1])
		if strings.ContainsAny(column, "()+") {
			return Mode{}, fmt.Errorf("mode %q: a function takes one column, as in hour(timestamp)", s)
		}
		m.Columns = []string{column}
	} else {
		for column := range strings.SplitSeq(source, "+") {
			m.Columns = append(m.Columns, strings.TrimSpace(column))
		}
	}
	for _, column := range m.Columns {
		if column == "" {
			return Mode{}, fmt.Errorf("mode %q: a column's name is missing; write store, time=year+month or hour(timestamp)", s)
		}
	}
	m.Name = m.defaultName()
	if named {
		m.Name = strings.TrimSpace(name)
	}
	if m.Name == "" {
		return Mode{}, fmt.Errorf("mode %q: the name before '=' is missing", s)
	}
	if strings.ContainsAny(m.Name, reserved) {
		return Mode{}, fmt.Errorf("mode %q: a mode's name may not hold any of %q; name it, as in time=%s", s, reserved, source)
	}
	return m, nil
}

// ParseModes reads modes separated by commas and refuses a name that is used twice.
func ParseModes(s string) ([]Mode, error) {
	var modes []Mode
	for part := range strings.SplitSeq(s, ",") {
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

// String returns what ParseMode reads back to an equal Mode.
func (m Mode) String() string {
	if m.Name == m.defaultName() {
		return m.source()
	}
	return m.Name + "=" + m.source()
}

func (m Mode) source() string {
	columns := strings.Join(m.Columns, "+")
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
