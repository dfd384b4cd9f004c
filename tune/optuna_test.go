package tune

import (
	"bytes"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares the output of write with a file in testdata.
func golden(t *testing.T, name string, write func(io.Writer) error) {
	t.Helper()
	var got bytes.Buffer
	if err := write(&got); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s differs (go test -update rewrites it); got:\n%s", name, got.Bytes())
	}
}

// recorded returns a study with all kinds of parameters and trials in all states.
// The score depends on the rank and the kernel.
func recorded(trials int) Record {
	def := Definition{Space: mixed(), Goal: Maximize, Sampler: "tpe", Seed: 7, Rungs: []float64{0.125, 0.5}, Facts: []Fact{{"objective", "r2"}}}
	r := Record{Definition: facts(def.String())}
	began := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	for i := range trials {
		t := Trial{Number: i, State: Done, Attempt: 1, Worker: "host/42", Began: began, Ended: began.Add(1500 * time.Millisecond), Values: def.Space.values(halton(7, i, len(def.Space)))}
		began = t.Ended
		score := 0.8 - 0.1*math.Abs(math.Log2(t.Values.Float("rank")/8))
		if t.Values["kernel"] == "rbf" {
			score -= 0.2
		}
		score = math.Round(score*1e4) / 1e4
		for k := range i % 3 {
			t.Rungs = append(t.Rungs, Rung{Budget: def.Rungs[k], Score: score - 0.05, Seconds: 0.25})
		}
		switch i {
		case 7, 11:
			t.State, t.Score = Pruned, &t.Rungs[len(t.Rungs)-1].Score
		case 4:
			t.State, t.Problem = Failed, "no <scale> takes \"-1\"\nand more"
		case trials - 2:
			t.State, t.Ended = Running, time.Time{}
		case trials - 1:
			t = Trial{Number: i, State: Queued}
		default:
			t.Score = &score
		}
		r.Trials = append(r.Trials, t)
	}
	r.Best = def.Best(r.Trials)
	return r
}

// Optuna 5.0.0, 4.6.0 and 3.6.1 load this file with
//
//	optuna.load_study(study_name="kft", storage=JournalStorage(JournalFileBackend("study.journal")))
//
// and report the same states, scores and values, the same best trial, and
// importances by fANOVA and PED-ANOVA. 3.6.1 calls the class JournalFileStorage.
func TestOptunaJournal(t *testing.T) {
	golden(t, "study.journal", recorded(20).WriteJournal)
}

func TestJournalRejectsInvalidRecords(t *testing.T) {
	r := recorded(3)
	r.Trials[0].Values["kernel"] = "linear"
	if err := r.WriteJournal(io.Discard); err == nil || !strings.Contains(err.Error(), `trial 1: parameter kernel: "linear" is not one of the choices`) {
		t.Errorf("value outside the space: got error %v", err)
	}
	r.Definition = append(r.Definition, Fact{"parameter odd", "choice a"})
	if err := r.WriteJournal(io.Discard); err == nil || !strings.Contains(err.Error(), "parameter odd of the study") {
		t.Errorf("invalid parameter: got error %v", err)
	}
}

func TestRecordedSpace(t *testing.T) {
	want := append(mixed(), Param{Name: "text", Kind: Choice, Choices: []string{"", " ", `"q" \`, "Ä\n"}})
	r := Record{Definition: facts(Definition{Space: want}.String())}
	got, err := r.Space()
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	for _, text := range []string{"", "choice", `choice "a`, `choice "a" b`, "uniform", "uniform 1", "uniform 1 2 3", "uniform 2 1", "odd 1 2"} {
		r := Record{Definition: []Fact{{"parameter p", text}}}
		if got, err := r.Space(); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}
