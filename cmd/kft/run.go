package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/kernel-fried-tensor/kft/internal/suggest"
)

// commandLine is the grammar: a field a verb. Besides kong's own tags, flags
// and arguments have two for shell completion: values lists what may stand
// there, complete says file or dir.
type commandLine struct {
	Init       initCommand       `cmd:"" help:"Guess what a table's columns mean and write kft.yaml."`
	Spec       specCommand       `cmd:"" help:"Print the full specification, defaults filled in."`
	Fit        fitCommand        `cmd:"" help:"Train a model on a table, measure it and save it."`
	Tune       tuneCommand       `cmd:"" help:"Search for a better specification by trials."`
	Study      studyCommand      `cmd:"" help:"Look at the trials of a search."`
	Experiment experimentCommand `cmd:"" help:"Compare configurations on the same splits of a table."`
	Predict    predictCommand    `cmd:"" help:"Predict the rows of a table, or single cells."`
	Evaluate   evaluateCommand   `cmd:"" help:"Measure a model on a table that has the target."`
	Calibrate  calibrateCommand  `cmd:"" help:"Correct a model's intervals by new data."`
	Plot       plotCommand       `cmd:"" help:"Draw what a model's intervals are worth."`
	Inspect    inspectCommand    `cmd:"" help:"Show what is in a table or in a model file."`
	Split      splitCommand      `cmd:"" help:"Split a table and write the part of each row to a file."`
	Data       dataCommand       `cmd:"" help:"Make the tables of well-known data sets, or of a known truth."`
	Demo       demoCommand       `cmd:"" help:"Make a table with known truth, train on it and say what to try next."`
	Bench      benchCommand      `cmd:"" help:"Measure the speed of the engine on this machine."`
	Completion completionCommand `cmd:"" help:"Print a completion script for a shell."`
	Version    versionCommand    `cmd:"" help:"Print the version."`
}

// env is what a command may touch besides the files it names.
type env struct {
	ctx            context.Context
	stdin          io.Reader
	stdout, stderr io.Writer
	parser         *kong.Kong
}

// run is the program: it parses args, runs the verb and returns the exit code,
// 0 for good, 1 for data or work that failed, 2 for a wrong call.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	defer func() {
		if p := recover(); p != nil {
			complain(stderr, fmt.Errorf("a bug in kft, not in what you gave it: %v (at %s); please report it with the command you typed", p, panicPlace()))
			code = exitFailed
		}
	}()
	args = familiar(args)
	helpShown := false
	parser, err := kong.New(&commandLine{},
		kong.Name("kft"),
		kong.Description("Tensor trains for big, sparse tables: learn from some cells of store x item x month, predict the others.\n\n"+
			"Start with `kft demo`, or with your own table: `kft init TABLE`, then `kft fit`."),
		kong.Writers(stdout, stderr),
		kong.Exit(func(int) { helpShown = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 110}),
		kong.ExplicitGroups(flagGroups()),
	)
	if err != nil {
		panic(err) // the grammar itself is wrong
	}
	if err := checkVerb(parser.Model, args); err != nil {
		complain(stderr, err)
		return exitUsage
	}
	call, err := parser.Parse(args)
	if helpShown {
		return exitGood
	}
	if err != nil {
		complain(stderr, fmt.Errorf("%w%s (%s --help shows how)", err, tableHint(args, err), helpPath(parser.Model, args)))
		return exitUsage
	}
	if err := call.Run(&env{ctx: ctx, stdin: stdin, stdout: stdout, stderr: stderr, parser: parser}); err != nil {
		complain(stderr, err)
		return exitCode(err)
	}
	return exitGood
}

var negative = regexp.MustCompile(`^-[0-9.]`)

// familiar turns what people try into what the grammar knows: kft --version,
// kft help fit, and a negative number after a flag, which a check of its own
// then refuses in words.
func familiar(args []string) []string {
	switch {
	case len(args) > 0 && args[0] == "--version":
		return append([]string{"version"}, args[1:]...)
	case len(args) > 0 && args[0] == "help":
		return append(slices.Clone(args[1:]), "--help")
	}
	var joined []string
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(joined, args[i:]...)
		}
		if strings.HasPrefix(args[i], "--") && !strings.Contains(args[i], "=") && i+1 < len(args) && negative.MatchString(args[i+1]) {
			joined = append(joined, args[i]+"="+args[i+1])
			i++
			continue
		}
		joined = append(joined, args[i])
	}
	return joined
}

func flagGroups() []kong.Group {
	return []kong.Group{
		{Key: "data", Title: "The table:"},
		{Key: "model", Title: "The model:"},
		{Key: "side", Title: "Side information:"},
		{Key: "uncertainty", Title: "Uncertainty:"},
		{Key: "training", Title: "Training:"},
		{Key: "search", Title: "The search:"},
		{Key: "run", Title: "This run (no effect on the result, but for --time-budget):"},
	}
}

// checkVerb refuses a first word that is no verb, with the nearest one.
func checkVerb(model *kong.Application, args []string) error {
	var verbs []string
	for _, c := range model.Children {
		verbs = append(verbs, c.Name)
	}
	if len(args) == 0 {
		return usagef("no command given: one of %s; kft --help says what they do, kft demo shows it", strings.Join(verbs, ", "))
	}
	if strings.HasPrefix(args[0], "-") || verbNode(model, args) != nil {
		return nil
	}
	return usagef("unknown command %q%s; kft --help lists the commands", args[0], suggest.Hint(args[0], verbs))
}

func verbNode(model *kong.Application, args []string) *kong.Node {
	for _, c := range model.Children {
		if len(args) > 0 && c.Name == args[0] {
			return c
		}
	}
	return nil
}

func helpPath(model *kong.Application, args []string) string {
	if verb := verbNode(model, args); verb != nil {
		return "kft " + verb.Name
	}
	return "kft"
}

// tableHint helps those who give fit its table as the other verbs take it.
func tableHint(args []string, err error) string {
	if (args[0] == "fit" || args[0] == "spec") && strings.Contains(err.Error(), "unexpected argument") {
		return "; tables are given by --data"
	}
	return ""
}

// panicPlace names the function that panicked.
func panicPlace() string {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	panicked := false
	for {
		f, more := frames.Next()
		if panicked && !strings.HasPrefix(f.Function, "runtime.") {
			return fmt.Sprintf("%s, line %d", f.Function, f.Line)
		}
		panicked = panicked || f.Function == "runtime.gopanic"
		if !more {
			return "an unknown place"
		}
	}
}
