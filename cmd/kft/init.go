package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/delimited"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/atomicfile"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
	"github.com/kernel-fried-tensor/kft/spec"
)

// initCommand guesses a specification.
type initCommand struct {
	Tables []string `arg:"" name:"table" complete:"file" help:"CSV or TSV, plain or gzip; several are read as one."`
	Output string   `short:"o" default:"kft.yaml" placeholder:"FILE" complete:"file" help:"Where the specification goes (default: kft.yaml)."`
	Force  bool     `help:"Overwrite FILE."`
	dataFlags
}

// Help is shown by kft init --help.
func (*initCommand) Help() string {
	return `Looks at the first rows, guesses which column is the target and which columns make up a cell, and writes a commented specification that kft fit then uses. Flags set what the guess gets wrong. In a mode, a column whose name holds any of + , = ( ) stands in double quotes.

Example:

    kft init sales.csv && kft fit`
}

// Run guesses, writes and says what it guessed.
func (c *initCommand) Run(e *env) error {
	if slices.Contains(c.Tables, "-") {
		return usagef("kft init looks at a file, not at standard input; save the table first")
	}
	if err := checkTarget(c.Output, c.Tables); err != nil {
		return err
	}
	if _, err := os.Stat(c.Output); err == nil && !c.Force {
		return usagef("%s is there already; edit it, choose another file with -o, or give --force to overwrite it", c.Output)
	}
	format, err := c.format(e.stdin)
	if err != nil {
		return err
	}
	guessed, err := tableio.GuessColumns(tableio.Files(c.Tables[0]), format)
	if err != nil {
		return err
	}
	spec, err := c.specification(guessed)
	if err != nil {
		return err
	}
	if err := c.checkOthers(spec, format); err != nil {
		return err
	}
	var about strings.Builder
	columnTable(guessed).write(&about)
	err = atomicfile.Write(c.Output, func(w io.Writer) error {
		head := fmt.Sprintf("Guessed by kft init from %s.\n\n%s", looked(c.Tables[0], guessed), about.String())
		_, err := io.WriteString(w, comment(head)+"\n"+string(spec.YAML()))
		return err
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.stdout, "%s:\n\n%s\nTarget: %s\nModes:  %s\n%s\nWrote %s; read it over, then type\n  %s\n",
		looked(c.Tables[0], guessed), about.String(), spec.Data.Target, strings.Join(spec.Data.Modes, ", "), scaleHint(guessed, spec.Data.Target),
		c.Output, quoteAll(c.next()))
	return err
}

// next is the command that uses the file.
func (c *initCommand) next() []string {
	if c.Output == defaultSpecFile {
		return []string{"kft", "fit"}
	}
	return []string{"kft", "fit", "--spec", c.Output}
}

// specification is the guess with the flags set over it.
func (c *initCommand) specification(g *tableio.Guess) (spec.Spec, error) {
	flags := specFlags{dataFlags: c.dataFlags}
	var spec spec.Spec
	given, err := flags.override(&spec)
	if err != nil {
		return spec, err
	}
	spec.Data.Files = c.Tables
	if spec.Data.Target == "" {
		spec.Data.Target = g.Target
	}
	if spec.Data.Target == "" {
		return spec, fmt.Errorf("%s: no column looks like a target, a number that is not an id; name it by --target COLUMN (there are %s)",
			c.Tables[0], strings.Join(columnNames(g), ", "))
	}
	if len(spec.Data.Modes) == 0 {
		spec.Data.Modes = slices.DeleteFunc(slices.Clone(g.Modes), func(text string) bool {
			m, err := dataset.ParseMode(text)
			return err != nil || slices.Contains(m.Columns, spec.Data.Target) || slices.Contains(m.Columns, spec.Data.Weight)
		})
	}
	if len(spec.Data.Modes) == 0 {
		return spec, fmt.Errorf("%s: no column looks like ids that come again; name the columns that make up a cell by --modes COLUMN,COLUMN (there are %s)",
			c.Tables[0], strings.Join(columnNames(g), ", "))
	}
	spec.Fill()
	return spec, flags.place(spec.Validate(), "", given)
}

// checkOthers makes sure that every table has the columns.
func (c *initCommand) checkOthers(spec spec.Spec, format tableio.Format) error {
	wanted := []string{spec.Data.Target}
	if spec.Data.Weight != "" {
		wanted = append(wanted, spec.Data.Weight)
	}
	for _, text := range spec.Data.Modes {
		mode, err := dataset.ParseMode(text)
		if err != nil {
			return err
		}
		wanted = append(wanted, mode.Columns...)
	}
	for _, table := range c.Tables {
		names, err := tableio.ColumnNames(tableio.Files(table), format)
		if err != nil {
			return err
		}
		for _, column := range wanted {
			if !slices.Contains(names, column) {
				return &dataset.InputError{File: table, Column: column, Problem: "the table has no such column" + suggest.Hint(column, names),
					Remedy: "choose one of " + strings.Join(names, ", ")}
			}
		}
	}
	return nil
}

// format is how the flags say the table is written.
func (f *dataFlags) format(stdin io.Reader) (tableio.Format, error) {
	format := tableio.Format{Stdin: stdin}
	var err error
	if format.Delimiter, err = delimited.ParseDelimiter(f.Delimiter); err != nil {
		return format, usagef("--delimiter: %v", err)
	}
	if f.Header != "" {
		if format.Header, err = delimited.ParseHeader(f.Header); err != nil {
			return format, usagef("--header: %v", err)
		}
	}
	return format, nil
}

// scaleHint suggests log1p for counts that span orders of magnitude.
func scaleHint(g *tableio.Guess, target string) string {
	for _, c := range g.Columns {
		if c.Name == target && c.Min >= 0 && c.Max >= 100*max(1, c.Min) {
			return "Scale:  identity; the target goes from " + amountShort(c.Min) + " to " + amountShort(c.Max) +
				", so that transform: log1p may fit it better\n"
		}
	}
	return ""
}

func columnNames(g *tableio.Guess) []string {
	names := make([]string, len(g.Columns))
	for i, c := range g.Columns {
		names[i] = c.Name
	}
	return names
}

// comment makes YAML comments of lines.
func comment(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight("# "+strings.TrimRight(line, "\n"), " ") + "\n")
	}
	return b.String()
}
