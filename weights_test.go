package kft_test

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

// weightedTables draws two tables of the same truth, one to fit and one to predict:
// rank 2 and noise variance 0.25/w, with weights 0.1, 1 and 10 times unit.
func weightedTables(seed uint64, unit float64) (train, fresh string) {
	rng := randstream.New(seed, "weighted rows")
	const shops, goods, times = 25, 30, 8
	draw := func(n int, mean, sd float64) [][2]float64 {
		rows := make([][2]float64, n)
		for i := range rows {
			rows[i] = [2]float64{mean + sd*rng.NormFloat64(), mean + sd*rng.NormFloat64()}
		}
		return rows
	}
	a, b, c := draw(shops, 0, 1), draw(goods, 0, 1), draw(times, 1, 0.4)
	var tables [2]strings.Builder
	for k := range tables {
		tables[k].WriteString("shop,good,time,w,y\n")
	}
	for k, cell := range rng.Perm(shops * goods * times) {
		s, g, t := cell%shops, cell/shops%goods, cell/shops/goods
		f := a[s][0]*b[g][0]*c[t][0] + a[s][1]*b[g][1]*c[t][1]
		w := []float64{0.1, 1, 10}[rng.IntN(3)]
		fmt.Fprintf(&tables[min(k/4000, 1)], "s%d,g%d,t%d,%g,%.5f\n", s, g, t, w*unit, f+0.5/math.Sqrt(w)*rng.NormFloat64())
	}
	return tables[0].String(), tables[1].String()
}

// weightedSpec returns a specification with one rank more than the truth, which takes
// up the difference between the centre of the scale and 0.
func weightedSpec(table string, u kft.UncertaintySpec) kft.Spec {
	return kft.Spec{
		Data:        kft.DataSpec{Files: []string{table}, Target: "y", Weight: "w", Modes: []string{"shop", "good", "time"}},
		Terms:       []string{"shop,good,time:3"},
		Uncertainty: u,
	}
}

// TestCoverageOfWeightedRows checks that intervals of rows of each weight hold the
// values of new rows as often as they say.
func TestCoverageOfWeightedRows(t *testing.T) {
	t.Parallel()
	const seeds = 8
	for _, correction := range []string{"none", "split", "from new rows"} {
		inside, count := map[float64]float64{}, map[float64]float64{}
		for seed := range uint64(seeds) {
			train, fresh := weightedTables(seed+1, 1)
			kind := correction
			if correction == "from new rows" {
				kind = "none"
			}
			m, _ := fit(t, weightedSpec(writeFile(t, "train.csv", train), kft.UncertaintySpec{Inference: "mean-field", Conformal: kind}), kft.Options{})
			if correction != kind {
				lines := strings.SplitAfter(fresh, "\n")
				fresh = lines[0] + strings.Join(lines[1000:], "")
				var err error
				if m, _, err = m.Recalibrate(t.Context(), kft.Reader("new", strings.NewReader(strings.Join(lines[:1000], ""))), "split", kft.TableOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			p := numberColumns(t, predictFile(t, m, writeFile(t, "fresh.csv", fresh), kft.TableOptions{Quantiles: []float64{0.05, 0.95}}))
			for i, w := range p["w"] {
				count[w]++
				if p["q0.05"][i] <= p["y"][i] && p["y"][i] <= p["q0.95"][i] {
					inside[w]++
				}
			}
		}
		for _, w := range slices.Sorted(maps.Keys(count)) {
			share := inside[w] / count[w]
			t.Logf("correction %s: coverage of weight %g is %.3f", correction, w, share)
			if share < 0.88 || share > 0.92 {
				t.Errorf("correction %s: 90 %% intervals of weight %g hold %.3f of the values, want 0.88 to 0.92", correction, w, share)
			}
		}
	}
}

// TestUnitOfWeights multiplies all weights by 100. What is predicted for a row, which
// then has 100 times the weight, must not change, nor must any score.
func TestUnitOfWeights(t *testing.T) {
	t.Parallel()
	for name, u := range map[string]kft.UncertaintySpec{
		"point":          {Inference: "map", Conformal: "none"},
		"posterior":      {Inference: "mean-field", Conformal: "none"},
		"correction":     {Inference: "mean-field", Conformal: "split"},
		"noise by shop":  {Inference: "mean-field", Noise: "entity:shop", NoiseUse: "fit", Conformal: "none"},
		"noise by level": {Inference: "map", Noise: "power", Conformal: "none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var columns [2]map[string][]float64
			var scores [2]kft.Score
			for k, unit := range []float64{1, 100} {
				train, fresh := weightedTables(1, unit)
				m, r := fit(t, weightedSpec(writeFile(t, "train.csv", train), u), kft.Options{})
				columns[k] = numberColumns(t, predictFile(t, m, writeFile(t, "fresh.csv", fresh), kft.TableOptions{Quantiles: []float64{0.05, 0.95}, Samples: 2}))
				scores[k] = r.Test
			}
			for _, column := range []string{"prediction", "median", "sd", "sd_noise", "q0.05", "q0.95", "sample_2"} {
				for i, want := range columns[0][column] {
					if got := columns[1][column][i]; math.Abs(got-want) > 1e-4*(math.Abs(want)+1) {
						t.Fatalf("row %d, %s: got %g with 100 times the weights, want %g", i+1, column, got, want)
					}
				}
			}
			a, b := scores[0], scores[1]
			for _, pair := range [][2]float64{{a.R2, b.R2}, {a.RMSE, b.RMSE}, {float64(a.Calibration.CRPS), float64(b.Calibration.CRPS)}, {float64(a.Calibration.LogDensity), float64(b.Calibration.LogDensity)}} {
				if math.Abs(pair[0]-pair[1]) > 1e-4 {
					t.Errorf("scores are %v with 100 times the weights, want %v", pair[1], pair[0])
				}
			}
		})
	}
}

// TestWeightOfPredictedRows checks where the weight of a row to predict comes from.
func TestWeightOfPredictedRows(t *testing.T) {
	t.Parallel()
	train, _ := weightedTables(1, 1)
	m, _ := fit(t, weightedSpec(writeFile(t, "train.csv", train), kft.UncertaintySpec{Inference: "mean-field", Conformal: "none"}), kft.Options{})
	const cell = "s1,g1,t1"
	noise := func(text string) []float64 {
		t.Helper()
		return numberColumns(t, predictFile(t, m, writeFile(t, "cells.csv", text), kft.TableOptions{}))["sd_noise"]
	}
	unit := noise("shop,good,time\n" + cell + "\n")[0]
	for i, got := range noise("w,shop,good,time\n1," + cell + "\n0.25," + cell + "\n4," + cell + "\n," + cell + "\n0," + cell + "\n") {
		if want := unit * []float64{1, 2, 0.5, 1, 1}[i]; math.Abs(got/want-1) > 1e-5 {
			t.Errorf("row %d: got noise sd %g, want %g", i+1, got, want)
		}
	}
	p := predictCells(t, m, kft.Cell{"shop": "s1", "good": "g1", "time": "t1"}, kft.Cell{"shop": "s1", "good": "g1", "time": "t1", "w": "4"})
	if ratio := p[0].SDNoise / p[1].SDNoise; math.Abs(p[0].SDNoise/unit-1) > 1e-5 || math.Abs(ratio-2) > 1e-6 {
		t.Errorf("cells have noise sd %g and, with weight 4, %g, want %g and half of it", p[0].SDNoise, p[1].SDNoise, unit)
	}
	for _, bad := range []string{"0", "-1", "inf", "NaN", "much"} {
		_, err := m.Predict(t.Context(), []kft.Cell{{"shop": "s1", "good": "g1", "time": "t1", "w": bad}})
		checkErrorText(t, err, "cell 1: w="+bad+" is not a finite number above 0")
	}
}

// TestBadWeights checks that weights and exposures that mean nothing are refused with
// their row and column, in fits, in evaluations and in predictions.
func TestBadWeights(t *testing.T) {
	t.Parallel()
	rows := func(v string) string {
		text := "shop,good,v,y\n"
		for i := range 40 {
			text += fmt.Sprintf("s%d,g%d,%d,%d\n", i%4, i/4, 1+i%3, i*i%7)
		}
		return text + "s0,new," + v + ",3\n"
	}
	good := writeFile(t, "good.csv", rows("1"))
	posterior := kft.UncertaintySpec{Inference: "mean-field", Likelihood: "poisson"}
	for name, spec := range map[string]kft.Spec{
		"weight":   {Data: kft.DataSpec{Files: []string{good}, Target: "y", Weight: "v", Modes: []string{"shop", "good"}}, Terms: []string{"shop"}},
		"exposure": {Data: kft.DataSpec{Files: []string{good}, Target: "y", Exposure: "v", Modes: []string{"shop", "good"}}, Terms: []string{"shop"}, Uncertainty: posterior},
	} {
		m, _ := fit(t, spec, kft.Options{})
		values := []string{"-1", "inf", "-inf", "1e300", "x"}
		if name == "exposure" {
			values = append(values, "0")
		}
		for _, v := range values {
			bad := writeFile(t, "bad.csv", rows(v))
			wrong := spec
			wrong.Data.Files = []string{bad}
			_, _, fitted := kft.Fit(t.Context(), wrong, kft.Source{}, kft.Options{})
			_, _, evaluated := m.Evaluate(t.Context(), kft.Files(bad), kft.TableOptions{})
			_, predicted := m.PredictTable(t.Context(), kft.Files(bad), io.Discard, kft.TableOptions{})
			for _, err := range []error{fitted, evaluated, predicted} {
				checkErrorText(t, err, `bad.csv, line 42, column "v", value "`+v+`"`)
			}
		}
	}
	_, _, err := kft.Fit(t.Context(), kft.Spec{Data: kft.DataSpec{Files: []string{good}, Target: "y", Exposure: "v", Modes: []string{"shop", "good"}}, Terms: []string{"shop"}}, kft.Source{}, kft.Options{})
	checkErrorText(t, err, "data.exposure: an exposure requires a likelihood of counts")
}
