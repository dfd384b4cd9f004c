package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/summary"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/guess"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

// inspectCommand describes a table or a model.
type inspectCommand struct {
	File      string `arg:"" complete:"file" help:"Table or model file; - is a table on standard input."`
	Delimiter string `placeholder:"D" values:"auto,comma,tab,semicolon,bar,space" help:"Delimiter of a text table: auto, comma, tab, semicolon, bar, space, one character, or several characters such as :: (default: auto)."`
	Header    string `placeholder:"H" values:"auto,yes,no" help:"Whether the first row of a table contains the column names: auto, yes or no (default: auto)."`
	Decimal   string `placeholder:"SIGN" values:"point,comma" help:"Decimal sign of formatted numbers, point or comma; they may have currency and percent signs (default: recognised)."`
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
	var incomplete *guess.Error
	if err != nil && !errors.As(err, &incomplete) {
		return err
	}
	if c.JSON {
		return writeJSON(e.stdout, summary.NewTableReport(c.File, g))
	}
	var b strings.Builder
	layout := "typed columns" // Parquet, Arrow
	if g.Format.Delimiter != 0 || g.Format.LongDelimiter != "" {
		layout = fmt.Sprintf("fields separated by %s, header: %s", summary.DelimiterName(g.Format), g.Format.Header)
	}
	fmt.Fprintf(&b, "%s; %s\n\n", summary.Sampled(c.File, g), layout)
	summary.ColumnTable(g).Write(&b)
	b.WriteString("\n")
	summary.WriteGuess(&b, g, nameAllFlags)
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
	if len(g.Modes) == 0 && len(g.Covariates) == 0 {
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
