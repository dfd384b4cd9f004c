package kft_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

// biasSpec describes a model of the table of skewedTable, on a scale on which its noise
// is not normal, so that back-transformed means are biased by size.
func biasSpec(table string) kft.Spec {
	return kft.Spec{
		Version:     1,
		Data:        kft.DataSpec{Files: []string{table}, Target: "y", Modes: []string{"s", "i"}},
		Transform:   "cbrt1p",
		Terms:       []string{"s", "i"},
		Split:       "random:40/50/10",
		Uncertainty: kft.UncertaintySpec{Inference: "mean-field"},
		Fit:         kft.FitSpec{Sweeps: 8},
	}
}

// skewedTable writes a square table of gamma values whose mean, also a column, is a
// product of effects. With negative set, the values are reduced by 20.
func skewedTable(t *testing.T, size int, seed uint64, negative bool) string {
	t.Helper()
	rng := randstream.New(seed, "bias by size")
	effect := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = 0.45 * rng.NormFloat64()
		}
		return v
	}
	s, i := effect(size), effect(size)
	var b strings.Builder
	b.WriteString("s,i,y,truth\n")
	for row := range s {
		for column := range i {
			mean := math.Exp(2 + s[row] + i[column])
			y := mean * (rng.ExpFloat64() + rng.ExpFloat64()) / 2
			if negative {
				y -= 20
			}
			fmt.Fprintf(&b, "s%d,i%d,%.5g,%.5g\n", row, column, y, mean)
		}
	}
	return writeFile(t, "skewed.csv", b.String())
}

// TestMeansAreUnbiasedBySize compares predicted means with true ones, by decile of the
// prediction.
func TestMeansAreUnbiasedBySize(t *testing.T) {
	t.Parallel()
	const seeds = 3
	var ratio [10]float64
	all := 0.0
	for seed := range uint64(seeds) {
		table := skewedTable(t, 220, seed, false)
		m, r := fit(t, biasSpec(table), kft.Options{})
		if m.Uncertainty().Means == nil || m.Uncertainty().Means.Kind != "factor" {
			t.Fatalf("got correction %+v, want factors", m.Uncertainty().Means)
		}
		columns := numberColumns(t, predictFile(t, m, table, kft.TableOptions{}))
		order := make([]int, len(columns["truth"]))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(columns["prediction"][a], columns["prediction"][b]) })
		var predicted, actual [10]float64
		var p, a float64
		for rank, i := range order {
			predicted[rank*10/len(order)] += columns["prediction"][i]
			actual[rank*10/len(order)] += columns["truth"][i]
			p, a = p+columns["prediction"][i], a+columns["truth"][i]
		}
		all += p / a / seeds
		for k := range ratio {
			ratio[k] += predicted[k] / actual[k] / seeds
		}
		n := 0
		for _, d := range r.Test.BiasByDecile {
			n += d.N
		}
		if n != r.Test.N || len(r.Test.BiasByDecile) != 10 {
			t.Errorf("got deciles %+v, want ten with %d rows", r.Test.BiasByDecile, r.Test.N)
		}
	}
	for k, r := range ratio {
		if math.Abs(r-1) > 0.03 {
			t.Errorf("decile %d: got predicted / actual %.3f, want 1 +- 0.03", k+1, r)
		}
	}
	if math.Abs(all-1) > 0.01 {
		t.Errorf("total: got predicted / actual %.3f, want 1 +- 0.01", all)
	}
}

// The correction changes the means of cells and tables alike and leaves the rest of the
// distributions as it is; it survives saving, and new rows replace it.
func TestMeanCorrectionOfModel(t *testing.T) {
	t.Parallel()
	table := skewedTable(t, 120, 1, false)
	spec := biasSpec(table)
	m, r := fit(t, spec, kft.Options{})
	cells := []kft.Cell{{"s": "s3", "i": "i7"}, {"s": "s9", "i": "i1"}, {"s": "new", "i": "new"}}
	got, loaded := predictCells(t, m, cells...), predictCells(t, reload(t, m), cells...)
	written := numberColumns(t, predictFile(t, m, writeFile(t, "cells.csv", "s,i\ns3,i7\ns9,i1\nnew,new\n"), kft.TableOptions{}))
	for c, p := range got {
		d := p.Distribution()
		if p.Mean != d.Mean() || p.Mean == d.UncorrectedMean() || p.Mean != loaded[c].Mean || float32(p.Mean) != float32(written["prediction"][c]) {
			t.Errorf("cell %v: got means %g, %g (distribution), %g (loaded), %g (table), uncorrected %g", cells[c], p.Mean, d.Mean(), loaded[c].Mean, written["prediction"][c], d.UncorrectedMean())
		}
		if plain := d.WithMeanCurve(nil); plain.Median() != p.Median || plain.SD() != p.SD {
			t.Errorf("cell %v: the correction changes more than the mean", cells[c])
		}
	}
	score, _, err := m.EvaluatePart(t.Context(), kft.Files(table), kft.Test, kft.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := jsonOf(t, score.BiasByDecile), jsonOf(t, r.Test.BiasByDecile); a != b || score.Bias != r.Test.Bias || score.R2 != r.Test.R2 {
		t.Errorf("got bias %g, %s from the evaluation, want %g, %s", score.Bias, a, r.Test.Bias, b)
	}
	again, _, err := m.Recalibrate(t.Context(), kft.Files(skewedTable(t, 120, 1, false)), "split", kft.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if p := predictCells(t, again, cells...); p[0].Mean == got[0].Mean || p[0].Distribution().UncorrectedMean() != got[0].Distribution().UncorrectedMean() {
		t.Errorf("recalibrated: got mean %g of %g, want another than %g", p[0].Mean, p[0].Distribution().UncorrectedMean(), got[0].Mean)
	}
	record := again.Record()
	if test := record.Test; !math.IsNaN(test.R2) || !math.IsNaN(test.Bias) || test.BiasByDecile != nil || test.MAE != r.Test.MAE {
		t.Errorf("recalibrated: got scores %+v, want none that depend on the means of the fit", test)
	}
	spec.Uncertainty.Conformal = "none"
	plain, r := fit(t, spec, kft.Options{})
	if plain.Uncertainty().Means != nil || len(r.Test.BiasByDecile) != 10 {
		t.Errorf("without rows held out: got correction %+v and deciles %+v, want none and ten", plain.Uncertainty().Means, r.Test.BiasByDecile)
	}
}

// A target with negative values has shifts and no ratios.
func TestMeanCorrectionOfSignedTarget(t *testing.T) {
	t.Parallel()
	spec := biasSpec(skewedTable(t, 120, 2, true))
	spec.Transform = "identity"
	m, r := fit(t, spec, kft.Options{})
	if c := m.Uncertainty().Means; c == nil || c.Kind != "shift" {
		t.Errorf("got correction %+v, want shifts", c)
	}
	if !math.IsNaN(r.Test.Bias) || math.Abs(r.Test.MeanError) > 0.5 {
		t.Errorf("got bias %g and mean error %g, want none and 0 +- 0.5", r.Test.Bias, r.Test.MeanError)
	}
	if a, b := predictCells(t, m, kft.Cell{"s": "s3", "i": "i7"})[0].Mean, predictCells(t, reload(t, m), kft.Cell{"s": "s3", "i": "i7"})[0].Mean; a != b {
		t.Errorf("got mean %g from the loaded model, want %g", b, a)
	}
}
