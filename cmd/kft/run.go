package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/alecthomas/kong"

	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/progress"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// commandLine is the grammar, one field per verb. Besides kong's own tags, flags and
// arguments have two for shell completion: values lists the possible values, complete
// is file or dir; and those of checkFlags.
type commandLine struct {
	Init       initCommand       `cmd:"" help:"Guess the target and the modes of a table and write kft.yaml."`
	Spec       specCommand       `cmd:"" help:"Print the full specification, including defaults."`
	Fit        fitCommand        `cmd:"" help:"Train a model on a table, evaluate it and save it."`
	Tune       tuneCommand       `cmd:"" help:"Search for a better specification by trials."`
	Study      studyCommand      `cmd:"" help:"Show or export the trials of a search."`
	Experiment experimentCommand `cmd:"" help:"Compare configurations on the same splits of a table."`
	Predict    predictCommand    `cmd:"" help:"Predict the rows of a table, or single cells."`
	Explain    explainCommand    `cmd:"" help:"Give the reasons for predictions, or explain a model."`
	Report     reportCommand     `cmd:"" help:"Write a page about a model: verdict, scores, calibration, effects, series."`
	Forecast   forecastCommand   `cmd:"" help:"Forecast the next periods of all series, or of chosen ones."`
	Backtest   backtestCommand   `cmd:"" help:"Measure forecasts on rolling origins of a table."`
	Evaluate   evaluateCommand   `cmd:"" help:"Measure a model on a table that has the target."`
	Calibrate  calibrateCommand  `cmd:"" help:"Recalibrate the intervals of a model with new data."`
	Update     updateCommand     `cmd:"" help:"Update a model with new rows, without training it again."`
	Serve      serveCommand      `cmd:"" help:"Answer requests for predictions over HTTP, with a page."`
	Plot       plotCommand       `cmd:"" help:"Plot the coverage of intervals, or a study."`
	Inspect    inspectCommand    `cmd:"" help:"Describe a table or a model file."`
	Verify     verifyCommand     `cmd:"" help:"Check whether models, checkpoints and studies are sound."`
	Split      splitCommand      `cmd:"" help:"Split a table and write the part of each row to a file."`
	Data       dataCommand       `cmd:"" help:"Prepare the tables of well-known data sets, or synthetic tables."`
	Demo       demoCommand       `cmd:"" help:"Generate a synthetic table, train on it and suggest what to try next."`
	Bench      benchCommand      `cmd:"" help:"Measure the speed of the engine on this machine."`
	Completion completionCommand `cmd:"" help:"Print a completion script for a shell."`
	Version    versionCommand    `cmd:"" help:"Print the version."`
}

// env is what a verb may use besides the files that it names.
type env struct {
	ctx            context.Context
	stdin          io.Reader
	stdout, stderr io.Writer // escape what a terminal would act on
	rawOut, rawErr io.Writer // for tables, and for programs and displays that escape by themselves
	parser         *kong.Kong
	hasFlag        func(name string) bool // reports whether the verb has a flag, as in --side; nil if messages keep the fields of a specification
	jsonMessages   bool                   // standard error has JSON lines, for a program
	ranks          *ranks                 // processes that divide the work; nil for none
}

// progress returns the display of a fit.
func (e *env) progress(quiet bool, files []string, budget time.Duration) progress.Display {
	if e.jsonMessages && !quiet {
		return progress.NewJSON(e.rawErr, files, budget)
	}
	return progress.New(e.rawErr, quiet, files, budget)
}

// run is the program. It parses args, runs the verb and returns the exit code: 0 for
// success, 1 if the data or the work failed, 2 for a wrong call.
func run(ctx context.Context, args []string, stdin io.Reader, rawOut, rawErr io.Writer) (code int) {
	return runOn(ctx, nil, args, stdin, rawOut, rawErr)
}

// runOn is run over several processes; all is nil for one.
func runOn(ctx context.Context, all *ranks, args []string, stdin io.Reader, rawOut, rawErr io.Writer) (code int) {
	stdout, stderr := textformat.EscapingWriter(rawOut), textformat.EscapingWriter(rawErr)
	args, jsonMessages := cutMessagesFlag(args)
	complain := func(err error, hasFlag func(string) bool) { complain(stderr, err, hasFlag) }
	if jsonMessages {
		m := &messages{w: rawErr}
		stderr, complain = m, func(err error, _ func(string) bool) { m.errors(err) }
	}
	defer func() {
		if p := recover(); p != nil {
			complain(fmt.Errorf("this is a bug in kft: %w; please report it together with the command", parallel.Caught(p)), nil)
			code = exitFailed
		}
	}()
	args, warnings := normalize(args)
	for _, w := range warnings {
		fmt.Fprintln(stderr, "warning: "+w)
	}
	helpShown := false
	parser, err := kong.New(&commandLine{},
		kong.Name("kft"),
		kong.Description("Tensor trains for big, sparse tables: learn from some cells of store x item x month, predict the others with calibrated uncertainty.\n\n"+
			"Start with `kft demo`, or with your own table: `kft fit TABLE`."),
		kong.Writers(stdout, stderr),
		kong.Exit(func(int) { helpShown = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 110}),
		kong.ExplicitGroups(flagGroups()),
	)
	if err != nil {
		panic(err) // the grammar itself is wrong
	}
	removeFlags(parser.Model)
	if err := checkVerb(parser.Model, args); err != nil {
		complain(err, nil)
		return exitUsage
	}
	call, err := parser.Parse(args)
	if helpShown {
		return exitGood
	}
	if err != nil {
		complain(callError(err, parser.Model, args, !jsonMessages), nil)
		return exitUsage
	}
	if err := checkFlags(call); err != nil {
		complain(err, nil)
		return exitUsage
	}
	flags := flagsOf(call)
	if jsonMessages {
		flags = nil // a program knows fields, not flags
	}
	e := &env{ctx: ctx, stdin: stdin, stdout: stdout, stderr: stderr, rawOut: rawOut, rawErr: rawErr, parser: parser, hasFlag: flags, jsonMessages: jsonMessages, ranks: all}
	if err := call.Run(e); err != nil {
		all.failed(err)
		complain(err, e.hasFlag)
		return exitCode(err)
	}
	return exitGood
}

// flagsOf returns a function that reports whether the verb of a call has a flag.
func flagsOf(call *kong.Context) func(name string) bool {
	names := map[string]bool{}
	for _, group := range call.Selected().AllFlags(false) {
		for _, f := range group {
			names["--"+f.Name] = true
		}
	}
	return func(name string) bool { return names[name] }
}

func flagGroups() []kong.Group {
	return []kong.Group{
		{Key: "data", Title: "Table:"},
		{Key: "model", Title: "Model:"},
		{Key: "side", Title: "Side information:"},
		{Key: "uncertainty", Title: "Uncertainty:"},
		{Key: "training", Title: "Training:"},
		{Key: "search", Title: "Search:"},
		{Key: "backtest", Title: "Backtest:"},
		{Key: "run", Title: "Run (only --time-budget can change the result):"},
	}
}
