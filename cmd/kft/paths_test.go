package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
)

// unwritable returns a folder that is not writable.
func unwritable(t *testing.T) string {
	t.Helper()
	if os.Geteuid() == 0 { // root ignores permissions
		return "/proc"
	}
	folder := filepath.Join(t.TempDir(), "locked")
	if err := os.Mkdir(folder, 0o555); err != nil {
		t.Fatal(err)
	}
	return folder
}

// An output that cannot be created is reported before errors of the table.
func TestOutputThatCannotBeCreated(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	must(t, fitSales("--rank", "1", "--sweeps", "1", "--quiet")...)
	write(t, "bad.csv", "store,item\nno,columns\n")
	folder := unwritable(t)
	for _, c := range []struct {
		output string
		code   int
		says   string
	}{
		{filepath.Join(folder, "out"), exitFailed, "the folder " + folder + " is not writable"},
		{filepath.Join("none", "out"), exitUsage, "the folder none does not exist; create it first"},
		{strings.Repeat("x", 300), exitUsage, "cannot be written: file name too long"},
		{"bad.csv", exitUsage, "bad.csv is an input of this command; write to another file"},
	} {
		for _, args := range [][]string{
			slices.Concat([]string{"fit", "bad.csv"}, salesFlags),
			{"predict", "model.kft", "bad.csv"},
			{"split", "bad.csv", "--target", "units", "--modes", "store", "--split", "random:60/20/20", "--force"},
			{"init", "bad.csv", "--force"},
		} {
			if args[0] == "init" && c.output == "bad.csv" {
				c.says = "bad.csv has an unknown ending; use .yaml, .yml"
			}
			r := call(t, append(args, "-o", c.output)...)
			if r.code != c.code || !strings.Contains(r.stderr, c.says) {
				t.Errorf("kft %s: exit %d, got %q, want %q", textformat.QuoteAll(args), r.code, r.stderr, c.says)
			}
		}
	}
	refused(t, exitFailed, []string{"--checkpoint: the folder " + folder + " is not writable"},
		slices.Concat([]string{"fit", "bad.csv", "--checkpoint", filepath.Join(folder, "a", "b")}, salesFlags)...)
	refused(t, exitUsage, []string{"--checkpoint: bad.csv is not a folder"},
		slices.Concat([]string{"fit", "bad.csv", "--checkpoint", "bad.csv"}, salesFlags)...)
}

// Even --force does not overwrite inputs of the fit.
func TestForceKeepsInputs(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	must(t, "split", "sales.csv", "-o", "parts.csv")
	must(t, append([]string{"init", "sales.csv"}, "--target", "units")...)
	for _, output := range []string{"sales.csv", "parts.csv", "kft.yaml"} {
		before := read(t, output)
		refused(t, exitUsage, []string{output + " is an input of this command"}, "fit", "--split", "file:parts.csv", "--force", "-o", output)
		if read(t, output) != before {
			t.Errorf("%s has changed", output)
		}
	}
}

// A budget that ends before the first sweep writes no model.
func TestBudgetTooShort(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	refused(t, exitFailed, []string{"the time budget of 1ns ended before the first sweep", "nothing was written", "increase --time-budget"},
		fitSales("--rank", "2", "--time-budget", "1ns")...)
}

// Errors name the output once, and only if the output is their cause.
func TestOutputErrorsNameItOnce(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	must(t, fitSales("--rank", "1", "--sweeps", "1")...)
	if _, err := os.Stat("/dev/full"); err == nil {
		r := call(t, "predict", "model.kft", "sales.csv", "-o", "/dev/full")
		if want := "kft: write /dev/full: no space left on device\n"; r.code != exitFailed || r.stderr != want {
			t.Errorf("exit %d, got %q, want %q", r.code, r.stderr, want)
		}
	}
	t.Setenv("KFT_CPU", "foo")
	if r := call(t, "predict", "model.kft", "sales.csv", "-o", "out.csv"); r.code != exitFailed || strings.Contains(r.stderr, "out.csv") || !strings.Contains(r.stderr, "KFT_CPU") {
		t.Errorf("exit %d, %q", r.code, r.stderr)
	}
}

// The name of the output determines its format.
func TestPredictOutputNames(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	must(t, fitSales("--rank", "1", "--sweeps", "1")...)
	must(t, "predict", "model.kft", "sales.csv", "-o", "p.tsv", "-q")
	text, err := os.ReadFile("p.tsv")
	if err != nil {
		t.Fatal(err)
	}
	if line, _, _ := strings.Cut(string(text), "\n"); !strings.Contains(line, "\tprediction\t") || strings.Contains(line, ",") {
		t.Errorf("the first line is %q", line)
	}
	for name, magic := range map[string]string{"p.csv.gz": "\x1f\x8b", "p.csv.zst": "\x28\xb5\x2f\xfd"} {
		must(t, "predict", "model.kft", "sales.csv", "-o", name, "-q")
		if text, err := os.ReadFile(name); err != nil || !strings.HasPrefix(string(text), magic) {
			t.Errorf("%s begins with %q, %v", name, text[:4], err)
		}
	}
	refused(t, exitUsage, []string{"p.parquet.gz", "not compressed as a whole", "write p.parquet"}, "predict", "model.kft", "sales.csv", "-o", "p.parquet.gz")
}
