package tuning

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
	"github.com/kernel-fried-tensor/kft/tune"
)

// gridSpec is a specification of a table of 30 x 30 cells with the given values.
func gridSpec(t *testing.T, value func(i, j int) float64) spec.Spec {
	t.Helper()
	var b strings.Builder
	b.WriteString("a,b,y\n")
	for i := range 30 {
		for j := range 30 {
			fmt.Fprintf(&b, "a%d,b%d,%g\n", i, j, value(i, j))
		}
	}
	file := filepath.Join(t.TempDir(), "grid.csv")
	writeFile(t, file, b.String())
	return spec.Spec{Data: spec.Data{Files: []string{file}, Target: "y", Modes: []string{"a", "b"}}, Terms: []string{"a", "b"},
		Fit: spec.Fit{Sweeps: 3}}
}

func count(i, j int) float64 { return float64((i*7+j*3)%5 + i/6) }

// A search leaves out the scales and likelihoods that a target of the table forbids.
func TestSpaceFollowsTheTable(t *testing.T) {
	t.Parallel()
	const scales, likelihoods = `transform choice "identity" "log1p" "sqrt" "cbrt1p"`, `likelihood choice "gaussian" "poisson" "negative-binomial" "student"`
	for _, c := range []struct {
		name   string
		odd    float64 // value of one cell
		search spec.Search
		want   string
		notice string
	}{
		{"counts", 2, nil, scales + "|" + likelihoods, ""},
		{"half", 0.5, nil, scales + `|likelihood choice "gaussian" "student"`, "poisson, negative-binomial: the target has the value 0.5"},
		{"negative", -3, nil, `transform choice "identity"|likelihood choice "gaussian" "student"`, "log1p, sqrt, cbrt1p: the target has the value -3"},
		{"above -1", -0.5, nil, `transform choice "identity" "log1p" "cbrt1p"|likelihood choice "gaussian" "student"`, "transform sqrt: the target has the value -0.5"},
		{"request", -3, spec.Search{"transform": {"sqrt", "identity"}, "likelihood": {"fixed"}}, `transform choice "identity"`, "transform sqrt"},
	} {
		s := gridSpec(t, func(i, j int) float64 {
			if i == 4 && j == 9 {
				return c.odd
			}
			return count(i, j)
		})
		s.Transform, s.Uncertainty.Inference, s.Uncertainty.Likelihood, s.Search = "auto", "mean-field", "auto", c.search
		if c.search != nil {
			s.Uncertainty.Likelihood = "gaussian"
		}
		search := Search{Spec: s}
		if err := search.Read(t.Context()); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		def, err := search.definition()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range def.Space {
			if p.Name == "transform" || p.Name == "likelihood" {
				got = append(got, p.Name+" "+p.String())
			}
		}
		if text := strings.Join(got, "|"); text != c.want {
			t.Errorf("%s: got %s, want %s", c.name, text, c.want)
		}
		notices := strings.Join(search.Notices(), "\n")
		if (c.notice == "") != (notices == "") || !strings.Contains(notices, c.notice) {
			t.Errorf("%s: got notices %q, want one with %q", c.name, notices, c.notice)
		}
		if c.notice != "" && !strings.Contains(def.String(), "the target has the value") {
			t.Errorf("%s: the study does not record what was left out:\n%s", c.name, def)
		}
		if err := def.Validate(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	s := gridSpec(t, func(i, j int) float64 { return count(i, j) - 2 })
	s.Search = spec.Search{"transform": {"sqrt", "log1p"}}
	if err := (&Search{Spec: s}).Read(t.Context()); fielderr.Path(err) != "search.transform" || !strings.Contains(err.Error(), "-2") && !strings.Contains(err.Error(), "-1") {
		t.Errorf("no scale left: got error %v of field %q", err, fielderr.Path(err))
	}
}

// Trials with and without a conformal correction are measured on the same rows, so a
// correction, which does not change the mean, does not change R2.
func TestTrialsShareTheValidationRows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		request spec.Search
		holdOut bool
	}{
		{spec.Search{"conformal": {"none", "split"}}, true},
		{spec.Search{"conformal": {"split", "group:mean"}}, false},
		{spec.Search{"inference": {"map", "mean-field"}}, false}, // too few rows for an automatic correction
		{nil, false},
	} {
		s := gridSpec(t, count)
		s.Uncertainty.Inference, s.Search = "mean-field", c.request
		s.Split = "random:40/40/20"
		search := Search{Spec: s, Threads: 1}
		if err := search.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
		if search.holdOut != c.holdOut {
			t.Errorf("%v: got hold-out %v", c.request, search.holdOut)
		}
		if !c.holdOut {
			continue
		}
		open := &OpenSearch{search: search}
		search.Objective = "r2"
		var scores []float64
		for _, kind := range []string{"none", "split"} {
			v, err := givenValues(search.Spec)
			if err != nil {
				t.Fatal(err)
			}
			v["conformal"] = kind
			score, err := open.score(t.Context(), tune.Trial{Values: v, Budget: 1})
			if err != nil {
				t.Fatal(err)
			}
			scores = append(scores, score)
		}
		// The rows are the same; the correction of means moves R2 a little.
		if math.Abs(scores[0]-scores[1]) > 2e-3 {
			t.Errorf("R2 without and with a correction: got %v, want about the same", scores)
		}
		whole := s
		whole.Search, whole.Uncertainty.Conformal = nil, "none"
		if _, r := mustFit(t, whole, train.Options{Threads: 1}); slices.Contains(scores, r.Valid.R2) {
			t.Error("a fit outside of a search does not use the whole validation set")
		}
	}
}
