package kft_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/likelihood"
)

// smallCounts draws a table of counts near 0, with a constant added to them.
func smallCounts(add float64) string {
	rng := randstream.New(2, "small counts")
	var b strings.Builder
	b.WriteString("shop,good,y\n")
	for s := range 30 {
		for g := range 40 {
			fmt.Fprintf(&b, "s%d,g%d,%g\n", s, g, likelihood.NegativeBinomial{Size: 2}.Draw(rng, 0.1*float64(s%7)-0.2*float64(g%5)+0.5)+add)
		}
	}
	return b.String()
}

// TestNonNegativePredictions checks that nothing that is predicted for a target that
// is never negative is negative, on all scales, with and without a correction. Draws on
// the identity scale are the exception: clamping them would bias totals.
func TestNonNegativePredictions(t *testing.T) {
	t.Parallel()
	columns := []string{"prediction", "median", "q0.01", "q0.05", "q0.5", "sample_1", "sample_2", "sample_3"}
	lowest := func(m *kft.Model, table string) float64 {
		columns := columns
		if m.Spec().Transform == "identity" {
			columns = columns[:5]
		}
		p := numberColumns(t, predictFile(t, m, table, kft.TableOptions{Quantiles: []float64{0.01, 0.05, 0.5}, Samples: 3}))
		least := p["prediction"][0]
		for _, name := range columns {
			for _, v := range p[name] {
				least = min(least, v)
			}
		}
		return least
	}
	for _, transform := range []string{"identity", "log1p", "sqrt", "cbrt1p"} {
		for _, u := range []kft.UncertaintySpec{{Inference: "map", Conformal: "none"}, {Inference: "mean-field", Conformal: "none"}, {Inference: "mean-field", Conformal: "split"}} {
			table := writeFile(t, "counts.csv", smallCounts(0))
			spec := kft.Spec{
				Data:      kft.DataSpec{Files: []string{table}, Target: "y", Modes: []string{"shop", "good"}},
				Terms:     []string{"shop", "good"},
				Transform: transform, Uncertainty: u,
			}
			m, _ := fit(t, spec, kft.Options{})
			file := modelBytes(t, m)
			if v := lowest(loadBytes(t, file), table); v < 0 {
				t.Errorf("%s, %s, correction %s: the lowest predicted value is %g, want 0 or more", transform, u.Inference, u.Conformal, v)
			}
			if transform == "sqrt" || u.Conformal != "none" {
				continue
			}
			if !bytes.Contains(file, []byte(`nonnegative\":true`)) {
				t.Errorf("%s: the model file does not record that the target is never negative", transform)
			}
			spec.Data.Files[0] = writeFile(t, "shifted.csv", smallCounts(-0.5))
			if m, _ = fit(t, spec, kft.Options{}); !(lowest(m, table) < 0) {
				t.Errorf("%s, %s: predictions of a target with negative values are cut off at 0", transform, u.Inference)
			}
		}
	}
}

// TestNonNegativeKey checks the specification key that overrides the automatic choice.
func TestNonNegativeKey(t *testing.T) {
	t.Parallel()
	table := writeFile(t, "counts.csv", smallCounts(0))
	spec := kft.Spec{Data: kft.DataSpec{Files: []string{table}, Target: "y", Modes: []string{"shop", "good"}, NonNegative: "no"}, Terms: []string{"shop", "good"}}
	m, _ := fit(t, spec, kft.Options{})
	if p := numberColumns(t, predictFile(t, m, table, kft.TableOptions{Quantiles: []float64{0.01}})); !(p["q0.01"][0] < 0) {
		t.Errorf("with nonnegative no, the quantile at 0.01 is %g, want a negative number", p["q0.01"][0])
	}
	spec.Data.NonNegative, spec.Data.Files = "yes", []string{writeFile(t, "shifted.csv", smallCounts(-7))}
	_, _, err := kft.Fit(t.Context(), spec, kft.Source{}, kft.Options{})
	checkErrorText(t, err, "shifted.csv: data row 1, column y: the target -")
	spec.Data.NonNegative = "maybe"
	_, _, err = kft.Fit(t.Context(), spec, kft.Source{}, kft.Options{})
	checkErrorText(t, err, "data.nonnegative")
}
