package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/spec"
)

// defaultSpecFile is what init writes and what fit reads without --data.
const defaultSpecFile = "kft.yaml"

// dataFlags say what a table's columns mean and how it is written.
type dataFlags struct {
	Target     string   `group:"data" placeholder:"COLUMN" help:"The column to predict."`
	Modes      []string `group:"data" sep:"none" placeholder:"MODE,..." help:"The columns of ids, by commas: store, time=year+month (several joined), or a function, hour(timestamp). A name that holds any of + , = ( ) goes in double quotes: 'store,price=\"price (USD)\"'."`
	Weight     string   `group:"data" placeholder:"COLUMN" help:"A column of weights, 0 or more."`
	Duplicates string   `group:"data" placeholder:"RULE" values:"error,sum,mean,last" help:"A cell seen twice: error, sum, mean or last (default: error)."`
	Delimiter  string   `group:"data" placeholder:"D" values:"auto,comma,tab,semicolon,bar,space" help:"auto, comma, tab, semicolon, bar, space or one character (default: auto)."`
	Header     string   `group:"data" placeholder:"H" values:"auto,yes,no" help:"Whether the first row names the columns: auto, yes or no (default: auto)."`
}

// specFlags are the flags of fit and spec: each overrides one field of the
// specification. What is not given stays nil or empty.
type specFlags struct {
	SpecFile  string   `name:"spec" group:"data" placeholder:"FILE" complete:"file" help:"Read this specification; without --data it is kft.yaml, where there is one. With --data alone the defaults are taken, not kft.yaml."`
	Data      []string `group:"data" sep:"none" placeholder:"FILE" complete:"file" help:"CSV or TSV, plain, gzip or zstd, Parquet or Arrow; - is standard input. May be repeated."`
	dataFlags `embed:""`
	Split     string `group:"data" placeholder:"SPLIT" values:"random:60/20/20,time:last=3,entity:,column:,file:" help:"random:60/20/20, time:last=3, entity:store=10%, column:part or file:F (default: random:60/20/20)."`

	Term      []string `group:"model" sep:"none" placeholder:"TERM" help:"A term of the sum, as in 'store,item,time:20': cores by commas, the modes of a joint core by *, rank or ranks after the colon. May be repeated."`
	Rank      *int     `group:"model" placeholder:"R" help:"One term over all modes of this rank (default: 20)."`
	Transform string   `group:"model" placeholder:"SCALE" values:"identity,log1p,sqrt,cbrt1p,auto" help:"Scale to model the target on: identity, log1p, sqrt, cbrt1p, or auto, chosen on the valid part (default: identity)."`

	Side         []string `group:"side" sep:"none" placeholder:"TABLE" help:"What is known about a mode's ids: store=stores.csv:city:cat,lat,lon (types num, log, cat, labels, date, cycleN; guessed where not given), or its own columns, time=@year,@month:cycle12. May be repeated."`
	Variant      string   `group:"side" placeholder:"NAME" values:"plain,side,wlr,ls,additive" help:"How cores use it: plain, side, wlr, ls or additive (default: wlr with --side, else plain). A term can have its own: 'store,item:5@additive'."`
	Space        string   `group:"side" placeholder:"NAME" values:"primal,primal-rff,dual,dual-rff,dual-unwhitened" help:"Linear in the columns (primal), by random features, or by a kernel: primal, primal-rff, dual, dual-rff, dual-unwhitened (default: dual)."`
	Kernel       []string `group:"side" sep:"none" placeholder:"KERNEL" help:"rbf, matern12, matern32, matern52, periodic:12, sums and products such as matern32+rbf*periodic:12, rbf:ard; time=KERNEL for one mode. May be repeated (default: matern32)."`
	SideColumns  *int     `group:"side" placeholder:"N" help:"Columns of a kernel's operator (default: 128)."`
	Intercept    string   `group:"side" placeholder:"I" values:"yes,no" help:"Whether operators have a constant: yes or no (default: yes)."`
	LengthScales string   `name:"length-scales" group:"side" placeholder:"L" values:"fixed,learn" help:"fixed at the median distance, or learn (default: fixed)."`
	Placebo      string   `group:"side" placeholder:"KIND" values:"constant,noise" help:"constant or noise in place of the side information, or of one mode's: noise:store."`

	Inference  string `group:"uncertainty" placeholder:"NAME" values:"map,mean-field,multivariate,entity-covariance" help:"map finds the best weights; mean-field, multivariate and entity-covariance find how well each is known (default: map)."`
	Likelihood string `group:"uncertainty" placeholder:"NAME" values:"gaussian,poisson,negative-binomial,auto" help:"Law of the target about the model: gaussian on the scale of --transform, poisson or negative-binomial for counts, or auto, chosen on the valid part (default: gaussian)."`
	Noise      string `group:"uncertainty" placeholder:"KIND" values:"constant,entity:,power" help:"Noise of the gaussian likelihood: constant, entity:item or entity:store,item (of each id), or power (of the mean) (default: constant)."`
	NoiseUse   string `group:"uncertainty" placeholder:"USE" values:"predict,fit" help:"Use the noise model to predict, or to fit as well (default: predict)."`
	Conformal  string `group:"uncertainty" placeholder:"KIND" values:"auto,none,split,group:mean,group:" help:"Correct intervals by data held out for it, half of the valid part: none, split (all rows alike), group:mean (by size of the prediction), group:MODE, or auto: group:mean for a posterior with enough valid rows, else none (default: auto)."`
	Moments    string `group:"uncertainty" placeholder:"M" values:"exact,paper" help:"Variance of predictions: exact, or the paper's approximation (default: exact)."`

	Solver       string       `group:"training" placeholder:"NAME" values:"als,adam,cavi" help:"als or adam for a point, cavi or adam for a posterior (default: als, or cavi)."`
	Ridge        string       `group:"training" placeholder:"KIND" values:"auto,uniform,frequency" help:"Penalty: uniform, frequency, or auto, chosen on the valid part (default: auto)."`
	Lambda       *spec.Lambda `group:"training" placeholder:"X" values:"auto" help:"Its weight, or auto, chosen on the valid part (default: auto)."`
	Sweeps       *int         `group:"training" placeholder:"N" help:"als: at most so many sweeps over all cores (default: 30)."`
	Patience     *int         `group:"training" placeholder:"N" help:"Sweeps or epochs without gain before stopping (default: 4)."`
	CGSteps      *int         `name:"cg-steps" group:"training" placeholder:"N" help:"als: conjugate gradient steps an inner core (default: 6)."`
	LearningRate *float64     `group:"training" placeholder:"X" help:"adam: size of a step (default: 0.01)."`
	Batch        *float64     `group:"training" placeholder:"SHARE" help:"adam: share of the training rows a step, 0.01 to 1 (default: 0.02)."`
	Epochs       *int         `group:"training" placeholder:"N" help:"adam: at most so many over the data (default: 30)."`
	Schedule     string       `group:"training" placeholder:"NAME" values:"joint,block" help:"adam: joint (all cores a step) or block (in turn) (default: joint)."`
	Seed         *uint64      `group:"training" placeholder:"N" help:"Of everything random, 1 or more (default: 1)."`
}

// specification reads the file, if there is one, lets the flags override it and
// fills in defaults. given is false where there is neither.
func (f *specFlags) specification() (spec spec.Spec, given bool, err error) {
	file := f.specPath()
	if file != "" {
		if spec, err = readSpec(file); err != nil {
			return spec, true, err
		}
	}
	flags, err := f.override(&spec)
	if err != nil {
		return spec, true, err
	}
	spec.Fill()
	if file == "" && len(flags) == 0 {
		return spec, false, nil
	}
	return spec, true, f.place(spec.Validate(), file, flags)
}

// specPath names the specification that is read, "" for none.
func (f *specFlags) specPath() string {
	if f.SpecFile == "" && len(f.Data) == 0 {
		if _, err := os.Stat(defaultSpecFile); err == nil {
			return defaultSpecFile
		}
	}
	return f.SpecFile
}

// modeTexts are the modes given, one a text.
func (f *dataFlags) modeTexts() []string {
	var texts []string
	for _, list := range f.Modes {
		texts = append(texts, dataset.SplitModes(list)...)
	}
	return texts
}

// notices lists flags that were given and have no effect.
func (f *specFlags) notices(spec spec.Spec) []string {
	var notices []string
	for _, flag := range []struct {
		given        bool
		name, solver string
	}{
		{f.Ridge != "", "--ridge", "als"}, {f.Lambda != nil, "--lambda", "als"},
		{f.Sweeps != nil, "--sweeps", "als"}, {f.CGSteps != nil, "--cg-steps", "als"},
		{f.LearningRate != nil, "--learning-rate", "adam"}, {f.Batch != nil, "--batch", "adam"},
		{f.Epochs != nil, "--epochs", "adam"}, {f.Schedule != "", "--schedule", "adam"},
	} {
		swept := spec.Fit.Solver == "cavi" && (flag.name == "--sweeps" || flag.name == "--cg-steps")
		penalised := spec.Fit.Solver == "adam" && (flag.name == "--ridge" || flag.name == "--lambda")
		if flag.given && spec.Fit.Solver != flag.solver && !swept && !penalised {
			notices = append(notices, fmt.Sprintf("note: %s is for the solver %s and has no effect with %s", flag.name, flag.solver, spec.Fit.Solver))
		}
	}
	for _, flag := range []struct {
		given  bool
		name   string
		kernel bool // of the spaces with one
	}{
		{f.Space != "", "--space", false}, {f.Intercept != "", "--intercept", false}, {len(f.Kernel) > 0, "--kernel", true},
		{f.SideColumns != nil, "--side-columns", true}, {f.LengthScales != "", "--length-scales", true},
	} {
		switch {
		case flag.given && len(spec.Side.Tables) == 0:
			notices = append(notices, fmt.Sprintf("note: %s is for side information and has no effect without --side", flag.name))
		case flag.given && flag.kernel && spec.Side.Space == "primal":
			notices = append(notices, fmt.Sprintf("note: %s is for kernels and has no effect in the space primal", flag.name))
		}
	}
	return notices
}

func readSpec(file string) (spec.Spec, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return spec.Spec{}, usagef("%s: there is no such specification; kft init TABLE -o %s writes one", file, file)
	}
	if err != nil {
		return spec.Spec{}, fmt.Errorf("reading the specification: %w", err)
	}
	parsed, _, err := spec.Parse(text, file)
	return parsed, err
}

// override sets the fields that flags were given for and returns the flag of
// each such field by its path.
func (f *specFlags) override(s *spec.Spec) (flags map[string]string, err error) {
	flags = map[string]string{}
	set := func(given bool, path, flag string, assign func()) {
		if given {
			flags[path] = flag
			assign()
		}
	}
	set(len(f.Data) > 0, "data.files", "--data", func() { s.Data.Files = f.Data })
	set(len(f.Modes) > 0, "data.modes", "--modes", func() { s.Data.Modes = f.modeTexts() })
	set(len(f.Side) > 0, "side.tables", "--side", func() { s.Side.Tables = f.Side })
	set(len(f.Kernel) > 0, "side.kernels", "--kernel", func() { s.Side.Kernels = f.Kernel })
	set(len(f.Term) > 0, "terms", "--term", func() { s.Terms = f.Term })
	for _, text := range []struct {
		value      string
		to         *string
		path, flag string
	}{
		{f.Target, &s.Data.Target, "data.target", "--target"},
		{f.Weight, &s.Data.Weight, "data.weight", "--weight"},
		{f.Duplicates, &s.Data.Duplicates, "data.duplicates", "--duplicates"},
		{f.Delimiter, &s.Data.Delimiter, "data.delimiter", "--delimiter"},
		{f.Header, &s.Data.Header, "data.header", "--header"},
		{f.Split, &s.Split, "split", "--split"},
		{f.Transform, &s.Transform, "transform", "--transform"},
		{f.Variant, &s.Side.Variant, "side.variant", "--variant"},
		{f.Space, &s.Side.Space, "side.space", "--space"},
		{f.Intercept, &s.Side.Intercept, "side.intercept", "--intercept"},
		{f.LengthScales, &s.Side.LengthScales, "side.length-scales", "--length-scales"},
		{f.Placebo, &s.Side.Placebo, "side.placebo", "--placebo"},
		{f.Inference, &s.Uncertainty.Inference, "uncertainty.inference", "--inference"},
		{f.Likelihood, &s.Uncertainty.Likelihood, "uncertainty.likelihood", "--likelihood"},
		{f.Noise, &s.Uncertainty.Noise, "uncertainty.noise", "--noise"},
		{f.NoiseUse, &s.Uncertainty.NoiseUse, "uncertainty.noise-use", "--noise-use"},
		{f.Conformal, &s.Uncertainty.Conformal, "uncertainty.conformal", "--conformal"},
		{f.Moments, &s.Uncertainty.Moments, "uncertainty.moments", "--moments"},
		{f.Solver, &s.Fit.Solver, "fit.solver", "--solver"},
		{f.Ridge, &s.Fit.Ridge, "fit.ridge", "--ridge"},
		{f.Schedule, &s.Fit.Schedule, "fit.schedule", "--schedule"},
	} {
		set(text.value != "", text.path, text.flag, func() { *text.to = text.value })
	}
	set(f.Lambda != nil, "fit.lambda", "--lambda", func() { s.Fit.Lambda = *f.Lambda })
	err = errors.Join(
		overrideNumber(flags, f.SideColumns, &s.Side.Columns, "side.columns", "--side-columns"),
		overrideNumber(flags, f.Sweeps, &s.Fit.Sweeps, "fit.sweeps", "--sweeps"),
		overrideNumber(flags, f.Patience, &s.Fit.Patience, "fit.patience", "--patience"),
		overrideNumber(flags, f.CGSteps, &s.Fit.CGSteps, "fit.cg-steps", "--cg-steps"),
		overrideNumber(flags, f.Epochs, &s.Fit.Epochs, "fit.epochs", "--epochs"),
		overrideNumber(flags, f.LearningRate, &s.Fit.LearningRate, "fit.learning-rate", "--learning-rate"),
		overrideNumber(flags, f.Batch, &s.Fit.Batch, "fit.batch", "--batch"),
		overrideNumber(flags, f.Seed, &s.Seed, "seed", "--seed"),
		f.overrideRank(flags, s),
	)
	return flags, err
}

// overrideNumber sets a number. Zero means not given in a specification, so a
// zero that was given has to be refused here.
func overrideNumber[T int | uint64 | float64](flags map[string]string, given, to *T, path, flag string) error {
	if given == nil {
		return nil
	}
	if *given == 0 {
		return usagef("%s: must be above 0", flag)
	}
	flags[path] = flag
	*to = *given
	return nil
}

// overrideRank makes the one term over all modes.
func (f *specFlags) overrideRank(flags map[string]string, s *spec.Spec) error {
	switch {
	case f.Rank == nil:
		return nil
	case len(f.Term) > 0:
		return usagef("--rank is the rank of the one default term; with --term give ranks there, after the colon")
	case *f.Rank < 1 || *f.Rank > spec.MaxRank:
		return usagef("--rank: %d is not a whole number from 1 to %d", *f.Rank, spec.MaxRank)
	case len(s.Data.Modes) == 0:
		return usagef("--rank needs modes; give --modes, as in --modes store,item,time=year+month")
	}
	flags["terms"] = "--rank"
	s.Terms = []string{spec.DefaultTerm(s.ModeNames(), *f.Rank).String()}
	return nil
}

// place says of each problem where it comes from: the flag that was given, or
// the file.
func (f *specFlags) place(err error, file string, flags map[string]string) error {
	var problems spec.Problems
	if !errors.As(err, &problems) {
		return err
	}
	problems = slices.Clone(problems)
	for i := range problems {
		p := &problems[i]
		path, _, _ := strings.Cut(p.Path, "[")
		switch flag, isFlag := flags[path]; {
		case isFlag:
			p.Path = flag
		case file != "":
			p.File = file
			if _, newModes := flags["data.modes"]; newModes && path == "terms" {
				p.Message += "; the terms of " + file + " are for other modes than --modes gives: give --term or --rank too"
			}
		case path == "data.target", path == "data.modes":
			p.Path = "--" + strings.TrimPrefix(path, "data.")
			if _, err := os.Stat(defaultSpecFile); err == nil && len(f.Data) > 0 {
				p.Message += "; or take it from " + defaultSpecFile + " by --spec " + defaultSpecFile
			}
		}
	}
	return problems
}
