package main

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/internal/synthetic"
)

// A value outside the range of its flag, and an ending of another format, are wrong calls, whatever the files are.
func TestFlagChecks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"forecast m.kft --horizon 0":                     "--horizon: 0 is out of range; use 1 or more",
		"forecast m.kft --horizon -3":                    "--horizon: -3 is out of range; use 1 or more",
		"forecast m.kft --horizon 3 --draws -1":          "--draws: -1 is out of range; use 1 to 10000",
		"forecast m.kft --horizon 3 --active 0":          "--active: 0 is out of range; use 1 or more",
		"backtest t.csv --windows 0":                     "--windows: 0 is out of range; use 1 or more",
		"backtest t.csv --horizon 0":                     "--horizon: 0 is out of range; use 1 or more",
		"backtest t.csv --step -1":                       "--step: -1 is out of range; use 1 or more",
		"data synthetic -o d --shape retail --rows 0":    "--rows: 0 is out of range; use 1 or more",
		"data synthetic -o d --shape retail --scale nan": "--scale: NaN is out of range; use a value above 0 and at most 100",
		"data synthetic -o d --shape retail --scale 101": "--scale: 101 is out of range; use a value above 0 and at most 100",
		"data ledger -o d --seed 0":                      "--seed: 0 is out of range; use 1 or more",
		"demo --seed 0":                                  "--seed: 0 is out of range; use 1 or more",
		"split t.csv --split random:60/20/20 --seed 0":   "--seed: 0 is out of range; use 1 or more",
		"explain m.kft --neighbours -1":                  "--neighbours: -1 is out of range; use 0 or more",
		"fit t.csv --time-budget -1s":                    "--time-budget: -1s is out of range; use 0s or more",
		"fit t.csv --checkpoint-every -1s":               "--checkpoint-every: -1s is out of range; use 0s or more",
		"fit t.csv --forecast 0":                         "--forecast: 0 is out of range; use 1 or more",
		"fit t.csv --threads -1":                         "--threads: -1 is out of range; use 0 to 4096",
		"fit t.csv --memory 0GiB":                        `--memory: "0GiB" is not a size`,
		"plot forecast m.kft --horizon -1":               "--horizon: -1 is out of range; use 0 or more",
		"report m.kft --horizon -1":                      "--horizon: -1 is out of range; use 0 or more",
		"predict m.kft t.csv --samples 0":                "--samples: 0 is out of range; use 1 to 10000",
		"predict m.kft t.csv --samples 100000000":        "--samples: 100000000 is out of range; use 1 to 10000",
		"serve m.kft --timeout 0s":                       "--timeout: 0s is out of range; use a value above 0s",
		"serve m.kft --reload -1s":                       "--reload: -1s is out of range; use 0s or more",
		"serve m.kft --max-bulk 0":                       "--max-bulk: 0 is out of range; use 1 or more",
		"serve m.kft --monitor-level 1":                  "--monitor-level: 1 is out of range; use a value above 0 and below 1",
		"serve m.kft --monitor-window 0":                 "--monitor-window: 0 is out of range; use 1 or more",
		"plot forecast m.kft -o p.png":                   "--output: p.png has an unknown ending; use .svg",
		"plot study s.db -o p.PDF":                       "--output: p.PDF has an unknown ending; use .svg",
		"explain m.kft store=1 -o p.png":                 "--output: p.png has an unknown ending; use .svg",
		"report m.kft -o r.pdf":                          "--output: r.pdf has an unknown ending; use .html, .htm",
		"init t.csv -o t.xlsx":                           "--output: t.xlsx has an unknown ending; use .yaml, .yml",
		"init t.csv -o -":                                "--output: standard output is not possible here; use the name of a file",
		"tune t.csv -o best.json":                        "--output: best.json has an unknown ending; use .yaml, .yml",
		"split t.csv --split random:60/20/20 -o s.xlsx":  "--output: s.xlsx has an unknown ending; use .csv, .txt, .gz",
		"forecast m.kft --horizon 2 -o f.xlsx":           "files that end in .xlsx are not written; use .csv, .tsv, .txt, .parquet or .arrow",
		"predict m.kft t.csv -o p.xlsx":                  "files that end in .xlsx are not written; use .csv, .tsv, .txt, .parquet or .arrow",
		"tune t.csv --trials 0":                          "--trials: 0 is out of range; use 1 or more",
	} {
		got := call(t, strings.Fields(text)...)
		if got.code != exitUsage || !strings.Contains(got.stderr, want) {
			t.Errorf("kft %s: exit %d, %s, want exit %d, %s", text, got.code, got.stderr, exitUsage, want)
		}
	}
}

// Every flag with a number has a range or another check.
func TestNumericFlagsHaveRanges(t *testing.T) {
	t.Parallel()
	checked := []string{"memory", "rank"} // by byteSize, overrideRank
	parser, err := kong.New(&commandLine{})
	if err != nil {
		t.Fatal(err)
	}
	specFlag := func(name string) bool {
		return slices.ContainsFunc(fieldFlags, func(f struct{ path, flag string }) bool { return f.flag == "--"+name })
	}
	err = kong.Visit(parser.Model, func(node kong.Visitable, next kong.Next) error {
		if f, ok := node.(*kong.Flag); ok {
			kind := f.Target.Type()
			if kind.Kind() == reflect.Pointer {
				kind = kind.Elem()
			}
			number := kind.Kind() >= reflect.Int && kind.Kind() <= reflect.Float64
			ranged := f.Tag.Has("from") || f.Tag.Has("above")
			if f.Name == "samples" || f.Name == "draws" {
				if f.Tag.Get("to") != strconv.Itoa(kft.MaxSamples) {
					t.Errorf("--%s is at most %s, want %d", f.Name, f.Tag.Get("to"), kft.MaxSamples)
				}
			}
			if number && !ranged && !slices.Contains(checked, f.Name) && !specFlag(f.Name) {
				t.Errorf("--%s has no range", f.Name)
			}
		}
		return next(nil)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The help of every flag with a default value says which.
func TestHelpHasDefaults(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&commandLine{})
	if err != nil {
		t.Fatal(err)
	}
	err = kong.Visit(parser.Model, func(node kong.Visitable, next kong.Next) error {
		if f, ok := node.(*kong.Flag); ok && f.HasDefault && !strings.Contains(f.Help, "efault") {
			t.Errorf("--%s: the help does not name the default, %s", f.Name, f.Default)
		}
		return next(nil)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Options of a forecast that do not fit the model are wrong calls too.
func TestForecastOptionsAreUsage(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", synthetic.Options{Stores: 4, Items: 8, Months: 12, Pairs: 24, Seed: 1})
	must(t, fitSales("--sweeps", "2", "-o", "m.kft")...)
	for text, want := range map[string]string{
		"--level 101":         "101 is not a level of an interval in percent",
		"--level 0":           "0 is not a level of an interval in percent",
		"--quantiles 5":       "5 is not between 0 and 1",
		"--only shop=1":       `no mode or group "shop"`,
		"--horizon 100000000": "the horizon of 100000000 periods is longer than",
	} {
		args := append([]string{"forecast", "m.kft", "--horizon", "2"}, strings.Fields(text)...)
		got := call(t, args...)
		if got.code != exitUsage || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: exit %d, %s, want exit %d, %s", text, got.code, got.stderr, exitUsage, want)
		}
	}
}
