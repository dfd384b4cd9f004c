package kft_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// What is left open is chosen by the CRPS of the valid part, and the model is that
// of the choice.
func TestChoosesScaleAndLikelihood(t *testing.T) {
	spec := salesSpec(writeSales(t, 1500))
	spec.Transform = "auto"
	spec.Uncertainty.Inference = "mean-field"
	spec.Uncertainty.Likelihood = "auto"
	m, r := fitSales(t, spec, kft.Options{})
	if len(r.Choices) != 6 {
		t.Fatalf("%d choices: %+v", len(r.Choices), r.Choices)
	}
	least, taken := r.Choices[0], 0
	for _, c := range r.Choices {
		if c.CRPS != nil && *c.CRPS < *least.CRPS {
			least = c
		}
		if c.Taken {
			taken++
		}
	}
	if !least.Taken || taken != 1 {
		t.Errorf("%+v is best of %+v", least, r.Choices)
	}
	if got := m.Spec(); got.Transform != least.Transform || got.Uncertainty.Likelihood != least.Likelihood {
		t.Errorf("the model is of %s %s, the best is %+v", got.Transform, got.Uncertainty.Likelihood, least)
	}
}

// Targets that a law cannot take are passed over, and refused with their row
// where the law was asked for.
func TestNegativeCounts(t *testing.T) {
	table := writeSales(t, 400)
	text, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	fields := strings.Split(lines[7], ",")
	fields[4] = "-3"
	lines[7] = strings.Join(fields, ",")
	changed := filepath.Join(t.TempDir(), "negative.csv")
	if err := os.WriteFile(changed, []byte(strings.Join(lines, "\n")), 0o666); err != nil {
		t.Fatal(err)
	}
	spec := salesSpec(changed)
	spec.Transform = "identity"
	spec.Uncertainty.Inference, spec.Uncertainty.Likelihood = "mean-field", "negative-binomial"
	_, _, err = kft.Fit(t.Context(), spec, kft.Options{})
	if err == nil || !strings.Contains(err.Error(), "data row 7") || !strings.Contains(err.Error(), "-3") {
		t.Errorf("a negative count: %v", err)
	}
	spec.Transform, spec.Uncertainty.Likelihood = "auto", "auto"
	_, r := fitSales(t, spec, kft.Options{})
	for _, c := range r.Choices {
		if possible := c.Transform == "identity" && c.Likelihood == "gaussian"; (c.CRPS != nil) != possible {
			t.Errorf("%+v", c)
		}
	}
}
