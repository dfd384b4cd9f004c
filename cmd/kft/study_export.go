package main

import (
	"io"

	"github.com/kernel-fried-tensor/kft/internal/atomicfile"
)

// studyExport exports a study to other programs.
type studyExport struct {
	File   string `arg:"" optional:"" default:"study.db" complete:"file" help:"Study: a file or postgres://user@host/database (default: study.db)."`
	Format string `default:"json" placeholder:"F" enum:"json,csv,optuna" values:"json,csv,optuna" help:"Format: json, csv or optuna, a journal file that Optuna loads (default: json)."`
	Output string `short:"o" default:"-" placeholder:"FILE" complete:"file" help:"File to write (default: standard output)."`
}

// Help is shown by kft study export --help.
func (*studyExport) Help() string {
	return `Writes all trials of a study with their values and states. The optuna format is a journal for Optuna's JournalFileBackend: a study named kft with all trials and parameters, for the tools and plots of Optuna.

Examples:

    kft study export --format csv -o trials.csv
    kft study export --format optuna -o journal.log`
}

// Run writes the study.
func (c *studyExport) Run(e *env) error {
	r, err := readStudy(e, c.File)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error {
		switch c.Format {
		case "csv":
			return r.WriteCSV(w)
		case "optuna":
			return r.WriteJournal(w)
		}
		return writeJSON(w, r)
	}
	if c.Output == "-" {
		return write(e.rawOut)
	}
	if err := checkOutput(c.Output, []string{c.File}); err != nil {
		return err
	}
	return atomicfile.Write(c.Output, write)
}
