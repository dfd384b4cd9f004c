package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/bench"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
)

// benchCommand measures the speed of the engine on this machine.
type benchCommand struct {
	Quick   bool   `help:"Fewer repetitions and smaller tables; takes about 20 s."`
	Data    string `placeholder:"DIR" complete:"dir" help:"Folder with sales_2015_2016.csv.gz to measure on (default: a synthetic table of the same shape)."`
	Only    string `values:"dense,functions,pass,scaling,read,predict" placeholder:"GROUP" help:"Measure only one group: dense, functions, pass, scaling, read or predict."`
	Threads int    `from:"0" to:"4096" placeholder:"N" help:"Number of threads to compare with one thread (default: all CPUs)."`
	JSON    bool   `name:"json" help:"Print one JSON object."`
	Quiet   bool   `short:"q" help:"Print no progress and no notes; warnings stay on standard error."`
}

// Help is shown by kft bench --help.
func (*benchCommand) Help() string {
	return `Measures matrix products, passes over the data, reading and prediction. Each speed is a share of what this machine can do, or a ratio to another method, measured in the same run.

Example:

    kft bench --quick`
}

// Run measures and prints the result.
func (c *benchCommand) Run(e *env) error {
	if groups := bench.Groups(); c.Only != "" && !slices.Contains(groups, c.Only) {
		return usagef("--only: unknown group %q%s; use one of %s", c.Only, suggest.Hint(c.Only, groups), strings.Join(groups, ", "))
	}
	opt := bench.Options{Quick: c.Quick, Data: c.Data, Only: c.Only, Threads: c.Threads}
	if !c.Quiet {
		opt.Progress = func(what string) { fmt.Fprintln(e.stderr, what) }
	}
	result, err := bench.Run(e.ctx, opt)
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(e.stdout, result)
	}
	result.WriteText(e.stdout)
	return nil
}
