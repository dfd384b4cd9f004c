package main

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/publicdata"
)

// hasFlags returns a function that reports whether a flag is among the given ones.
func hasFlags(flags ...string) func(string) bool {
	return func(flag string) bool { return slices.Contains(flags, flag) }
}

func TestWithAdvice(t *testing.T) {
	t.Parallel()
	lambda := &kft.FieldError{Path: "fit.lambda", Err: errors.New("solver: diverged; increase fit.lambda")}
	target := &kft.FieldError{Path: "data.target", Err: errors.New("the target is constant")}
	for _, c := range []struct {
		err   error
		flags []string
		want  string
	}{
		{errors.New("disk full"), []string{"--lambda"}, "disk full"},
		{lambda, []string{"--lambda"}, "solver: diverged; increase fit.lambda (--lambda)"},
		{lambda, nil, "solver: diverged; increase --lambda of kft fit"},
		{target, []string{"--target"}, "the target is constant (--target sets it)"},
		{target, []string{"--side"}, "the target is constant"},
		{fmt.Errorf("t.csv: %w", target), []string{"--target"}, "t.csv: the target is constant (--target sets it)"},
		{&kft.QuantileError{Problem: "2 is not between 0 and 1"}, nil, "--quantiles: 2 is not between 0 and 1"},
		{&kft.SamplesError{Problem: "too many"}, nil, "--samples: too many"},
		{&kft.SideError{Problem: "two tables"}, nil, "--side: two tables"},
		{&kft.UnseenError{Row: 2, Mode: "store", ID: "S9"}, nil, `data row 2: mode store: the id "S9" is not in the training data; leave out --strict to predict it by the prior`},
		{fmt.Errorf("scale sqrt: %w", &kft.CheckpointError{File: "a/checkpoint.kft", Problem: "the data differs"}), nil,
			"scale sqrt: a/checkpoint.kft belongs to another fit: the data differs; choose another folder with --checkpoint, or delete the file to start again"},
		{&kft.NotFittedError{Table: "t.csv"}, []string{"--data"}, "t.csv is not the table that the model was fitted to, so the parts of its rows are not known; give the table of the fit"},
		{&kft.NotFittedError{Table: "t.csv"}, []string{"--part"}, "t.csv is not the table that the model was fitted to, so the parts of its rows are not known; leave out --part to use all rows"},
		{&publicdata.ExistsError{Files: []string{"a"}}, nil, "a already exists; choose another folder or allow overwriting (-o chooses another folder, --force overwrites)"},
		{&publicdata.InputOverwriteError{File: "a"}, nil, "a is part of the download and would be overwritten; choose another folder (-o chooses another folder)"},
	} {
		if got := withAdvice(c.err, hasFlags(c.flags...)); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestNameFlags(t *testing.T) {
	t.Parallel()
	all := hasFlags("--noise", "--noise-use", "--learning-rate", "--lambda", "--split", "--active")
	for text, want := range map[string]string{
		"decrease fit.learning-rate or increase fit.lambda":      "decrease fit.learning-rate (--learning-rate) or increase fit.lambda (--lambda)",
		"set uncertainty.noise-use to fit":                       "set uncertainty.noise-use (--noise-use) to fit",
		"kft.yaml: fit.lambda: invalid":                          "kft.yaml: fit.lambda: invalid",
		"enlarge the validation set in split":                    "enlarge the validation set in split (--split)",
		"rows in split files":                                    "rows in split files",
		"add a validation set to split, or set order":            "add a validation set to split (--split), or set order",
		"hold out the last periods, as in split time:last=3, or": "hold out the last periods, as in --split time:last=3, or",
		"set fit.solver to cavi":                                 "fit the model with --solver cavi",
		"set fit.solver to als or cavi":                          "fit the model with --solver als or cavi",
		"fit the model with data.absent set to zero":             "fit the model with --absent zero",
		"fit it with uncertainty.inference mean-field":           "fit it with --inference mean-field",
		"increase fit.epochs":                                    "increase --epochs of kft fit",
		"leave them out: set active":                             "leave them out: use --active N",
		"leave them out: set active to 6":                        "leave them out: use --active 6",
		"set uncertainty.conformal to split, or recalibrate":     "fit the model with --conformal split, or recalibrate",
		"set split to fewer periods":                             "set split (--split) to fewer periods",
		"set level to 6":                                         "set level to 6",
	} {
		if got := nameFlags(text, all); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := nameFlags("increase fit.lambda", nil); got != "increase fit.lambda" {
		t.Errorf("without flags: got %q", got)
	}
}

// Every field of a specification has a flag, and fit has every such flag, or the command
// whose option it is.
func TestFieldFlagsAreComplete(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&commandLine{})
	if err != nil {
		t.Fatal(err)
	}
	var has []func(string) bool
	for _, args := range [][]string{{"fit"}, {"forecast", "model.kft"}, {"backtest"}} {
		call, err := parser.Parse(args)
		if err != nil {
			t.Fatal(err)
		}
		has = append(has, flagsOf(call))
	}
	for _, f := range fieldFlags {
		if !slices.ContainsFunc(has, func(hasFlag func(string) bool) bool { return hasFlag(f.flag) }) {
			t.Errorf("no command has a flag %s of the field %s", f.flag, f.path)
		}
	}
	for _, path := range optionFields {
		if !slices.ContainsFunc(has, func(hasFlag func(string) bool) bool { return hasFlag(flagOf(path)) }) {
			t.Errorf("no command has a flag of the option %s", path)
		}
	}
	for _, path := range fieldPaths(reflect.TypeFor[kft.Spec](), "") {
		if path != "version" && path != "data.files" && path != "search" && flagOf(path) == "" {
			t.Errorf("no flag for the field %s", path)
		}
	}
}

// fieldPaths returns the paths of the fields of a specification.
func fieldPaths(section reflect.Type, prefix string) []string {
	var paths []string
	for i := range section.NumField() {
		f := section.Field(i)
		key := prefix + f.Tag.Get("yaml")
		if f.Type.Kind() == reflect.Struct && f.Type != reflect.TypeFor[kft.Lambda]() && f.Type != reflect.TypeFor[kft.Variance]() && f.Type != reflect.TypeFor[kft.PriorMean]() {
			paths = append(paths, fieldPaths(f.Type, key+".")...)
		} else {
			paths = append(paths, key)
		}
	}
	return paths
}

func TestNormalize(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, want, warnings string }{
		{"--version", "version", ""},
		{"help fit", "fit --help", ""},
		{"fit t.csv --rate 0.1", "fit t.csv --learning-rate 0.1", "--rate is deprecated; use --learning-rate"},
		{"tune t.csv --side-replace=noise", "tune t.csv --placebo=noise", "--side-replace is deprecated; use --placebo"},
		{"fit t.csv --rate -1", "fit t.csv --learning-rate=-1", "--rate is deprecated; use --learning-rate"},
		{"fit t.csv --rate 0.1 -q", "fit t.csv --learning-rate 0.1 -q", "--rate is deprecated; use --learning-rate"},
		{"predict m.kft --rate 0.1", "predict m.kft --rate 0.1", ""},
		{"fit --batch -.5 -- --rate", "fit --batch=-.5 -- --rate", ""},
	} {
		args, warnings := normalize(strings.Fields(c.args))
		if got := strings.Join(args, " "); got != c.want {
			t.Errorf("kft %s: got %s, want %s", c.args, got, c.want)
		}
		if got := strings.Join(warnings, "; "); got != c.warnings {
			t.Errorf("kft %s: got the warning %q, want %q", c.args, got, c.warnings)
		}
	}
}
