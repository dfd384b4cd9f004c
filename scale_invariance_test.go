package kft_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// unitTable returns a table whose target is factor (y + shift), for y of both signs and a
// standard deviation near 1. Its ids and rows do not depend on the unit.
func unitTable(factor, shift float64) string {
	rng := rand.New(rand.NewPCG(5, 6))
	effect := make([]float64, 12*15)
	for i := range effect {
		effect[i] = 0.6 * rng.NormFloat64()
	}
	var b strings.Builder
	b.WriteString("store,item,month,y\n")
	for s := range 12 {
		for i := range 15 {
			for m := range 8 {
				y := 0.1*float64(s) - 0.05*float64(i) + effect[s*15+i] + 0.4*math.Sin(float64(m)) + 0.3*rng.NormFloat64()
				// As a decimal text, so that the unit is the only difference.
				text := strconv.FormatFloat((math.Round(y*1e4)/1e4+shift)*factor, 'g', 17, 64)
				fmt.Fprintf(&b, "s%d,i%d,%d,%s\n", s, i, m, text)
			}
		}
	}
	return b.String()
}

// unitFit are the results of a fit in the units of y.
type unitFit struct {
	mean, low, high, draw []float64
	r2, coverage          float64
	formulas              []float64 // their R2, by name
}

// fitUnit fits a table and returns predictions, in the units of y.
func fitUnit(t testing.TB, factor, shift float64, u kft.UncertaintySpec) unitFit {
	t.Helper()
	table := writeFile(t, "table.csv", unitTable(factor, shift))
	spec := kft.Spec{
		Version: 1,
		Data:    kft.DataSpec{Files: []string{table}, Target: "y", Modes: []string{"store", "item", "month"}},
		Terms:   []string{"store,item,month:2"}, Uncertainty: u, Fit: kft.FitSpec{Sweeps: 6},
	}
	if u.Inference == "" || u.Inference == "map" {
		spec.Fit.Ridge, spec.Fit.Lambda = "uniform", kft.LambdaOf(1)
	}
	m, r := fit(t, spec, kft.Options{})
	m = reload(t, m)
	var f unitFit
	cells := []kft.Cell{}
	for k := range 20 {
		cells = append(cells, kft.Cell{"store": fmt.Sprintf("s%d", k%13), "item": fmt.Sprintf("i%d", k%11), "month": fmt.Sprint(k % 8)})
	}
	draws, err := m.Samples(t.Context(), cells, 1)
	if err != nil {
		t.Fatal(err)
	}
	for c, p := range predictCells(t, m, cells...) {
		low, high := p.Interval(0.9)
		f.mean, f.low, f.high = append(f.mean, p.Mean/factor-shift), append(f.low, low/factor-shift), append(f.high, high/factor-shift)
		f.draw = append(f.draw, draws[c][0]/factor-shift)
	}
	score, _, err := m.Evaluate(t.Context(), kft.Files(table), kft.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(r.Baseline, func(a, b kft.BaselineScores) int { return strings.Compare(a.Name, b.Name) })
	for _, b := range r.Baseline {
		f.formulas = append(f.formulas, b.Test.R2)
	}
	f.r2, f.coverage = r.Test.R2, float64(score.Calibration.Coverage90)
	columns := numberColumns(t, predictFile(t, m, table, kft.TableOptions{Quantiles: []float64{0.05, 0.95}, Samples: 1}))
	for _, name := range []string{"prediction", "q0.05", "q0.95", "sample_1"} {
		for i := range 20 {
			f.mean = append(f.mean, columns[name][i]/factor-shift)
		}
	}
	return f
}

// TestUnitOfTarget checks that another unit of the target changes nothing but units: its
// factor, and on the identity scale its origin.
func TestUnitOfTarget(t *testing.T) {
	t.Parallel()
	for name, u := range map[string]kft.UncertaintySpec{
		"map":                  {},
		"map, conformal":       {Conformal: "split"},
		"mean-field":           {Inference: "mean-field", Conformal: "none"},
		"mean-field, entities": {Inference: "mean-field", Noise: "entity:store", Conformal: "group:mean"},
		"mean-field, pairs":    {Inference: "mean-field", Noise: "power:store,store*item", Conformal: "group:mean"},
		"map, power":           {Noise: "power", Conformal: "none"},
		"noise in training":    {Inference: "mean-field", Noise: "entity:store", NoiseUse: "fit", Conformal: "none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := fitUnit(t, 1, 0, u)
			units := [][2]float64{{1e20, 0}, {1e-15, 0}}
			if !strings.HasPrefix(u.Noise, "power") { // which is relative to 0
				units = append(units, [2]float64{1, 1e6}, [2]float64{1, -1e6}, [2]float64{1e3, 1e9})
			}
			step := 4
			if os.Getenv("KFT_ATTACK") == "full" {
				step = 1
			}
			for k := -12; k <= 12; k += step {
				units = append(units, [2]float64{math.Pow(10, float64(k)), 0})
			}
			for _, unit := range units {
				got := fitUnit(t, unit[0], unit[1], u)
				for i, pair := range [][2][]float64{{got.mean, want.mean}, {got.low, want.low}, {got.high, want.high}, {got.draw, want.draw}, {got.formulas, want.formulas}} {
					for k := range pair[0] {
						if d := math.Abs(pair[0][k] - pair[1][k]); !(d <= 1e-4*max(1, math.Abs(pair[1][k]))) {
							t.Errorf("%g (y + %g), array %d: got %g, want %g", unit[0], unit[1], i, pair[0][k], pair[1][k])
							break
						}
					}
				}
				if math.Abs(got.r2-want.r2) > 1e-4 || math.Abs(got.coverage-want.coverage) > 1e-3 {
					t.Errorf("%g (y + %g): got R2 %g and coverage %g, want %g and %g", unit[0], unit[1], got.r2, got.coverage, want.r2, want.coverage)
				}
			}
		})
	}
}
