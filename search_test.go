package kft

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/split"
	"github.com/kernel-fried-tensor/kft/internal/synthetic"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/tune"
)

func soldSpec(t *testing.T) Spec {
	t.Helper()
	var text strings.Builder
	if err := synthetic.New(synthetic.Options{Stores: 20, Items: 30, Months: 12, Pairs: 300, Seed: 1}).WriteCSV(&text); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "sales.csv")
	if err := os.WriteFile(file, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	s := Spec{Data: model.DataSpec{Files: []string{file}, Target: "units", Modes: []string{"store", "item", "time=year+month"}}, Transform: "log1p",
		Terms: []string{"store,item,time:3", "store"}, Fit: model.FitSpec{Sweeps: 9}}
	s.Fill()
	return s
}

func TestSearch(t *testing.T) {
	spec := soldSpec(t)
	_, plain, err := Fit(t.Context(), spec, Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	spec.Search = model.SearchSpec{"rank.1": {"1..6"}, "transform": {"identity", "log1p", "sqrt"}}
	for _, halving := range []string{"none", "both"} {
		search := Search{Spec: spec, Objective: "mae", Halving: halving, Threads: 2}
		store, err := tune.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "s.db"), 0)
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		if halving == "both" { // once it is open it needs no file
			if err := search.Read(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(spec.Data.Files[0]); err != nil {
				t.Fatal(err)
			}
		}
		open, err := search.Open(t.Context(), store)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := open.Best(t.Context()); err == nil {
			t.Error("there is a best of no trials")
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
			t.Errorf("halving %s: the first trial is %+v, the fit itself has %v", halving, first, plain.Valid.MAE)
		}
		best, trial, err := open.Best(t.Context())
		if err != nil || trial.State != tune.Done || *trial.Score > plain.Valid.MAE || best.Transform != trial.Values["transform"] || best.Fit.Sweeps != 9 || best.Search != nil {
			t.Errorf("halving %s: best %+v, %v", halving, trial, err)
		}
		if want := halving == "both"; (count[tune.Pruned] > 3) != want || (len(all[0].Rungs) == 2) != want {
			t.Errorf("halving %s: %v", halving, count)
		}
	}
}

// A smaller share of the training rows is within a greater; other rows stay.
func TestShare(t *testing.T) {
	split := &split.Split{Parts: make([]dataset.Part, 9000)}
	for i := range split.Parts {
		split.Parts[i] = dataset.Part(i % 3)
	}
	third, half := shareOf(split, 1./3, 1), shareOf(split, 0.5, 1)
	for i, p := range split.Parts {
		if p != dataset.Train && (third.Parts[i] != p || half.Parts[i] != p) || third.Parts[i] == dataset.Train && half.Parts[i] != dataset.Train {
			t.Fatalf("row %d, %v: %v of a third, %v of a half", i, p, third.Parts[i], half.Parts[i])
		}
	}
	if a, b := third.Count(dataset.Train), half.Count(dataset.Train); a < 900 || a > 1100 || b < 1400 || b > 1600 || split.Count(dataset.Train) != 3000 {
		t.Errorf("%d and %d of 3000", a, b)
	}
	if fmt.Sprint(shareOf(split, 0.5, 2).Parts) == fmt.Sprint(half.Parts) {
		t.Error("another seed takes the same rows")
	}
}

func TestShareOfFewRows(t *testing.T) {
	_, _, err := Fit(t.Context(), soldSpec(t), Options{Threads: 2, Share: 1e-9})
	if err == nil || !strings.Contains(err.Error(), "too small to use a part of it") {
		t.Error(err)
	}
}

func TestHalvingByDefault(t *testing.T) {
	for _, c := range []struct {
		halving string
		rows    int
		want    string
	}{{"auto", 999_999, "none"}, {"auto", 1_000_000, "both"}, {"rows", 10, "rows"}, {"none", 1e6, "none"}} {
		if got := resolveHalving(c.halving, c.rows); got != c.want {
			t.Errorf("%s of %d rows is %s", c.halving, c.rows, got)
		}
	}
	if rows, sweeps := shares("both", 0.25); rows != 0.5 || sweeps != 0.5 {
		t.Errorf("%v, %v", rows, sweeps)
	}
	spec := Spec{Fit: model.FitSpec{Sweeps: 30, Epochs: 3}}
	if got := shortened(spec, 1./9).Fit; got.Sweeps != 3 || got.Epochs != 2 {
		t.Errorf("%+v", got)
	}
}
