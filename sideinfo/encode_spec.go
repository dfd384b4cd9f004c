package sideinfo

import (
	"fmt"
	"strings"
)

// Spec names the side information of one mode: a file and what to take of it.
//
//	store=stores.csv                                 every column but the key
//	store=stores.csv:city:cat,county:cat,lat,lon     some columns; types are guessed where not given
//	store=stores.csv[key=store_id]:city              the key column is not called as the mode
//	time=weather.csv[key=year+month]:rain            a key of several columns
//	time=@year:num,@month:cycle12                    the mode's own columns, no file
//	movie=tags.csv~tag~relevance                     a long table: a row holds a key, a name and a value
//	movie=tags.csv~tag                               a long table of names alone: labels
//
// A name that holds one of , : = ~ [ ] @ + " or a space at an end stands in double
// quotes, and a quote within as two.
type Spec struct {
	Mode    string       `json:"mode"`
	File    string       `json:"file,omitempty"`    // "" for the mode's own columns
	Key     []string     `json:"key,omitempty"`     // key columns; none for the default
	Name    string       `json:"name,omitempty"`    // of a long table: the column of names
	Value   string       `json:"value,omitempty"`   // of a long table: the column of values, or ""
	Columns []ColumnSpec `json:"columns,omitempty"` // none for all but the key
}

// ColumnSpec is a column and how to encode it.
type ColumnSpec struct {
	Name string `json:"name"`
	Type Type   `json:"type,omitempty"` // "" guesses
}

const specForm = "write mode=file:column:type,column or mode=@column:type"

// ParseSide reads a side specification. See [Spec].
func ParseSide(text string) (Spec, error) {
	p := specParser{text: text, rest: text}
	spec, err := p.spec()
	if err != nil {
		return Spec{}, fmt.Errorf("side information %q: %w", text, err)
	}
	return spec, nil
}

// Own reports whether the side information is the mode's own columns.
func (s Spec) Own() bool { return s.File == "" }

// String returns what ParseSide reads back to an equal Spec.
func (s Spec) String() string {
	var b strings.Builder
	b.WriteString(quoteName(s.Mode))
	b.WriteByte('=')
	mark := ""
	if s.Own() {
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
		return s, fmt.Errorf("there is no '='; %s", specForm)
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
			return s, fmt.Errorf("after '[' stands key=COLUMN and ']'")
		}
		for more := true; more; more = p.take("+") {
			key, err := p.name("+]", "the key column")
			if err != nil {
				return s, err
			}
			s.Key = append(s.Key, key)
		}
		if !p.take("]") {
			return s, fmt.Errorf("the '[' before key is not closed")
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
			return s, fmt.Errorf("a long table of names alone is one column of labels; leave %q out", p.rest)
		}
		s.Columns, err = p.columns(false)
		return s, err
	}
	if p.rest != "" {
		return s, fmt.Errorf("%q is not understood; %s", p.rest, specForm)
	}
	return s, nil
}

// columns reads name[:type] up to the end.
func (p *specParser) columns(own bool) (columns []ColumnSpec, err error) {
	seen := map[string]bool{}
	for more := true; more; more = p.take(",") {
		p.rest = strings.TrimLeft(p.rest, " ")
		if marked := p.take("@"); marked != own {
			if own {
				return nil, fmt.Errorf("%q lacks the '@' of the mode's own columns; side tables and own columns are given apart", p.rest)
			}
			return nil, fmt.Errorf("\"@%s\" is a column of the mode itself; side tables and own columns are given apart", p.rest)
		}
		var c ColumnSpec
		if c.Name, err = p.name(",:", "a column"); err != nil {
			return nil, err
		}
		if seen[c.Name] {
			return nil, fmt.Errorf("column %q is named twice", c.Name)
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
		return nil, fmt.Errorf("%q is not understood; %s", p.rest, specForm)
	}
	return columns, nil
}

func (p *specParser) take(mark string) bool {
	rest, ok := strings.CutPrefix(p.rest, mark)
	if ok {
		p.rest = rest
	}
	return ok
}

// until cuts the text before the first of stops, trimmed.
func (p *specParser) until(stops string) string {
	end := strings.IndexAny(p.rest, stops)
	if end < 0 {
		end = len(p.rest)
	}
	text := p.rest[:end]
	p.rest = p.rest[end:]
	return strings.TrimSpace(text)
}

// name reads a name, in quotes or up to one of stops.
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
