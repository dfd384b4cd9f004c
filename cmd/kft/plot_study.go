package main

import (
	"fmt"
	"io"

	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
	"github.com/kernel-fried-tensor/kft/internal/atomicfile"
)

// plotStudyCommand draws a study.
type plotStudyCommand struct {
	File   string `arg:"" optional:"" default:"study.db" complete:"file" help:"Study: a file or postgres://user@host/database (default: study.db)."`
	Output string `endings:".svg" short:"o" default:"study.svg" placeholder:"FILE" complete:"file" help:"Picture to write, .svg (default: study.svg)."`
	Quiet  bool   `short:"q" help:"Print no notes; warnings stay on standard error."`
}

// Help is shown by kft plot study --help.
func (*plotStudyCommand) Help() string {
	return `Plots the score of each trial by its number, with the best score so far as a step line, and beside it one bar per parameter: its importance, the share of the variation between trials that it explains alone.

Example:

    kft plot study study.db -o study.svg`
}

// Run reads the study and draws it.
func (c *plotStudyCommand) Run(e *env) error {
	if err := checkOutput(c.Output, []string{c.File}); err != nil {
		return err
	}
	r, err := readStudy(e, c.File)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(c.Output, func(w io.Writer) error { return r.WriteSVG(w) }); err != nil {
		return err
	}
	if c.Quiet {
		return nil
	}
	_, err = fmt.Fprintf(e.stdout, "%s: wrote %s\n", textformat.Plural(len(r.Trials), "trial"), c.Output)
	return err
}
