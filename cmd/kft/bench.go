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
	Quick   bool   `help:"Fewer turns, smaller tables; about 20 s."`
	Data    string `placeholder:"DIR" complete:"dir" help:"A folder with sales_2015_2016.csv.gz to measure on; without it a table of the same shape is made."`
	Only    string `values:"dense,functions,pass,scaling,read,predict" placeholder:"GROUP" help:"Measure one group alone: dense, functions, pass, scaling, read or predict."`
	Threads int    `placeholder:"N" help:"Threads beside one (default: as many as there are processors)."`
	JSON    bool   `name:"json" help:"Print one JSON object."`
	Quiet   bool   `short:"q" help:"Say nothing while working."`
}

// Help is shown by kft bench --help.
func (*benchCommand) Help() string {
	return `Measures products, passes, reading and prediction, each as a share of what this machine can do or against another program's way, all in one run.

Example:

    kft bench --quick`
}

// Run measures and prints.
func (c *benchCommand) Run(e *env) error {
	if c.Threads < 0 {
		return usagef("--threads: %d is not a number of threads; give 1 or more, or leave it out", c.Threads)
	}
	if groups := bench.Groups(); c.Only != "" && !slices.Contains(groups, c.Only) {
		return usagef("--only: %q is not a group%s; write one of %s", c.Only, suggest.Hint(c.Only, groups), strings.Join(groups, ", "))
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
