package kft_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/likelihood"
)

// exposedTables draws two tables of the same truth, one to fit and one to predict:
// counts whose rates have effects of shops and goods, with exposures from 0.2 to 20
// times unit. A size above 0 makes them negative binomial. The column rate is the rate
// per unit of exposure.
func exposedTables(seed uint64, unit, size float64) (train, fresh string) {
	rng := randstream.New(seed, "exposure")
	const shops, goods = 40, 100
	a, b := make([]float64, shops), make([]float64, goods)
	for i := range a {
		a[i] = 0.6 * rng.NormFloat64()
	}
	for i := range b {
		b[i] = 0.6 * rng.NormFloat64()
	}
	var tables [2]strings.Builder
	for k := range tables {
		tables[k].WriteString("shop,good,days,rate,y\n")
	}
	for k, cell := range rng.Perm(shops * goods) {
		s, g := cell%shops, cell/shops
		f, days := 0.5+a[s]+b[g], math.Exp(math.Log(0.2)+rng.Float64()*math.Log(100))
		y := likelihood.Poisson{}.Draw(rng, f+math.Log(days))
		if size > 0 {
			y = likelihood.NegativeBinomial{Size: size}.Draw(rng, f+math.Log(days))
		}
		fmt.Fprintf(&tables[min(k/2500, 1)], "s%d,g%d,%g,%g,%g\n", s, g, days*unit, math.Exp(f), y)
	}
	return tables[0].String(), tables[1].String()
}

func exposedSpec(table, likelihood string) kft.Spec {
	return kft.Spec{
		Data:        kft.DataSpec{Files: []string{table}, Target: "y", Exposure: "days", Modes: []string{"shop", "good"}},
		Terms:       []string{"shop", "good"},
		Uncertainty: kft.UncertaintySpec{Inference: "mean-field", Likelihood: likelihood, Conformal: "none"},
	}
}

// TestExposure checks that a model of exposed counts finds the rates, that intervals of
// new rows hold their counts for small and for large exposures, and that the unit of
// the exposure does not matter.
func TestExposure(t *testing.T) {
	t.Parallel()
	const seeds = 3
	for name, size := range map[string]float64{"poisson": 0, "negative-binomial": 4} {
		var middle [2]float64 // share of the PIT between 0.05 and 0.95, for exposures below and above 2
		errors, n := 0.0, 0.0
		for seed := range uint64(seeds) {
			train, fresh := exposedTables(seed+1, 1, size)
			m, r := fit(t, exposedSpec(writeFile(t, "train.csv", train), name), kft.Options{})
			if best, _ := r.BestFormula(); r.Test.MAE > best.Test.MAE {
				t.Errorf("%s, seed %d: MAE is %.3f, above %.3f of the formula %q", name, seed, r.Test.MAE, best.Test.MAE, best.Name)
			}
			m = reload(t, m)
			lines := linesOf(fresh)
			for k := range middle {
				half := lines[:1:1]
				for _, line := range lines[1:] {
					if days, _ := strconv.ParseFloat(strings.Split(line, ",")[2], 64); (days > 2) == (k == 1) {
						half = append(half, line)
					}
				}
				score, _, err := m.Evaluate(t.Context(), kft.Reader("half", strings.NewReader(strings.Join(half, "\n"))), kft.TableOptions{})
				if err != nil {
					t.Fatal(err)
				}
				pit := score.Calibration.PIT
				for _, share := range pit[1 : len(pit)-1] {
					middle[k] += float64(share) / seeds
				}
			}
			p := numberColumns(t, predictFile(t, m, writeFile(t, "fresh.csv", fresh), kft.TableOptions{}))
			for i, days := range p["days"] {
				e := math.Log(p["prediction"][i] / (days * p["rate"][i]))
				errors, n = errors+e*e, n+1
			}
		}
		t.Logf("%s: coverage %.3f of small and %.3f of large exposures; rms log error of the rate %.3f", name, middle[0], middle[1], math.Sqrt(errors/n))
		if math.Sqrt(errors/n) > 0.3 {
			t.Errorf("%s: the log rates are off by %.3f, want at most 0.3", name, math.Sqrt(errors/n))
		}
		for k, share := range middle {
			if share < 0.88 || share > 0.92 {
				t.Errorf("%s: 90 %% intervals hold %.3f of the counts, want 0.88 to 0.92 (exposures above 2: %t)", name, share, k == 1)
			}
		}
	}
}

// TestUnitOfExposure multiplies all exposures by 10. The rates are then a tenth, and
// what is predicted for a row does not change.
func TestUnitOfExposure(t *testing.T) {
	t.Parallel()
	var columns [2]map[string][]float64
	for k, unit := range []float64{1, 10} {
		train, fresh := exposedTables(1, unit, 0)
		m, _ := fit(t, exposedSpec(writeFile(t, "train.csv", train), "poisson"), kft.Options{})
		columns[k] = numberColumns(t, predictFile(t, m, writeFile(t, "fresh.csv", fresh), kft.TableOptions{}))
		cell := kft.Cell{"shop": "s1", "good": "g1"}
		longer := kft.Cell{"shop": "s1", "good": "g1", "days": "3"}
		if p := predictCells(t, m, cell, longer); math.Abs(p[1].Mean/p[0].Mean-3) > 1e-6 {
			t.Errorf("the mean is %g with exposure 1 and %g with exposure 3", p[0].Mean, p[1].Mean)
		}
	}
	for i, want := range columns[0]["prediction"] {
		if got := columns[1]["prediction"][i]; math.Abs(got/want-1) > 1e-3 {
			t.Fatalf("row %d: got %g with 10 times the exposures, want %g", i+1, got, want)
		}
	}
}
