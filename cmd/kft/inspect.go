package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

// inspectCommand describes a table or a model.
type inspectCommand struct {
	File      string `arg:"" complete:"file" help:"Table or model file; - is a table on standard input."`
	Delimiter string `placeholder:"D" values:"auto,comma,tab,semicolon,bar,space" help:"Delimiter of a text table: auto, comma, tab, semicolon, bar, space, one character, or several signs such as :: (default: auto)."`
	Header    string `placeholder:"H" values:"auto,yes,no" help:"Whether the first row of a table contains the column names: auto, yes or no (default: auto)."`
	Decimal   string `placeholder:"SIGN" values:"point,comma" help:"Decimal sign of numbers that are written for people, point or comma; such numbers may have signs of currencies and percent signs (default: recognised)."`
	Thousands string `placeholder:"SIGN" values:"comma,point,space,apostrophe,underscore,none" help:"Separator of thousands in numbers: comma, point, space, apostrophe, underscore or none (default: recognised)."`
	JSON      bool   `name:"json" help:"Print one JSON object."`
}

// Help is shown by kft inspect --help.
func (*inspectCommand) Help() string {
	return `Describes a table from its first rows: its columns, their kinds, and the target and modes that kft init would guess. Describes a model: its data, terms with their shapes, scores, training history and specification.

Examples:

    kft inspect sales.csv
    kft inspect model.kft --json`
}

// Run describes the file. Models and tables differ in their first bytes.
func (c *inspectCommand) Run(e *env) error {
	isModel, err := looksLikeModel(c.File)
	if err != nil {
		return err
	}
	if isModel {
		return c.model(e)
	}
	return c.table(e)
}

// looksLikeModel reports whether a file starts like a model: with the length of a header
// below 2^48 and an opening brace. Text has no zero bytes, so a shorter file with zero
// bytes is taken for a truncated model.
func looksLikeModel(file string) (bool, error) {
	if file == "-" {
		return false, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return false, &dataset.InputError{File: file, Problem: openProblem(err), Remedy: "check the path", Err: err}
	}
	defer f.Close()
	var head [9]byte
	n, err := io.ReadFull(f, head[:])
	if err != nil {
		return bytes.IndexByte(head[:n], 0) >= 0, nil
	}
	return head[6] == 0 && head[7] == 0 && head[8] == '{', nil
}

func openProblem(err error) string {
	if os.IsNotExist(err) {
		return "no such file"
	}
	return err.Error()
}

func (c *inspectCommand) table(e *env) error {
	flags := dataFlags{Delimiter: c.Delimiter, Header: c.Header, Decimal: c.Decimal, Thousands: c.Thousands}
	format, err := flags.format(e.stdin)
	if err != nil {
		return err
	}
	g, err := tableio.GuessColumns(tableio.Files(c.File), format)
	var incomplete *dataset.GuessError
	if err != nil && !errors.As(err, &incomplete) {
		return err
	}
	if c.JSON {
		return writeJSON(e.stdout, tableJSON(c.File, g))
	}
	var b strings.Builder
	layout := "typed columns" // Parquet, Arrow
	if g.Format.Delimiter != 0 || g.Format.LongDelimiter != "" {
		layout = fmt.Sprintf("fields separated by %s, header: %s", delimiterName(g.Format), g.Format.Header)
	}
	fmt.Fprintf(&b, "%s; %s\n\n", sampled(c.File, g), layout)
	columnTable(g).Write(&b)
	b.WriteString("\n")
	writeGuess(&b, g)
	if g.Wide != nil {
		fmt.Fprintf(&b, "Note:   %v\n", incomplete)
	}
	fmt.Fprintf(&b, "\nNext: %s\n", c.next(g))
	_, err = io.WriteString(e.stdout, b.String())
	return err
}

// next returns the next command: kft init, with flags for what could not be guessed.
func (c *inspectCommand) next(g *tableio.Guess) string {
	command := []string{"kft", "init", c.File}
	if c.File == "-" {
		command[2] = "TABLE"
	}
	if g.Target == "" {
		command = append(command, "--target", "COLUMN")
	}
	if len(g.Modes) == 0 {
		command = append(command, "--modes", "COLUMN,COLUMN")
	}
	if c.Delimiter != "" {
		command = append(command, "--delimiter", c.Delimiter)
	}
	if c.Header != "" {
		command = append(command, "--header", c.Header)
	}
	text := textformat.QuoteAll(command)
	if c.File == "-" {
		text += " (after saving the table to a file)"
	}
	return text
}

// sampled describes which rows of a table the guess is based on.
func sampled(file string, g *tableio.Guess) string {
	if file == "-" {
		file = "standard input"
	}
	if g.Spread {
		return fmt.Sprintf("%s, a sample of %s", file, textformat.Plural(g.Rows, "row"))
	}
	return fmt.Sprintf("%s, first %s", file, textformat.Plural(g.Rows, "row"))
}

// columnTable describes the columns of a table.
func columnTable(g *tableio.Guess) *textformat.Table {
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
func hasRange(c dataset.ColumnInfo) bool { return c.Kind == dataset.KindNumber || c.Integer }

// amountShort writes a number with as few digits as possible.
func amountShort(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

func delimiterName(f tableio.Format) string {
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

type columnReport struct {
	Name     string       `json:"name"`
	Kind     dataset.Kind `json:"kind"`
	Distinct int          `json:"distinct"`
	Missing  int          `json:"missing"`
	Min      *float64     `json:"min,omitempty"`
	Max      *float64     `json:"max,omitempty"`
}

type tableReport struct {
	Kind      string         `json:"kind"`
	File      string         `json:"file"`
	Rows      int            `json:"rows_looked_at"`
	Delimiter string         `json:"delimiter"`
	Header    string         `json:"header"`
	Target    string         `json:"target"`
	Modes     []string       `json:"modes"`
	Columns   []columnReport `json:"columns"`

	Decimal    string              `json:"decimal,omitempty"`
	Thousands  string              `json:"thousands,omitempty"`
	Duplicates string              `json:"duplicates,omitempty"`
	LeftOut    map[string]string   `json:"left_out,omitempty"`
	Determined map[string][]string `json:"determined,omitempty"`
	Notes      []string            `json:"notes,omitempty"`
}

func tableJSON(file string, g *tableio.Guess) tableReport {
	r := tableReport{Kind: "table", File: file, Rows: g.Rows, Delimiter: g.Format.LongDelimiter, Header: g.Format.Header.String(),
		Target: g.Target, Modes: append([]string{}, g.Modes...), Duplicates: g.Duplicates, Notes: g.Notes}
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
		column := columnReport{Name: c.Name, Kind: c.Kind, Distinct: c.Distinct, Missing: c.Missing}
		if hasRange(c) {
			column.Min, column.Max = &c.Min, &c.Max
		}
		r.Columns = append(r.Columns, column)
	}
	return r
}
