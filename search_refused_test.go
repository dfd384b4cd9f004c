package kft

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/tune"
)

// Bounds are compared only where every trial has one, of the same scale.
func TestObjectiveIsOfEveryTrial(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Spec)
		want   string
	}{
		"a point":           {func(s *Spec) { s.Uncertainty.Inference = "map" }, "of a posterior"},
		"a point, at times": {func(s *Spec) { s.Search = model.SearchSpec{"inference": {"entity-covariance", "map"}} }, "of a posterior"},
		"adam":              {func(s *Spec) { s.Fit.Solver = "adam" }, "adam does not"},
		"any scale":         {func(s *Spec) { s.Transform = "auto" }, "cannot be compared"},
		"some scales":       {func(s *Spec) { s.Search = model.SearchSpec{"transform": {"log1p", "sqrt"}} }, "cannot be compared"},
		"some likelihoods":  {func(s *Spec) { s.Search = model.SearchSpec{"likelihood": {"gaussian", "poisson"}} }, "cannot be compared"},
		"one scale":         {func(s *Spec) { s.Transform, s.Search = "auto", model.SearchSpec{"transform": {"sqrt"}} }, ""},
		"as it is given":    {func(s *Spec) { s.Search = model.SearchSpec{"transform": {"fixed"}} }, ""},
		"a posterior":       {func(*Spec) {}, ""},
	} {
		spec := tunedSpec(func(s *Spec) { s.Uncertainty.Inference = "mean-field"; c.change(s) })
		err := CheckObjective(spec, "elbo")
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	spec := soldSpec(t)
	spec.Uncertainty.Inference, spec.Fit = "mean-field", model.FitSpec{Solver: "adam", Epochs: 2}
	_, report, err := Fit(t.Context(), spec, Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	if bound, err := report.Objective("elbo"); err == nil {
		t.Errorf("adam has the bound %v", bound)
	}
}

// A word that nothing is done about is refused.
func TestSwitchesHaveTwoValues(t *testing.T) {
	for name, want := range map[string]string{"term.2": `"no" is neither use nor none`, "side.a": `"no" is neither use nor none`, "ard": ""} {
		_, err := SearchSpace(tunedSpec(func(s *Spec) {
			s.Side.Tables, s.Side.LengthScales = []string{"a=a.csv"}, "learn"
			s.Search = model.SearchSpec{name: {"no"}}
		}))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A study does not go on with other parts of the table, nor with other side tables.
func TestOtherFilesAreAnotherStudy(t *testing.T) {
	spec := soldSpec(t)
	parts, stores := filepath.Join(t.TempDir(), "parts.csv"), filepath.Join(t.TempDir(), "stores.csv")
	text, err := os.ReadFile(spec.Data.Files[0])
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
	write := func(file, text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	spec.Split, spec.Side.Tables = "file:"+parts, []string{"store=" + stores}
	store, err := tune.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "s.db"), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	open := func(partsText, storesText string) error {
		t.Helper()
		write(parts, partsText)
		write(stores, storesText)
		_, err := Search{Spec: spec}.Open(t.Context(), store)
		return err
	}
	const area = "store,area\nS1,1\nS2,2\n"
	someParts := column("train", "train", "valid", "test")
	if err := open(someParts, area); err != nil {
		t.Fatal(err)
	}
	if err := open(someParts, area); err != nil {
		t.Error(err)
	}
	var other *tune.DefinitionError
	if err := open(column("train", "train", "test", "valid"), area); !errors.As(err, &other) || !strings.Contains(err.Error(), "parts is") {
		t.Errorf("other parts: %v", err)
	}
	if err := open(someParts, area+"S3,3\n"); !errors.As(err, &other) || !strings.Contains(err.Error(), "side tables is") {
		t.Errorf("another side table: %v", err)
	}
	if err := os.Remove(stores); err != nil {
		t.Fatal(err)
	}
	if err := (&Search{Spec: spec}).Read(t.Context()); err == nil || !strings.Contains(err.Error(), "the side table of store") {
		t.Errorf("no side table: %v", err)
	}
}
