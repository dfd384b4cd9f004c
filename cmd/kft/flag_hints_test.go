package main

import (
	"strings"
	"testing"
)

// An unknown flag that has another name here, or that belongs to another verb, is answered with
// the flag to use.
func TestFlagHints(t *testing.T) {
	inEmptyFolder(t)
	for _, c := range []struct{ args, want string }{
		{"fit t.csv --horizon 3", "unknown flag --horizon; use --forecast H (see kft fit --help)"},
		{"forecast m.kft --forecast 3", "unknown flag --forecast; use --horizon H (see kft forecast --help)"},
		{"backtest t.csv --split time:last=3", "unknown flag --split; use --windows, --horizon and --step (see kft backtest --help)"},
		{"backtest t.csv --forecast 3", "unknown flag --forecast; use --windows, --horizon and --step (see kft backtest --help)"},
		{"backtest t.csv --folds=3", "unknown flag --folds; use --windows N (see kft backtest --help)"},
		{"predict m.kft t.csv --level 90", "unknown flag --level; use --quantiles .05,.95 (the ends of a 90 % interval) (see kft predict --help)"},
		{"predict m.kft t.csv --draws 9", "unknown flag --draws; use --samples N (see kft predict --help)"},
		{"predict m.kft t.csv --horizon 3", "unknown flag --horizon; it is a flag of kft report, kft forecast, kft backtest (see kft predict --help)"},
		{"forecast m.kft --samples 9", "unknown flag --samples; use --draws N (see kft forecast --help)"},
		{"forecast m.kft --quantile .1", `unknown flag --quantile, did you mean "--quantiles"? (see kft forecast --help)`},
		{"fit t.csv --test-size .2", "unknown flag --test-size; use --split random:60/20/20 (training, validation and test set in percent) (see kft fit --help)"},
		{"fit t.csv --time month", "unknown flag --time; use --modes MODE,... (see kft fit --help)"},
		{"fit t.csv --date month", "unknown flag --date; use --modes MODE,... (see kft fit --help)"},
		{"fit t.csv --id store", "unknown flag --id; use --modes MODE,... (see kft fit --help)"},
		{"fit t.csv --y units", "unknown flag --y; use --target COLUMN (see kft fit --help)"},
		{"fit t.csv --features price", "unknown flag --features; use --covariate COLUMN,... (see kft fit --help)"},
		{"predict --model m.kft t.csv", "unknown flag --model; use an argument without a flag (see kft predict --help)"},
		{"experiment run --config e.yaml", "unknown flag --config; use --spec FILE (see kft experiment --help)"},
		{"fit t.csv --xyzzy", "unknown flag --xyzzy (see kft fit --help)"},
	} {
		r := call(t, strings.Fields(c.args)...)
		if got := strings.TrimSpace(r.stderr); got != "kft: "+c.want || r.code != exitUsage {
			t.Errorf("kft %s: got exit %d and\n%s\nwant exit 2 and\nkft: %s", c.args, r.code, got, c.want)
		}
	}
	for _, flag := range []string{"--split=", "--forecast="} {
		if help := must(t, "backtest", "--help").stdout; strings.Contains(help, flag) {
			t.Errorf("kft backtest --help lists %s", flag)
		}
	}
}
