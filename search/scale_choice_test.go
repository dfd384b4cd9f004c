package search

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/testtable"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// An automatic scale and likelihood are those with the smallest CRPS on the validation
// set.
func TestChooseScaleAndLikelihood(t *testing.T) {
	t.Parallel()
	s := salesSpec(testtable.WriteSales(t, 1500))
	s.Transform = "auto"
	s.Uncertainty.Inference = "mean-field"
	s.Uncertainty.Likelihood = "auto"
	m, r := mustFit(t, s, train.Options{})
	if len(r.Choices) != 10 {
		t.Fatalf("got %d choices, want 10: %+v", len(r.Choices), r.Choices)
	}
	best, taken := r.Choices[0], 0
	for _, c := range r.Choices {
		if c.CRPS != nil && *c.CRPS < *best.CRPS {
			best = c
		}
		if c.Taken {
			taken++
		}
	}
	if !best.Taken || taken != 1 {
		t.Errorf("got %+v, want only %+v to be taken", r.Choices, best)
	}
	if got := m.Spec(); got.Transform != best.Transform || got.Uncertainty.Likelihood != best.Likelihood {
		t.Errorf("got a model with scale %s and likelihood %s, want %+v", got.Transform, got.Uncertainty.Likelihood, best)
	}
	if got := len(m.Record().Choices); got != 10 {
		t.Errorf("got %d choices in the record of the model, want 10", got)
	}
}

// A likelihood that is given is not compared with others when the terms are chosen; one that
// was chosen is.
func TestGivenLikelihoodStays(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("a,b,y\n")
	for i := range 300 {
		fmt.Fprintf(&text, "%d,%d,%d\n", i/20, i%20, (i*7919)%5*((i/20+i%20)%2))
	}
	file := filepath.Join(t.TempDir(), "counts.csv")
	writeFile(t, file, text.String())
	for _, likelihood := range []string{"poisson", "auto"} {
		s := spec.Spec{Data: spec.Data{Files: []string{file}, Target: "y", Modes: []string{"a", "b"}}, Uncertainty: spec.Uncertainty{Likelihood: likelihood}}
		m, r := mustFit(t, s, train.Options{Threads: 2})
		confirmed := slices.ContainsFunc(r.Decisions, func(d model.Decision) bool { return d.Subject == "scale, with all terms" })
		if got := m.Spec().Uncertainty.Likelihood; likelihood == "poisson" && (got != "poisson" || confirmed) || likelihood == "auto" && !confirmed {
			t.Errorf("likelihood %s: got %s, compared again: %v; decisions %+v", likelihood, got, confirmed, r.Decisions)
		}
	}
}

// A target outside of the domain of a likelihood is an error if the likelihood was
// requested. An automatic choice skips the likelihood.
func TestNegativeCounts(t *testing.T) {
	t.Parallel()
	table := testtable.WriteSales(t, 400)
	text, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	fields := strings.Split(lines[7], ",")
	fields[4] = "-3"
	lines[7] = strings.Join(fields, ",")
	changed := filepath.Join(t.TempDir(), "negative.csv")
	writeFile(t, changed, strings.Join(lines, "\n"))
	s := salesSpec(changed)
	s.Transform = "identity"
	s.Uncertainty.Inference, s.Uncertainty.Likelihood = "mean-field", "negative-binomial"
	_, _, err = Fit(t.Context(), s, tableio.Source{}, train.Options{})
	if err == nil || !strings.Contains(err.Error(), "data row 7") || !strings.Contains(err.Error(), "-3") {
		t.Errorf("got error %v, want one with data row 7 and -3", err)
	}
	s.Transform, s.Uncertainty.Likelihood = "auto", "auto"
	_, r := mustFit(t, s, train.Options{})
	for _, c := range r.Choices {
		if possible := c.Transform == "identity" && (c.Likelihood == "gaussian" || c.Likelihood == "student"); (c.CRPS != nil) != possible {
			t.Errorf("got %+v, want a CRPS: %v", c, possible)
		}
	}
}

func TestChooseNeedsValidationSet(t *testing.T) {
	t.Parallel()
	s := salesSpec(testtable.WriteSales(t, 400))
	s.Split, s.Transform = "random:80/0/20", "auto"
	_, _, err := Fit(t.Context(), s, tableio.Source{}, train.Options{})
	if got, want := fielderr.Path(err), "split"; got != want {
		t.Errorf("got error %v of field %q, want one of field %q", err, got, want)
	}
}
