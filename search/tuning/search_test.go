package tuning

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
	"github.com/kernel-fried-tensor/kft/tune"
)

func TestSearch(t *testing.T) {
	t.Parallel()
	given := syntheticSpec(t)
	_, plain := mustFit(t, given, train.Options{Threads: 2})
	given.Search = spec.Search{"rank.1": {"1..6"}, "transform": {"identity", "log1p", "sqrt"}}
	for _, halving := range []string{"none", "both"} {
		search := Search{Spec: given, Objective: "mae", Halving: halving, Threads: 2}
		store, err := tune.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "s.db"), 0)
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		if halving == "both" { // after Read the search needs no file
			if err := search.Read(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(given.Data.Files[0]); err != nil {
				t.Fatal(err)
			}
		}
		open, err := search.Open(t.Context(), store)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := open.Best(t.Context()); err == nil {
			t.Error("Best without trials: got no error")
		}
		count := map[tune.State]int{}
		if err := open.Work(t.Context(), 12, tune.Worker{Name: "me", OnEnd: func(r tune.Report) { count[r.Trial.State]++ }}); err != nil {
			t.Fatal(err)
		}
		all, err := store.Trials(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if first := all[0]; first.State != tune.Done || *first.Score != plain.Valid.MAE || first.Values["rank.1"] != "3" || first.Values["transform"] != "log1p" {
			t.Errorf("halving %s: got first trial %+v, want the given specification with MAE %v", halving, first, plain.Valid.MAE)
		}
		best, trial, err := open.Best(t.Context())
		if err != nil || trial.State != tune.Done || *trial.Score > plain.Valid.MAE || best.Transform != trial.Values["transform"] || best.Fit.Sweeps != 9 || best.Search != nil {
			t.Errorf("halving %s: got best trial %+v, %v; want a finished trial that is at least as good as the given specification", halving, trial, err)
		}
		if want := halving == "both"; (count[tune.Pruned] > 3) != want || (len(all[0].Rungs) == 2) != want {
			t.Errorf("halving %s: got trials %v and %d rungs of the first trial, want pruned trials and 2 rungs only with halving", halving, count, len(all[0].Rungs))
		}
	}
}

// A study cannot be joined with another split or with other side tables.
func TestStudyOfOtherFiles(t *testing.T) {
	t.Parallel()
	given := syntheticSpec(t)
	parts, stores := filepath.Join(t.TempDir(), "parts.csv"), filepath.Join(t.TempDir(), "stores.csv")
	text, err := os.ReadFile(given.Data.Files[0])
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Count(string(text), "\n") - 1
	column := func(order ...string) string {
		var b strings.Builder
		b.WriteString("part\n")
		for i := range rows {
			b.WriteString(order[i%len(order)] + "\n")
		}
		return b.String()
	}
	given.Split, given.Side.Tables = "file:"+parts, []string{"store=" + stores}
	store, err := tune.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "s.db"), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	open := func(partsText, storesText string) error {
		t.Helper()
		writeFile(t, parts, partsText)
		writeFile(t, stores, storesText)
		_, err := Search{Spec: given}.Open(t.Context(), store)
		return err
	}
	const area = "store,area\nS1,1\nS2,2\n"
	someParts := column("train", "train", "valid", "test")
	if err := open(someParts, area); err != nil {
		t.Fatal(err)
	}
	if err := open(someParts, area); err != nil {
		t.Errorf("the same files: %v", err)
	}
	var other *tune.DefinitionError
	if err := open(column("train", "train", "test", "valid"), area); !errors.As(err, &other) || !strings.Contains(err.Error(), "parts is") {
		t.Errorf("another split: got error %v, want a *tune.DefinitionError about the parts", err)
	}
	if err := open(someParts, area+"S3,3\n"); !errors.As(err, &other) || !strings.Contains(err.Error(), "side tables is") {
		t.Errorf("another side table: got error %v, want a *tune.DefinitionError about the side tables", err)
	}
	if err := os.Remove(stores); err != nil {
		t.Fatal(err)
	}
	if err := (&Search{Spec: given}).Read(t.Context()); err == nil || !strings.Contains(err.Error(), "side table of store") {
		t.Errorf("missing side table: got error %v, want one with its mode", err)
	}
}
