package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/summary"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/search"
	"github.com/kernel-fried-tensor/kft/spec"
)

// defaultSpecFile is the file that init writes and that fit reads if no table is given.
const defaultSpecFile = "kft.yaml"

// specification returns the specification: the file, if there is one, overridden by the
// flags, with defaults filled in. given is false if there is neither a file nor a flag.
// Warnings about deprecated keys and values go to standard error.
func (f *specFlags) specification(e *env, quiet bool) (s spec.Spec, given bool, err error) {
	if err := f.mergeTables(); err != nil {
		return s, true, err
	}
	warn := func(warnings []string) {
		for _, w := range warnings {
			fmt.Fprintln(e.stderr, "warning: "+w)
		}
	}
	file := f.specPath()
	if file != "" {
		var warnings []string
		if s, warnings, err = readSpec(file); err != nil {
			return s, true, err
		}
		warn(warnings)
	}
	described := s.Data.Files
	flags, err := f.override(&s)
	if err != nil {
		return s, true, err
	}
	if len(f.Tables) > 0 && len(described) > 0 && !slices.Equal(f.Tables, described) && !quiet {
		fmt.Fprintf(e.stderr, "note: %s describes %s; this run uses %s instead\n", file, strings.Join(described, ", "), strings.Join(f.Tables, ", "))
	}
	deprecated := s.ReplaceDeprecated() // Parse has replaced those of the file
	for i, w := range deprecated {
		path, rest, _ := strings.Cut(w, ":")
		deprecated[i] = flagOf(path) + ":" + rest
	}
	warn(deprecated)
	if file == "" && len(flags) == 0 {
		s.Fill()
		return s, false, nil
	}
	if err := f.complete(e, &s, quiet); err != nil {
		return s, true, err
	}
	if err := f.overrideRank(flags, &s); err != nil { // the default term needs the modes
		return s, true, err
	}
	s.Fill()
	if e.jsonMessages { // a program knows fields, not flags
		return s, true, s.Validate()
	}
	return s, true, f.locate(s.Validate(), s.Data.Modes, file, flags)
}

// complete guesses the target and the modes that are neither in the file nor in a flag.
func (f *specFlags) complete(e *env, s *spec.Spec, quiet bool) error {
	if len(s.Data.Files) == 0 {
		return nil
	}
	rule := s.Data.Duplicates
	guessed, err := search.Complete(s, kft.Source{}, f.future)
	if err != nil || guessed == nil {
		return err
	}
	if rule != "" && guessed.Duplicates != "" && rule != guessed.Duplicates {
		guessed.Duplicates, guessed.Covariates = rule, nil
		guessed.Notes = slices.DeleteFunc(guessed.Notes, func(note string) bool {
			return strings.Contains(note, "data.duplicates is ") || strings.Contains(note, "taken for covariates")
		})
	}
	f.damaged = guessed.Damaged()
	if len(guessed.Covariates) == 0 && !s.Data.Undescribed() && !s.SeveralTargets() {
		f.unused = guessed.MayDescribe()
	}
	if !quiet {
		var b strings.Builder
		summary.WriteGuess(&b, guessed, nameAllFlags)
		io.WriteString(e.stderr, b.String())
	}
	return nil
}

// mergeTables lets --data stand for the argument.
func (f *specFlags) mergeTables() error {
	switch {
	case len(f.Tables) == 0:
		f.Tables = f.Data
	case len(f.Data) > 0 && !slices.Equal(f.Tables, f.Data):
		return usagef("the tables are given twice and differ: %s as arguments, %s by --data; give them once, as arguments", strings.Join(f.Tables, ", "), strings.Join(f.Data, ", "))
	}
	return nil
}

// specPath returns the path of the specification to read, "" for none.
func (f *specFlags) specPath() string {
	if f.SpecFile == "" && len(f.Tables) == 0 {
		if _, err := os.Stat(defaultSpecFile); err == nil {
			return defaultSpecFile
		}
	}
	return f.SpecFile
}

func readSpec(file string) (spec.Spec, []string, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return spec.Spec{}, nil, usagef("%s: no such specification; create one with kft init TABLE -o %s", file, file)
	}
	if err != nil {
		return spec.Spec{}, nil, fmt.Errorf("reading the specification: %w", err)
	}
	return spec.Parse(text, file)
}

// override sets the fields whose flags were given. It returns the flag of each such
// field by the field's path.
func (f *specFlags) override(s *spec.Spec) (flags map[string]string, err error) {
	flags = map[string]string{}
	for _, list := range []struct {
		value      []string
		to         *[]string
		path, flag string
	}{
		{f.Tables, &s.Data.Files, "data.files", "TABLE"},
		{dataset.SplitModes(f.Modes...), &s.Data.Modes, "data.modes", "--modes"},
		{dataset.SplitModes(f.Covariate...), &s.Data.Covariates, "data.covariates", "--covariate"},
		{dataset.SplitModes(f.Lags...), &s.Data.Lags, "data.lags", "--lags"},
		{f.History, &s.Data.History, "data.history", "--history"},
		{f.Side, &s.Side.Tables, "side.tables", "--side"},
		{f.Kernel, &s.Side.Kernels, "side.kernels", "--kernel"},
		{f.Term, &s.Terms, "terms", "--term"},
	} {
		if len(list.value) > 0 {
			flags[list.path], *list.to = list.flag, list.value
		}
	}
	for _, text := range []struct {
		value string
		to    *string
		path  string
	}{
		{f.Target, &s.Data.Target, "data.target"},
		{f.Weight, &s.Data.Weight, "data.weight"},
		{f.Exposure, &s.Data.Exposure, "data.exposure"},
		{f.Censored, &s.Data.Censored, "data.censored"},
		{f.NonNegative, &s.Data.NonNegative, "data.nonnegative"},
		{f.Duplicates, &s.Data.Duplicates, "data.duplicates"},
		{f.Absent, &s.Data.Absent, "data.absent"},
		{f.Ends, &s.Data.Ends, "data.ends"},
		{f.Delimiter, &s.Data.Delimiter, "data.delimiter"},
		{f.Header, &s.Data.Header, "data.header"},
		{f.Decimal, &s.Data.Decimal, "data.decimal"},
		{f.Thousands, &s.Data.Thousands, "data.thousands"},
		{f.Split, &s.Split, "split"},
		{f.Transform, &s.Transform, "transform"},
		{f.Order, &s.Order, "order"},
		{f.Variant, &s.Side.Variant, "side.variant"},
		{f.Space, &s.Side.Space, "side.space"},
		{f.Intercept, &s.Side.Intercept, "side.intercept"},
		{f.LengthScales, &s.Side.LengthScales, "side.length-scales"},
		{f.Placebo, &s.Side.Placebo, "side.placebo"},
		{f.Inference, &s.Uncertainty.Inference, "uncertainty.inference"},
		{f.Likelihood, &s.Uncertainty.Likelihood, "uncertainty.likelihood"},
		{f.Noise, &s.Uncertainty.Noise, "uncertainty.noise"},
		{f.NoiseUse, &s.Uncertainty.NoiseUse, "uncertainty.noise-use"},
		{f.Conformal, &s.Uncertainty.Conformal, "uncertainty.conformal"},
		{f.Heaping, &s.Uncertainty.Heaping, "uncertainty.heaping"},
		{f.Mixing, &s.Uncertainty.Mixing, "uncertainty.mixing"},
		{f.Covariance, &s.Uncertainty.Covariance, "uncertainty.covariance"},
		{f.Moments, &s.Uncertainty.Moments, "uncertainty.moments"},
		{f.Solver, &s.Fit.Solver, "fit.solver"},
		{f.Ridge, &s.Fit.Ridge, "fit.ridge"},
		{f.Prune, &s.Fit.Prune, "fit.prune"},
		{f.Schedule, &s.Fit.Schedule, "fit.schedule"},
		{f.Effort, &s.Fit.Effort, "fit.effort"},
		{f.Refit, &s.Fit.Refit, "fit.refit"},
	} {
		if text.value != "" {
			flags[text.path], *text.to = flagOf(text.path), text.value
		}
	}
	if f.Forecast != nil {
		if f.Split != "" {
			return nil, usagef("--forecast and --split exclude each other: --forecast H splits by time")
		}
		flags["split"], s.Split = "--forecast", fmt.Sprintf("time:last=%d", *f.Forecast)
		if f.Refit == "" {
			flags["fit.refit"], s.Fit.Refit = "--forecast", "all"
		}
	}
	if f.Lambda != nil {
		flags["fit.lambda"], s.Fit.Lambda = "--lambda", *f.Lambda
	}
	if f.NoiseVariance != nil {
		flags["uncertainty.noise-variance"], s.Uncertainty.NoiseVariance = "--noise-variance", *f.NoiseVariance
	}
	if f.PriorVariance != nil {
		flags["uncertainty.prior-variance"], s.Uncertainty.PriorVariance = "--prior-variance", *f.PriorVariance
	}
	if f.PriorMean != nil {
		flags["uncertainty.prior-mean"], s.Uncertainty.PriorMean = "--prior-mean", *f.PriorMean
	}
	err = errors.Join(
		overrideNumber(flags, f.SideColumns, &s.Side.Columns, "side.columns"),
		overrideNumber(flags, f.Sweeps, &s.Fit.Sweeps, "fit.sweeps"),
		overrideNumber(flags, f.Patience, &s.Fit.Patience, "fit.patience"),
		overrideNumber(flags, f.CGSteps, &s.Fit.CGSteps, "fit.cg-steps"),
		overrideNumber(flags, f.Epochs, &s.Fit.Epochs, "fit.epochs"),
		overrideNumber(flags, f.LearningRate, &s.Fit.LearningRate, "fit.learning-rate"),
		overrideNumber(flags, f.Batch, &s.Fit.Batch, "fit.batch"),
		overrideNumber(flags, f.Seed, &s.Seed, "seed"),
	)
	return flags, err
}

// overrideNumber sets a number. In a specification 0 means not given, so a 0 that was
// given is an error here.
func overrideNumber[T int | uint64 | float64](flags map[string]string, given, to *T, path string) error {
	if given == nil {
		return nil
	}
	if *given == 0 {
		return usagef("%s: must be above 0", flagOf(path))
	}
	flags[path], *to = flagOf(path), *given
	return nil
}

// overrideRank sets the terms to one term over all modes, and the effects of covariates.
func (f *specFlags) overrideRank(flags map[string]string, s *spec.Spec) error {
	switch {
	case f.Rank == nil:
		return nil
	case len(f.Term) > 0:
		return usagef("--rank is the rank of the default term; with --term, write the ranks after the colon")
	case *f.Rank < 1 || *f.Rank > spec.MaxRank:
		return usagef("--rank: %d is not a whole number from 1 to %d", *f.Rank, spec.MaxRank)
	case len(s.Data.Modes) == 0:
		return usagef("--rank requires modes; add a table, or --modes, as in --modes store,item,time=year+month%s", f.specFileHint())
	}
	flags["terms"] = "--rank"
	s.Data.AddCovariates()
	names, cells := s.ModeNames(), s.CellModes()
	s.Terms = append([]string{spec.DefaultTerm(names[:cells], *f.Rank).String()}, names[cells:]...)
	return nil
}

// locate sets where each problem comes from: the flag that was given, or the file.
func (f *specFlags) locate(err error, modes []string, file string, flags map[string]string) error {
	var problems spec.Problems
	if !errors.As(err, &problems) {
		return err
	}
	problems = slices.Clone(problems)
	for i := range problems {
		p := &problems[i]
		path, _, _ := strings.Cut(p.Path, "[")
		if short := f.shortForm(p.Path, modes); flags[short] != "" {
			path = short
		}
		switch flag, isFlag := flags[path]; {
		case isFlag:
			p.Path = flag
		case file != "":
			p.File = file
			if _, newModes := flags["data.modes"]; newModes && path == "terms" {
				p.Message += "; the terms of " + file + " belong to other modes than those of --modes, so add --term or --rank"
			}
		case path == "data.target", path == "data.modes":
			p.Path = flagOf(path)
			p.Message += f.specFileHint()
		case flagOf(path) != "":
			p.Path = flagOf(path)
		}
	}
	return problems
}

// shortForm returns the path of the list that a mode with a problem was added from, "" for a mode that was given as such.
func (f *specFlags) shortForm(path string, modes []string) string {
	var at int
	if n, _ := fmt.Sscanf(path, "data.modes[%d]", &at); n == 0 || at >= len(modes) || slices.Contains(dataset.SplitModes(f.Modes...), modes[at]) {
		return ""
	}
	name, expression, named := strings.Cut(modes[at], "=")
	if !named {
		expression = name
	}
	switch function, _, _ := strings.Cut(expression, "("); function {
	case "lag":
		return "data.lags"
	case "periods":
		return "data.history"
	case expression: // without a function
		return ""
	}
	return "data.covariates"
}

// specFileHint suggests kft.yaml to a call that names a table, and therefore does not
// read that file.
func (f *specFlags) specFileHint() string {
	if len(f.Tables) == 0 {
		return ""
	}
	s, _, err := readSpec(defaultSpecFile)
	switch {
	case err != nil:
		return ""
	case len(s.Data.Files) == 0 || slices.Equal(s.Data.Files, f.Tables):
		return fmt.Sprintf("; or add --spec %s, which describes this table", defaultSpecFile)
	}
	return fmt.Sprintf("; %s describes another table, %s (--spec %s uses it anyway)", defaultSpecFile, strings.Join(s.Data.Files, ", "), defaultSpecFile)
}

// notes returns a note per flag that was given and has no effect.
func (f *specFlags) notes(s spec.Spec) []string {
	var notes []string
	for _, flag := range []struct {
		given        bool
		name, solver string
	}{
		{f.Ridge != "", "--ridge", "als"}, {f.Lambda != nil, "--lambda", "als"},
		{f.Sweeps != nil, "--sweeps", "als"}, {f.CGSteps != nil, "--cg-steps", "als"},
		{f.LearningRate != nil, "--learning-rate", "adam"}, {f.Batch != nil, "--batch", "adam"},
		{f.Epochs != nil, "--epochs", "adam"}, {f.Schedule != "", "--schedule", "adam"}, {f.Prune != "", "--prune", "cavi"},
	} {
		swept := s.Fit.Solver == "cavi" && (flag.name == "--sweeps" || flag.name == "--cg-steps")
		penalized := s.Fit.Solver == "adam" && (flag.name == "--ridge" || flag.name == "--lambda")
		if flag.given && s.Fit.Solver != flag.solver && !swept && !penalized {
			notes = append(notes, fmt.Sprintf("note: %s applies to the solver %s and has no effect with %s", flag.name, flag.solver, s.Fit.Solver))
		}
	}
	for _, flag := range []struct {
		given  bool
		name   string
		kernel bool // applies to spaces with a kernel
	}{
		{f.Space != "", "--space", false}, {f.Intercept != "", "--intercept", false}, {len(f.Kernel) > 0, "--kernel", true},
		{f.SideColumns != nil, "--side-columns", true}, {f.LengthScales != "", "--length-scales", true},
	} {
		switch {
		case flag.given && len(s.Side.Tables) == 0:
			notes = append(notes, fmt.Sprintf("note: %s applies to side information and has no effect without --side", flag.name))
		case flag.given && flag.kernel && s.Side.Space == "primal":
			notes = append(notes, fmt.Sprintf("note: %s applies to kernels and has no effect in the space primal", flag.name))
		}
	}
	return notes
}
