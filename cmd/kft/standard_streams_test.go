package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/kernel-fried-tensor/kft"
)

// With --json standard output has one object with the documented keys.
func TestJSON(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	r := must(t, fitSales("--rank", "2", "--sweeps", "2", "--json")...)
	var report map[string]json.RawMessage
	decoder := json.NewDecoder(strings.NewReader(r.stdout))
	if err := decoder.Decode(&report); err != nil || decoder.More() {
		t.Fatalf("not one object (%v): %s", err, r.stdout)
	}
	for _, key := range []string{"train", "valid", "test", "baseline", "seconds", "passes", "peak_rss_bytes", "spec"} {
		if _, ok := report[key]; !ok {
			t.Errorf("no key %s", key)
		}
	}
	for _, args := range [][]string{{"inspect", "model.kft", "--json"}, {"inspect", "sales.csv", "--json"}, {"evaluate", "model.kft", "sales.csv", "--json"}} {
		if r := must(t, args...); !json.Valid([]byte(r.stdout)) {
			t.Errorf("%v: %s", args, r.stdout)
		}
	}
}

// A table can come from standard input, and predictions can go to standard output.
func TestStandardInput(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	table := read(t, "sales.csv")
	must(t, fitSales("--rank", "2", "--sweeps", "2", "-o", "file.kft")...)
	args := append([]string{"fit", "-", "--rank", "2", "--sweeps", "2", "-o", "stdin.kft"}, salesFlags...)
	if r := callWith(t.Context(), strings.NewReader(table), args...); r.code != exitGood || !strings.Contains(r.stdout, "kft predict stdin.kft TABLE") {
		t.Fatalf("exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	a, err := kft.Load("file.kft")
	if err != nil {
		t.Fatal(err)
	}
	b, err := kft.Load("stdin.kft")
	if err != nil {
		t.Fatal(err)
	}
	if scoreText(t, a.Record().Test) != scoreText(t, b.Record().Test) || a.Record().DataHash != b.Record().DataHash {
		t.Error("the model of standard input differs from that of the file")
	}
	fromFile := must(t, "predict", "file.kft", "sales.csv").stdout
	fromInput := callWith(t.Context(), strings.NewReader(table), "predict", "file.kft", "-").stdout
	if fromFile != fromInput || strings.Count(fromFile, "\n") != strings.Count(table, "\n") {
		t.Error("predictions of standard input differ from those of the file")
	}
	if r := callWith(t.Context(), strings.NewReader(table), "inspect", "-"); r.code != exitGood || !strings.Contains(r.stdout, "standard input") ||
		!strings.Contains(r.stdout, "Next: kft init TABLE (after saving the table to a file)\n") {
		t.Errorf("exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}

// The next command has flags for what could not be guessed.
func TestInspectWithoutTarget(t *testing.T) {
	inEmptyFolder(t)
	write(t, "ids.csv", "a;b\nx;y\nx;z\nv;y\nv;z\n")
	if r := must(t, "inspect", "ids.csv", "--delimiter", "semicolon"); !strings.Contains(r.stdout, "Next: kft init ids.csv --target COLUMN --delimiter semicolon\n") {
		t.Errorf("%s", r.stdout)
	}
}

// Predictions keep rows and columns, mark unseen ids, and are compressed if the file name
// says so.
func TestPredictFile(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	must(t, fitSales("--rank", "2", "--sweeps", "2")...)
	write(t, "new.tsv", "note\titem\tstore\tyear\tmonth\n\"a, b\"\tA0001\tS001\t2023\t1\nc\tA0001\tS777\t2023\t99\n")
	r := must(t, "predict", "model.kft", "new.tsv", "-o", "out.csv.gz")
	if !strings.Contains(r.stderr, "1 row with an unseen store") || !strings.Contains(r.stderr, "1 row with an unseen time") {
		t.Errorf("got %q", r.stderr)
	}
	z, err := gzip.NewReader(strings.NewReader(read(t, "out.csv.gz")))
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if _, err := text.ReadFrom(z); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(text.String(), "\n")
	if lines[0] != "note\titem\tstore\tyear\tmonth\tprediction\tmedian\tsd\tsd_model\tsd_noise\tunseen" ||
		!strings.HasPrefix(lines[1], "\"a, b\"\tA0001\tS001\t2023\t1\t") || !strings.HasSuffix(lines[2], "\tstore+time") {
		t.Errorf("wrote\n%s", text.String())
	}
	r = call(t, "predict", "model.kft", "new.tsv", "--strict", "-o", "strict.csv")
	if _, err := os.Stat("strict.csv"); err == nil || r.code != exitFailed {
		t.Errorf("strict: exit %d, file exists: %v", r.code, err == nil)
	}
}

// scoreText returns a score as JSON, in which undefined measures are equal.
func scoreText(t *testing.T, s kft.Score) string {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
