package sideinfo

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/fielderr"
)

// Spec names the side information of one mode: a file and its columns.
//
//	store=stores.csv                                 every column but the key
//	store=stores.csv:city:cat,county:cat,lat,lon     some columns; types that are not given are guessed
//	store=stores.csv[key=store_id]:city              the key column does not have the name of the mode
//	time=weather.csv[key=year+month]:rain            a key of several columns
//	time=@year:num,@month:cycle12                    columns computed from the ids, no file
//	item=items.csv:vendor:group                      groups of ids for terms, such as item.vendor; no regression
//	movie=tags.csv~tag~relevance                     a long table: a row holds a key, a name and a value
//	movie=tags.csv~tag                               a long table without values: labels
//
// A name that contains one of , : = ~ [ ] @ + " or begins or ends with a space is
// written in double quotes, with a quote inside doubled.
type Spec struct {
	Mode    string       `json:"mode"`
	File    string       `json:"file,omitempty"`    // "" for columns computed from the ids
	Key     []string     `json:"key,omitempty"`     // key columns; empty for the default
	Name    string       `json:"name,omitempty"`    // of a long table: the column of names
	Value   string       `json:"value,omitempty"`   // of a long table: the column of values, or ""
	Columns []ColumnSpec `json:"columns,omitempty"` // empty for all columns but the key

	// IDColumns are columns computed from the ids beside those of the file. They are an
	// entry of their own in a specification; see [Combine].
	IDColumns []ColumnSpec `json:"id_columns,omitempty"`
}

// ColumnSpec is a column and its type.
type ColumnSpec struct {
	Name string `json:"name"`
	Type Type   `json:"type,omitempty"` // "" to guess it
}

const specForm = "write mode=file:column:type,column or mode=@column:type"

// ParseSpec parses the text form of a [Spec].
func ParseSpec(text string) (Spec, error) {
	p := specParser{text: text, rest: text}
	spec, err := p.spec()
	if err != nil {
		return Spec{}, fielderr.Errorf("side.tables", "side information %q: %w", text, err)
	}
	return spec, nil
}

// FromIDs reports whether the columns are computed from the ids of the mode (as in
// time=@year), without a table.
func (s Spec) FromIDs() bool { return s.File == "" }

// String returns the text form, which ParseSpec parses to an equal Spec. It leaves out
// IDColumns.
func (s Spec) String() string {
	var b strings.Builder
	b.WriteString(quoteName(s.Mode))
	b.WriteByte('=')
	mark := ""
	if s.FromIDs() {
		mark = "@"
	} else {
		b.WriteString(quoteName(s.File))
		if len(s.Key) > 0 {
			b.WriteString("[key=")
			for i, key := range s.Key {
				if i > 0 {
					b.WriteByte('+')
				}
				b.WriteString(quoteName(key))
			}
			b.WriteByte(']')
		}
		if s.Name != "" {
			b.WriteString("~" + quoteName(s.Name))
		}
		if s.Value != "" {
			b.WriteString("~" + quoteName(s.Value))
		}
		if len(s.Columns) > 0 {
			b.WriteByte(':')
		}
	}
	for i, c := range s.Columns {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(mark + quoteName(c.Name))
		if c.Type != "" {
			b.WriteString(":" + string(c.Type))
		}
	}
	return b.String()
}

const specMarks = `,:=~[]@+"`

func quoteName(name string) string {
	if name != "" && strings.TrimSpace(name) == name && !strings.ContainsAny(name, specMarks) {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

type specParser struct{ text, rest string }

func (p *specParser) spec() (s Spec, err error) {
	if s.Mode, err = p.name("=", "the mode"); err != nil {
		return s, err
	}
	if !p.take("=") {
		return s, fmt.Errorf("'=' is missing; %s", specForm)
	}
	if strings.HasPrefix(strings.TrimSpace(p.rest), "@") {
		s.Columns, err = p.columns(true)
		return s, err
	}
	if s.File, err = p.name("[~:", "the file"); err != nil {
		return s, err
	}
	if p.take("[") {
		if !p.take("key=") {
			return s, errors.New("'[' must be followed by key=COLUMN]")
		}
		for more := true; more; more = p.take("+") {
			key, err := p.name("+]", "the key column")
			if err != nil {
				return s, err
			}
			s.Key = append(s.Key, key)
		}
		if !p.take("]") {
			return s, errors.New("the '[' before key is not closed")
		}
	}
	if p.take("~") {
		if s.Name, err = p.name("~:", "the column of names"); err != nil {
			return s, err
		}
		if p.take("~") {
			if s.Value, err = p.name(":", "the column of values"); err != nil {
				return s, err
			}
		}
	}
	if p.take(":") {
		if s.Name != "" && s.Value == "" {
			return s, fmt.Errorf("a long table without values is one column of labels; leave %q out", p.rest)
		}
		s.Columns, err = p.columns(false)
		return s, err
	}
	if p.rest != "" {
		return s, fmt.Errorf("unexpected %q; %s", p.rest, specForm)
	}
	return s, nil
}

// columns parses a list of name[:type] up to the end. fromIDs reports whether the
// columns are computed from the ids and therefore marked with '@'.
func (p *specParser) columns(fromIDs bool) (columns []ColumnSpec, err error) {
	seen := map[string]bool{}
	for more := true; more; more = p.take(",") {
		p.rest = strings.TrimLeft(p.rest, " ")
		if marked := p.take("@"); marked != fromIDs {
			if fromIDs {
				return nil, fmt.Errorf("%q lacks the '@' of columns computed from the ids; give these and side tables in separate entries", p.rest)
			}
			return nil, fmt.Errorf("\"@%s\" is a column computed from the ids; give these and side tables in separate entries", p.rest)
		}
		var c ColumnSpec
		if c.Name, err = p.name(",:", "a column"); err != nil {
			return nil, err
		}
		if seen[c.Name] {
			return nil, fmt.Errorf("column %q is listed twice; list it once", c.Name)
		}
		seen[c.Name] = true
		if p.take(":") {
			text := p.until(",")
			if c.Type, err = ParseType(text); err != nil {
				return nil, fmt.Errorf("column %q: %w", c.Name, err)
			}
		}
		columns = append(columns, c)
	}
	if p.rest != "" {
		return nil, fmt.Errorf("unexpected %q; %s", p.rest, specForm)
	}
	return columns, nil
}

// take consumes a mark and reports whether it was next.
func (p *specParser) take(mark string) bool {
	rest, ok := strings.CutPrefix(p.rest, mark)
	if ok {
		p.rest = rest
	}
	return ok
}

// until consumes and returns the text before the first of stops, trimmed.
func (p *specParser) until(stops string) string {
	end := strings.IndexAny(p.rest, stops)
	if end < 0 {
		end = len(p.rest)
	}
	text := p.rest[:end]
	p.rest = p.rest[end:]
	return strings.TrimSpace(text)
}

// name parses a name, in quotes or up to one of stops.
func (p *specParser) name(stops, what string) (string, error) {
	p.rest = strings.TrimLeft(p.rest, " ")
	var name string
	if p.take(`"`) {
		for {
			piece, rest, closed := strings.Cut(p.rest, `"`)
			if !closed {
				return "", fmt.Errorf("the quote around %s is not closed", what)
			}
			name += piece
			p.rest = rest
			if !p.take(`"`) {
				break
			}
			name += `"`
		}
		p.rest = strings.TrimLeft(p.rest, " ")
		if p.rest != "" && !strings.ContainsAny(p.rest[:1], stops) {
			return "", fmt.Errorf("%q follows the quote around %s", p.rest, what)
		}
	} else {
		name = p.until(stops)
	}
	if name == "" {
		return "", fmt.Errorf("%s is missing; %s", what, specForm)
	}
	return name, nil
}
