package summary

import (
	"fmt"
	"math"
	"strconv"

	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
	"github.com/kernel-fried-tensor/kft/dataset/guess"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

// Sampled describes which rows of a table the guess is based on.
func Sampled(file string, g *tableio.Guess) string {
	if file == "-" {
		file = "standard input"
	}
	if g.Spread {
		return fmt.Sprintf("%s, a sample of %s", file, textformat.Plural(g.Rows, "row"))
	}
	return fmt.Sprintf("%s, first %s", file, textformat.Plural(g.Rows, "row"))
}

// ColumnTable describes the columns of a table.
func ColumnTable(g *tableio.Guess) *textformat.Table {
	t := &textformat.Table{Header: []string{"column", "kind", "distinct", "missing", "from", "to"}, Left: 2}
	for _, c := range g.Columns {
		from, to := "", ""
		if hasRange(c) {
			from, to = amountShort(c.Min), amountShort(c.Max)
		}
		t.Rows = append(t.Rows, []string{c.Name, string(c.Kind), textformat.Count(c.Distinct), textformat.Count(c.Missing), from, to})
	}
	return t
}

// hasRange reports whether a column has a smallest and a largest value.
func hasRange(c guess.Column) bool { return c.Kind == guess.KindNumber || c.Integer }

// amountShort writes a number with as few digits as possible.
func amountShort(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// DelimiterName names the delimiter of a text table, in plural.
func DelimiterName(f tableio.Format) string {
	if f.LongDelimiter != "" {
		return f.LongDelimiter
	}
	for name, c := range map[string]byte{"commas": ',', "tabs": '\t', "semicolons": ';', "bars": '|', "spaces": ' '} {
		if c == f.Delimiter {
			return name
		}
	}
	return strconv.QuoteRune(rune(f.Delimiter))
}

// A ColumnReport describes a column of a table.
type ColumnReport struct {
	Name     string     `json:"name"`
	Kind     guess.Kind `json:"kind"`
	Distinct int        `json:"distinct"`
	Missing  int        `json:"missing"`
	Min      *float64   `json:"min,omitempty"`
	Max      *float64   `json:"max,omitempty"`
}

// A TableReport describes a table as JSON.
type TableReport struct {
	Kind      string         `json:"kind"`
	File      string         `json:"file"`
	Rows      int            `json:"rows_looked_at"`
	Delimiter string         `json:"delimiter"`
	Header    string         `json:"header"`
	Target    string         `json:"target"`
	Modes     []string       `json:"modes"`
	Columns   []ColumnReport `json:"columns"`

	Decimal    string              `json:"decimal,omitempty"`
	Thousands  string              `json:"thousands,omitempty"`
	Duplicates string              `json:"duplicates,omitempty"`
	Covariates []string            `json:"covariates,omitempty"`
	LeftOut    map[string]string   `json:"left_out,omitempty"`
	Determined map[string][]string `json:"determined,omitempty"`
	Notes      []string            `json:"notes,omitempty"`
}

// NewTableReport describes a table and what was guessed about it.
func NewTableReport(file string, g *tableio.Guess) TableReport {
	r := TableReport{Kind: "table", File: file, Rows: g.Rows, Delimiter: g.Format.LongDelimiter, Header: g.Format.Header.String(),
		Target: g.Target, Modes: append([]string{}, g.Modes...), Duplicates: g.Duplicates, Covariates: g.Covariates, Notes: g.Notes}
	if r.Delimiter == "" {
		r.Delimiter = string(rune(g.Format.Delimiter))
	}
	r.Decimal, r.Thousands = g.Numbers.Texts()
	r.LeftOut, r.Determined = map[string]string{}, map[string][]string{}
	for _, l := range g.LeftOut {
		r.LeftOut[l.Column] = l.Reason
	}
	for _, d := range g.Determined {
		r.Determined[d.Mode] = append(r.Determined[d.Mode], d.Column)
	}
	for _, c := range g.Columns {
		column := ColumnReport{Name: c.Name, Kind: c.Kind, Distinct: c.Distinct, Missing: c.Missing}
		if hasRange(c) {
			column.Min, column.Max = &c.Min, &c.Max
		}
		r.Columns = append(r.Columns, column)
	}
	return r
}
