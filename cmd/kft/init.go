package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/summary"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/delimited"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/atomicfile"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
	"github.com/kernel-fried-tensor/kft/search"
	"github.com/kernel-fried-tensor/kft/spec"
)

// initCommand writes a guessed specification.
type initCommand struct {
	Tables []string `arg:"" name:"table" complete:"file" help:"Table: CSV or TSV, plain, gzip or zstd, Parquet or Arrow. Several tables with the same columns are read as one."`
	Output string   `endings:".yaml,.yml" short:"o" default:"kft.yaml" placeholder:"FILE" complete:"file" help:"Specification to write (default: kft.yaml)."`
	Force  bool     `help:"Overwrite FILE if it exists."`
	dataFlags
}

// Help is shown by kft init --help.
func (*initCommand) Help() string {
	return `Looks at a sample of the rows, guesses which column is the target and which columns identify a cell, checks that no two rows have the same cell, and says which columns it leaves out and why. It writes a commented specification for kft fit that contains only what differs from the defaults. Flags override the guess.

Examples:

    kft init sales.csv && kft fit
    kft init sales.csv --target units --modes store,item,time=year+month`
}

// Run guesses, writes the file and prints the guess.
func (c *initCommand) Run(e *env) error {
	if slices.Contains(c.Tables, "-") {
		return usagef("kft init cannot read standard input; save the table to a file first")
	}
	for _, table := range c.Tables { // before complaints about the output
		if _, err := os.Stat(table); err != nil {
			return &dataset.InputError{File: table, Problem: openProblem(err), Remedy: "check the path", Err: err}
		}
	}
	if err := checkOutput(c.Output, c.Tables); err != nil {
		return err
	}
	if _, err := os.Stat(c.Output); err == nil && !c.Force {
		return usagef("%s already exists; edit it, choose another file with -o, or add --force to overwrite it", c.Output)
	}
	format, err := c.format(e.stdin)
	if err != nil {
		return err
	}
	guessed, err := tableio.GuessWith(tableio.Files(c.Tables...), format, search.Given(spec.Data{Target: c.Target, Modes: dataset.SplitModes(c.Modes...), Weight: c.Weight, Exposure: c.Exposure, Censored: c.Censored}))
	if err != nil {
		return err
	}
	spec, err := c.specification(guessed)
	if err != nil {
		return err
	}
	if err := c.checkColumns(spec, format); err != nil {
		return err
	}
	var about strings.Builder
	fmt.Fprintf(&about, "%s:\n\n", summary.Sampled(strings.Join(c.Tables, ", "), guessed))
	summary.ColumnTable(guessed).Write(&about)
	about.WriteString("\n")
	summary.WriteGuess(&about, guessed, nameAllFlags)
	err = atomicfile.Write(c.Output, func(w io.Writer) error {
		_, err := io.WriteString(w, comment("Guessed by kft init from "+about.String())+"\n"+string(spec.BriefYAML())+comment(furtherSettings))
		return err
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.stdout, "%s\nWrote %s; check it, then run\n  %s\n", about.String(), c.Output, textformat.QuoteAll(c.next()))
	return err
}

// furtherSettings ends the file that init writes.
const furtherSettings = `
What is not given here is chosen by kft fit on the data: the scale, the terms, the
inference and the noise. A key that is added here, or a flag of kft fit, fixes its
setting; terms fix the whole model. For example, without the leading #:

terms: ['store,item,time:20', store, item]  # a train of rank 20 and two effects
transform: log1p                            # the scale
side: {tables: ['store=stores.csv']}        # a table about the ids of a mode
split: time:last=3                          # the last three periods as the test set

kft spec prints every key.
`

// next returns the command that uses the file.
func (c *initCommand) next() []string {
	if c.Output == defaultSpecFile {
		return []string{"kft", "fit"}
	}
	return []string{"kft", "fit", "--spec", c.Output}
}

// specification returns the guess, overridden by the flags, without defaults.
func (c *initCommand) specification(g *tableio.Guess) (spec.Spec, error) {
	flags := specFlags{dataFlags: c.dataFlags}
	var spec spec.Spec
	given, err := flags.override(&spec)
	if err != nil {
		return spec, err
	}
	spec.Data.Files = c.Tables
	search.Adopt(&spec, g)
	filled := spec.Clone()
	filled.Fill()
	return spec, flags.locate(filled.Validate(), filled.Data.Modes, "", given)
}

// checkColumns returns an error for a table that lacks a column.
func (c *initCommand) checkColumns(spec spec.Spec, format tableio.Format) error {
	wanted := spec.Data.Targets()
	if spec.Data.Weight != "" {
		wanted = append(wanted, spec.Data.Weight)
	}
	if spec.Data.Censored != "" {
		wanted = append(wanted, spec.Data.Censored)
	}
	if spec.Data.Exposure != "" {
		wanted = append(wanted, spec.Data.Exposure)
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

// format returns the format that the flags describe.
func (f *dataFlags) format(stdin io.Reader) (tableio.Format, error) {
	format := tableio.Format{Stdin: stdin}
	var err error
	if err = format.SetDelimiter(f.Delimiter); err != nil {
		return format, usagef("--delimiter: %v", err)
	}
	if format.Numbers, err = dataset.ParseNumberFormat(f.Decimal, f.Thousands); err != nil {
		return format, usagef("%s: %v", flagOf(kft.FieldPath(err)), err)
	}
	if f.Header != "" {
		if format.Header, err = delimited.ParseHeader(f.Header); err != nil {
			return format, usagef("--header: %v", err)
		}
	}
	return format, nil
}

// comment turns lines into YAML comments.
func comment(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight("# "+strings.TrimRight(line, "\n"), " ") + "\n")
	}
	return b.String()
}
