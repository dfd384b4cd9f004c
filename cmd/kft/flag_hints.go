package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// A flagHint is a flag that people look for under other names.
type flagHint struct {
	names []string // without --
	use   string   // what to use, a flag with an example of its value
	verbs []string // nil for all that have the flag
}

// flagHints lists names of flags of other programs, and of other verbs. The first hint whose
// flag the verb has is given.
var flagHints = []flagHint{
	{names: []string{"split", "forecast", "test", "test-size", "holdout"}, use: "--windows, --horizon and --step", verbs: []string{"backtest"}},
	{names: []string{"forecast", "periods", "steps", "fh", "h", "forecast-horizon"}, use: "--horizon H"},
	{names: []string{"horizon", "periods", "steps", "fh", "h", "forecast-horizon"}, use: "--forecast H"},
	{names: []string{"origins", "folds", "cv", "splits"}, use: "--windows N"},
	{names: []string{"test", "test-size", "holdout", "train-size", "valid", "validation-size"}, use: "--split random:60/20/20 (training, validation and test set in percent)"},
	{names: []string{"level", "levels", "interval", "intervals", "confidence", "coverage", "alpha"}, use: "--quantiles .05,.95 (the ends of a 90 % interval)", verbs: []string{"predict"}},
	{names: []string{"levels", "interval", "intervals", "confidence", "coverage", "alpha"}, use: "--level 90"},
	{names: []string{"draws"}, use: "--samples N"},
	{names: []string{"samples"}, use: "--draws N"},
	{names: []string{"time", "date", "dates", "timestamp", "id", "ids", "key", "keys", "index", "entity", "columns", "mode"}, use: "--modes MODE,..."},
	{names: []string{"y", "label", "outcome", "response", "value"}, use: "--target COLUMN"},
	{names: []string{"x", "features", "feature", "regressors", "exog", "covariates", "predictors"}, use: "--covariate COLUMN,..."},
	{names: []string{"offset"}, use: "--exposure COLUMN"},
	{names: []string{"family", "distribution"}, use: "--likelihood NAME"},
	{names: []string{"log"}, use: "--transform log1p"},
	{names: []string{"lr"}, use: "--learning-rate X"},
	{names: []string{"l2", "regularization", "penalty"}, use: "--lambda X"},
	{names: []string{"iterations", "iter", "max-iter"}, use: "--sweeps N"},
	{names: []string{"jobs", "n-jobs", "cpus", "cores", "workers"}, use: "--threads N"},
	{names: []string{"random-state", "random-seed"}, use: "--seed N"},
	{names: []string{"timeout", "time-limit", "max-time"}, use: "--time-budget 60s"},
	{names: []string{"sep", "separator"}, use: "--delimiter D"},
	{names: []string{"config", "specification", "configuration"}, use: "--spec FILE"},
	{names: []string{"overwrite"}, use: "--force"},
	{names: []string{"filter", "where", "series"}, use: "--only MODE=ID,..."},
	{names: []string{"group-by", "groupby", "group", "total", "totals"}, use: "--by GROUPS"},
	{names: []string{"silent"}, use: "--quiet"},
	{names: []string{"model", "input", "file", "table", "train"}, use: "an argument without a flag"},
}

var unknownFlag = regexp.MustCompile(`^unknown flag --([a-z0-9-]+)`)

// hintFlag returns the text for an unknown flag that has another name here, or that belongs to
// other verbs, "" for an error of another kind.
func hintFlag(err error, model *kong.Application, args []string) string {
	found := unknownFlag.FindStringSubmatch(err.Error())
	verb := verbNode(model, args)
	if found == nil || verb == nil {
		return ""
	}
	name, has := found[1], flagNames(calledNode(verb, args[1:]))
	for _, h := range flagHints {
		flag, _, _ := strings.Cut(strings.TrimPrefix(h.use, "--"), " ")
		if slices.Contains(h.names, name) && (h.verbs == nil || slices.Contains(h.verbs, verb.Name)) && (!strings.HasPrefix(h.use, "--") || slices.Contains(has, strings.Trim(flag, ","))) {
			return fmt.Sprintf("unknown flag --%s; use %s", name, h.use)
		}
	}
	var verbs []string
	for _, other := range model.Children {
		if slices.Contains(flagNames(other), name) {
			verbs = append(verbs, "kft "+other.Name)
		}
	}
	if verbs == nil {
		return ""
	}
	return fmt.Sprintf("unknown flag --%s; it is a flag of %s", name, strings.Join(verbs, ", "))
}

// calledNode returns the command below a verb that is called, as in kft study show.
func calledNode(verb *kong.Node, args []string) *kong.Node {
	for _, c := range verb.Children {
		if len(args) > 0 && c.Name == args[0] {
			return c
		}
	}
	if verb.DefaultCmd != nil {
		return verb.DefaultCmd
	}
	return verb
}

func flagNames(verb *kong.Node) []string {
	var names []string
	for _, f := range verb.Flags {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	}
	return names
}
