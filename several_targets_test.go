package kft_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

// salesAndRevenue returns a table of two targets with the same effects: the units have the
// noise 0.3 on the log scale, the revenue 0.1 and a price per item. Every tenth revenue is
// missing.
func salesAndRevenue(rng *rand.Rand) string {
	normals := func(n int, sd float64) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = sd * rng.NormFloat64()
		}
		return v
	}
	stores, items, prices := normals(40, 0.5), normals(30, 0.6), normals(30, 0.5)
	var b strings.Builder
	b.WriteString("store,item,month,units,revenue\n")
	for s, store := range stores {
		for i, item := range items {
			for month := range 4 {
				f := 3 + store + item + 0.2*float64(month)
				revenue := fmt.Sprintf("%.2f", 100*math.Exp(f+prices[i]+0.1*rng.NormFloat64()))
				if rng.IntN(10) == 0 {
					revenue = ""
				}
				fmt.Fprintf(&b, "S%d,I%d,%d,%.0f,%s\n", s, i, month+1, math.Exp(f+0.3*rng.NormFloat64()), revenue)
			}
		}
	}
	return b.String()
}

// One model of two targets has their scales and noise, predicts each in its own units with
// intervals that hold, and is the same after saving.
func TestSeveralTargets(t *testing.T) {
	t.Parallel()
	table := writeFile(t, "two.csv", salesAndRevenue(randstream.New(2, "two targets")))
	spec := kft.Spec{
		Data:        kft.DataSpec{Files: []string{table}, Target: "units,revenue", Modes: []string{"store", "item", "month"}},
		Terms:       []string{"store*target", "item*target", "month*target", "target"},
		Transform:   "log1p",
		Uncertainty: kft.UncertaintySpec{Inference: "mean-field", Conformal: "none"},
	}
	m, r := fit(t, spec, kft.Options{})
	if got := m.Targets(); fmt.Sprint(got) != "[units revenue]" {
		t.Fatalf("got targets %v", got)
	}
	if _, err := m.Predict(t.Context(), []kft.Cell{{"store": "S1", "item": "I1", "month": "2"}}); err == nil {
		t.Error("a model of two targets predicts a cell without a target")
	}
	m = reload(t, m)
	cell := kft.Cell{"store": "S3", "item": "I7", "month": "2"}
	means := map[string]float64{}
	for k, name := range m.Targets() {
		one, err := m.ForTarget(name)
		if err != nil {
			t.Fatal(err)
		}
		p := predictCells(t, one, cell)[0]
		means[name] = p.Mean
		if noise := []float64{0.3, 0.1}[k]; math.Abs(p.SDNoise/p.Mean/noise-1) > 0.2 {
			t.Errorf("%s: got noise of %.3f of the mean, want %.1f", name, p.SDNoise/p.Mean, noise)
		}
		record := r.Targets[k]
		c := record.Test.Calibration
		best, _ := record.Record(r.Record).BestFormula()
		if got := float64(c.Coverage90); math.Abs(got-0.9) > 0.03 || record.Test.R2 < best.Test.R2 {
			t.Errorf("%s: got coverage %.3f and R2 %.3f, the best formula %.3f", name, got, record.Test.R2, best.Test.R2)
		}
		score, _, err := one.EvaluatePart(t.Context(), kft.Files(table), dataset.Test, kft.TableOptions{})
		if err != nil || score.N != record.Test.N || math.Abs(score.RMSE/record.Test.RMSE-1) > 1e-5 {
			t.Errorf("%s: got %d rows and RMSE %g when evaluated, %d and %g in the report (%v)", name, score.N, score.RMSE, record.Test.N, record.Test.RMSE, err)
		}
		if all, _, err := one.Evaluate(t.Context(), kft.Files(table), kft.TableOptions{}); err != nil || all.N != []int{4800, 4800 - r.Rows.Missing}[k] {
			t.Errorf("%s: got %d rows of the whole table (%v)", name, all.N, err)
		}
		if err := one.Save(t.TempDir() + "/one.kft"); err == nil {
			t.Errorf("%s: the part of a model is saved", name)
		}
	}
	if ratio := means["revenue"] / means["units"]; ratio < 20 || ratio > 500 {
		t.Errorf("got means %v", means)
	}
	for _, format := range []string{"text", "parquet"} {
		var out bytes.Buffer
		opt := kft.TableOptions{Quantiles: []float64{0.05, 0.95}}
		opt.Output.Format = format
		sum, err := m.PredictTable(t.Context(), kft.Files(table), &out, opt)
		if err != nil || sum.Rows != 4800 {
			t.Fatalf("%s: %d rows, %v", format, sum.Rows, err)
		}
		if format != "text" {
			continue
		}
		rows, err := csv.NewReader(&out).ReadAll()
		if err != nil || len(rows) != 4801 {
			t.Fatalf("got %d rows, %v", len(rows), err)
		}
		for _, row := range rows[1:] {
			if row[0] != "S3" || row[1] != "I7" || row[2] != "2" {
				continue
			}
			for i, name := range rows[0] {
				if target, ok := strings.CutSuffix(name, "_prediction"); ok {
					if v, _ := strconv.ParseFloat(row[i], 64); math.Abs(v/means[target]-1) > 1e-5 {
						t.Errorf("%s: got %g in the table, %g for the cell", target, v, means[target])
					}
				}
			}
		}
	}
	if _, err := m.PredictTable(t.Context(), kft.Files(table+"x"), new(bytes.Buffer), kft.TableOptions{}); err == nil || !strings.Contains(err.Error(), "two.csvx") {
		t.Errorf("got %v for a table that does not exist", err)
	}
}

// Rows that have one target in the training set have the other there too.
func TestSeveralTargetsShareParts(t *testing.T) {
	t.Parallel()
	table := writeFile(t, "two.csv", salesAndRevenue(randstream.New(3, "two targets")))
	spec := kft.Spec{
		Data:        kft.DataSpec{Files: []string{table}, Target: "revenue,units", Modes: []string{"store", "item", "month"}},
		Terms:       []string{"store", "item", "target"},
		Transform:   "log1p,identity",
		Uncertainty: kft.UncertaintySpec{Inference: "mean-field"},
	}
	m, r := fit(t, spec, kft.Options{})
	units, err := m.ForTarget("units")
	if err != nil {
		t.Fatal(err)
	}
	if got := units.Spec().Transform; got != "identity" {
		t.Errorf("got scale %s of units", got)
	}
	if a, b := r.Targets[0].Test.N+r.Targets[1].Test.N, r.Test.N; a != b {
		t.Errorf("got %d test observations of the targets, %d of all", a, b)
	}
	if share := float64(r.Targets[1].Test.N) / 4800; math.Abs(share-0.2) > 0.03 {
		t.Errorf("got a test set of %.3f of the units", share)
	}
}

// Errors that the targets of a row share count once: the intervals of a model that has to
// learn a product of weights from few rows hold. If they counted twice, those of the
// revenue would hold 85 %.
func TestSeveralTargetsWithSharedErrors(t *testing.T) {
	t.Parallel()
	rng := randstream.New(4, "shared errors")
	var shops, goods [40][2]float64
	for i := range shops {
		for k := range 2 {
			shops[i][k], goods[i][k] = rng.NormFloat64(), rng.NormFloat64()
		}
	}
	var b strings.Builder
	b.WriteString("shop,good,units,revenue\n")
	for i, s := range shops {
		for j, g := range goods {
			if rng.IntN(2) == 0 {
				continue
			}
			y := s[0]*g[0] + s[1]*g[1] + 0.7*rng.NormFloat64()
			fmt.Fprintf(&b, "s%d,g%d,%.3f,%.3f\n", i, j, y, 40*(y+0.1*rng.NormFloat64()))
		}
	}
	m, r := fit(t, kft.Spec{
		Data:        kft.DataSpec{Files: []string{writeFile(t, "shared.csv", b.String())}, Target: "units,revenue", Modes: []string{"shop", "good"}},
		Terms:       []string{"shop,good,target:2"},
		Transform:   "identity",
		Uncertainty: kft.UncertaintySpec{Inference: "entity-covariance", Conformal: "none"},
	}, kft.Options{})
	for k, name := range m.Targets() {
		if got := float64(r.Targets[k].Test.Calibration.Coverage90); got < 0.86 || got > 0.94 {
			t.Errorf("%s: got coverage %.3f", name, got)
		}
	}
}

// What several targets cannot be combined with is refused with a reason.
func TestSeveralTargetsRefuse(t *testing.T) {
	t.Parallel()
	table := writeFile(t, "two.csv", salesAndRevenue(randstream.New(2, "two targets")))
	for _, c := range []struct {
		change func(*kft.Spec)
		want   string
	}{
		{func(s *kft.Spec) { s.Uncertainty.Likelihood = "poisson" }, "several targets require the gaussian likelihood"},
		{func(s *kft.Spec) { s.Uncertainty.Noise = "power" }, "which several targets do not share"},
		{func(s *kft.Spec) { s.Uncertainty.Conformal = "group:mean" }, "cannot be combined with several targets"},
		{func(s *kft.Spec) { s.Data.Target = "units,units" }, "repeated column"},
		{func(s *kft.Spec) { s.Data.Target = "units,item" }, `column "item" is already the target`},
		{func(s *kft.Spec) { s.Data.Target = "units,sales" }, `sales`},
		{func(s *kft.Spec) { s.Data.Modes = []string{"store", "target=item"} }, "is that of the mode of several targets"},
		{func(s *kft.Spec) { s.Data.Covariates = []string{"month"}; s.Data.Modes = s.Data.Modes[:2] }, "which several targets do not support"},
		{func(s *kft.Spec) { s.Transform = "log1p,sqrt,sqrt" }, "transform"},
		{func(s *kft.Spec) { s.Data.Target = "units" }, "target"},
		{func(s *kft.Spec) { s.Data.Exposure = "month"; s.Data.Modes = s.Data.Modes[:2] }, "cannot be combined with several targets"},
	} {
		s := kft.Spec{
			Data:        kft.DataSpec{Files: []string{table}, Target: "units,revenue", Modes: []string{"store", "item", "month"}},
			Terms:       []string{"store*target", "item*target"},
			Transform:   "log1p",
			Uncertainty: kft.UncertaintySpec{Inference: "mean-field"},
		}
		c.change(&s)
		if _, _, err := kft.Fit(t.Context(), s, kft.Source{}, kft.Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// The model of one target has its own series: forecasts, reports and explanations are
// those of a model of one target.
func TestSeveralTargetsForecast(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	rng := randstream.New(5, "forecast of two targets")
	b.WriteString("month,shop,units,revenue\n")
	for month := range 24 {
		for shop := range 12 {
			f := 3 + 0.1*float64(shop) + 0.3*math.Sin(float64(month)/2) + 0.1*rng.NormFloat64()
			fmt.Fprintf(&b, "20%02d-%02d,S%d,%.2f,%.2f\n", 20+month/12, month%12+1, shop, math.Exp(f), 50*math.Exp(f+0.02*rng.NormFloat64()))
		}
	}
	table := writeFile(t, "months.csv", b.String())
	m, _ := fit(t, kft.Spec{
		Data:        kft.DataSpec{Files: []string{table}, Target: "units,revenue", Modes: []string{"shop", "month"}},
		Terms:       []string{"series(shop*target; month)", "target"},
		Transform:   "log1p",
		Split:       "time:last=3,mode=month",
		Uncertainty: kft.UncertaintySpec{Inference: "mean-field", Conformal: "none"},
	}, kft.Options{})
	m = reload(t, m)
	if _, err := m.Forecast(t.Context(), new(bytes.Buffer), kft.ForecastOptions{Horizon: 2}); err == nil {
		t.Error("all targets are forecast in one column")
	}
	means := map[string]float64{}
	for _, name := range m.Targets() {
		one, err := m.ForTarget(name)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		sum, err := one.Forecast(t.Context(), &out, kft.ForecastOptions{Horizon: 2})
		if err != nil || sum.Series != 12 || sum.Rows != 24 {
			t.Fatalf("%s: got %d series, %d rows, %v", name, sum.Series, sum.Rows, err)
		}
		rows, err := csv.NewReader(&out).ReadAll()
		if err != nil || fmt.Sprint(rows[0]) != "[shop month mean median lo-90 hi-90]" {
			t.Fatalf("%s: got %v, %v", name, rows[0], err)
		}
		means[name], _ = strconv.ParseFloat(rows[1][2], 64)
		cell := kft.Cell{"shop": "S3", "month": "2021-03"}
		why, err := one.Explain(t.Context(), []kft.Cell{cell}, kft.ExplainOptions{Neighbours: 1})
		if err != nil || why[0].Target != name {
			t.Errorf("%s: got %v, %v", name, why, err)
		}
		for _, n := range why[0].Neighbours {
			if n.Mode == "target" || n.Mean != nil {
				t.Errorf("%s: got neighbourhood %+v", name, n)
			}
		}
		if _, _, err := one.Update(t.Context(), kft.Files(table), kft.TableOptions{}, kft.UpdateOptions{}); err == nil {
			t.Errorf("%s: the part of a model takes in rows", name)
		}
	}
	if ratio := means["revenue"] / means["units"]; ratio < 40 || ratio > 60 {
		t.Errorf("got forecasts %v", means)
	}
}

// The formulas beside each target have its units, after a refit too.
func TestFormulasOfSeveralTargets(t *testing.T) {
	t.Parallel()
	random := randstream.New(3, "formulas of targets")
	var b strings.Builder
	b.WriteString("store,item,units,hundreds\n")
	for i := range 1500 {
		units := math.Exp(float64(i/5%7)/2 + random.NormFloat64())
		fmt.Fprintf(&b, "S%d,I%d,%.4f,%.6f\n", i/5, i%5, units, units/100)
	}
	_, r := fit(t, kft.Spec{
		Data:        kft.DataSpec{Files: []string{writeFile(t, "two.csv", b.String())}, Target: "units,hundreds", Modes: []string{"store", "item"}},
		Terms:       []string{"store*target", "item*target", "target"},
		Transform:   "identity",
		Uncertainty: kft.UncertaintySpec{Inference: "mean-field", Conformal: "none"},
		Fit:         kft.FitSpec{Refit: "valid"},
	}, kft.Options{})
	units, _ := r.Targets[0].Record(r.Record).BestFormula()
	hundreds, _ := r.Targets[1].Record(r.Record).BestFormula()
	if got, want := 100*hundreds.Test.MAE, units.Test.MAE; units.Name != hundreds.Name || math.Abs(got/want-1) > 1e-3 {
		t.Errorf("%s has the MAE %.4f beside hundreds, %s %.4f beside units", hundreds.Name, got, units.Name, want)
	}
}
