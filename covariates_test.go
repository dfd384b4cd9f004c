package kft_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

// priceTable is a table in which each item has its own elasticity:
// log y = item + elasticity (log price - log 2) + promotion + noise.
type priceTable struct {
	elasticity []float64 // by item
	text       string
}

func newPriceTable() *priceTable {
	rng := rand.New(rand.NewPCG(3, 4))
	p := &priceTable{}
	const items, stores, months = 20, 8, 24
	var level []float64
	for range items {
		p.elasticity, level = append(p.elasticity, -1.5+0.7*rng.NormFloat64()), append(level, 3+0.5*rng.NormFloat64())
	}
	var b strings.Builder
	b.WriteString("store,item,month,price,promo,units\n")
	for m := range months {
		for s := range stores {
			for i := range items {
				if rng.Float64() < 0.2 {
					continue
				}
				logPrice := rng.Float64() * math.Log(6)
				price, promo := fmt.Sprintf("%.2f", math.Exp(logPrice)), []string{"none", "flyer", ""}[rng.IntN(3)]
				y := level[i] + p.elasticity[i]*(logPrice-math.Log(2)) + 0.2*rng.NormFloat64()
				if promo == "flyer" {
					y += 0.5
				}
				if rng.Float64() < 0.05 {
					price = "NA"
				}
				fmt.Fprintf(&b, "s%d,i%d,%s,%s,%s,%.3f\n", s, i, monthID(m), price, promo, math.Exp(y))
			}
		}
	}
	p.text = b.String()
	return p
}

func (p *priceTable) spec(t testing.TB) kft.Spec {
	s := kft.Spec{Version: 1, Transform: "log1p", Terms: []string{"store", "item", "item*price", "price", "promo"}, Fit: kft.FitSpec{Sweeps: 30}}
	s.Data = kft.DataSpec{Files: []string{writeFile(t, "sales.csv", p.text)}, Target: "units", Modes: []string{"store", "item", "month"}, Covariates: []string{"price", "promo"}}
	s.Uncertainty.Inference, s.Uncertainty.Conformal = "mean-field", "none"
	return s
}

// cellAt returns the cell of an item at a price.
func cellAt(item int, price string) kft.Cell {
	return kft.Cell{"store": "s1", "item": fmt.Sprint("i", item), "month": "2020-05", "price": price, "promo": "none"}
}

// TestPriceElasticity fits a curve of the price per item and compares its slope with the
// simulated one.
func TestPriceElasticity(t *testing.T) {
	t.Parallel()
	p := newPriceTable()
	m, r := fit(t, p.spec(t), kft.Options{})
	if got := m.Spec().Data.Modes; !slices.Equal(got, []string{"store", "item", "month", "number(price)", "level(promo)"}) {
		t.Errorf("modes are %v", got)
	}
	if r.Test.R2Scale < 0.9 {
		t.Errorf("R2 on the modelling scale is %.3f", r.Test.R2Scale)
	}
	for _, seen := range r.Test.Calibration.CoverageBySeen { // a price is no id
		if seen.Name != "warm" && seen.N > 0 {
			t.Errorf("%d rows of known stores, items and months are counted as %q", seen.N, seen.Name)
		}
	}
	var cells []kft.Cell
	for i := range p.elasticity {
		cells = append(cells, cellAt(i, "1.5"), cellAt(i, "4"))
	}
	predicted, err := m.Predict(t.Context(), cells)
	if err != nil {
		t.Fatal(err)
	}
	worst, sum := 0.0, 0.0
	for i, want := range p.elasticity {
		got := math.Log(predicted[2*i+1].Median/predicted[2*i].Median) / math.Log(4/1.5)
		worst, sum = max(worst, math.Abs(got-want)), sum+math.Abs(got-want)
	}
	if mean := sum / float64(len(p.elasticity)); worst > 0.6 || mean > 0.15 {
		t.Errorf("elasticities are off by %.3f on average and by %.3f at most", mean, worst)
	}
}

// TestCovariateRange checks that values between those of the fit are interpolated, that
// the distribution widens beyond their range, and that missing values have their own bin.
func TestCovariateRange(t *testing.T) {
	t.Parallel()
	p := newPriceTable()
	m, _ := fit(t, p.spec(t), kft.Options{})
	predict := func(price string) kft.Prediction {
		t.Helper()
		got, err := m.Predict(t.Context(), []kft.Cell{cellAt(3, price)})
		if err != nil {
			t.Fatal(err)
		}
		return got[0]
	}
	before := predict("1.5")
	for _, price := range []string{"2", "2.0251", "2.5", "3.1234", "4"} { // item 3 sells less at higher prices
		now := predict(price)
		if !(now.Median < before.Median) || len(now.Unseen)+len(now.FromSide) > 0 {
			t.Errorf("price %s: median %.3f after %.3f, unseen %v, from side %v", price, now.Median, before.Median, now.Unseen, now.FromSide)
		}
		before = now
	}
	if a, b := predict("2"), predict("2.00"); a.Mean != b.Mean {
		t.Errorf("2 and 2.00 give %v and %v", a.Mean, b.Mean)
	}
	relative := func(price string) float64 { p := predict(price); return p.SDModel / p.Mean }
	inside, edge, far := relative("3"), relative("8"), relative("30")
	if !(edge > 1.5*inside && far > edge) {
		t.Errorf("relative sd of the model is %.3f at 3, %.3f at 8 and %.3f at 30", inside, edge, far)
	}
	if got := predict("30").FromSide; !slices.Equal(got, []string{"price"}) {
		t.Errorf("beyond the range: from side %v", got)
	}
	missing := predict("")
	if na := predict("NA"); na.Mean != missing.Mean || len(missing.Unseen)+len(missing.FromSide) > 0 {
		t.Errorf("missing prices give %v and %v, unseen %v", na.Mean, missing.Mean, missing.Unseen)
	}
	if _, err := m.Predict(t.Context(), []kft.Cell{cellAt(3, "cheap")}); err == nil || !strings.Contains(err.Error(), "price=cheap is not a finite number") {
		t.Errorf("text as a number: %v", err)
	}
}

// TestCovariatePredictions checks that a loaded model, tables in text and Arrow, and
// cells give the same predictions, and that an evaluation repeats the scores of the fit.
func TestCovariatePredictions(t *testing.T) {
	t.Parallel()
	p := newPriceTable()
	s := p.spec(t)
	s.Data.Lags, s.Data.History = []string{"1", "12"}, []string{"store*item"}
	s.Terms = append(s.Terms, "lag1", "lag12", "periods")
	s.Split = "time:last=2"
	m, r := fit(t, s, kft.Options{})
	loaded := reload(t, m)
	if !bytes.Equal(modelBytes(t, m), modelBytes(t, loaded)) {
		t.Error("a loaded model has another file")
	}
	table := s.Data.Files[0]
	text := predictFile(t, m, table, kft.TableOptions{Samples: 2})
	if again := predictFile(t, loaded, table, kft.TableOptions{Samples: 2}); again != text {
		t.Error("a loaded model predicts otherwise")
	}
	frame, err := tableio.ReadFrame(t.Context(), tableio.Reader("p.csv", strings.NewReader(text)), tableio.Format{})
	if err != nil {
		t.Fatal(err)
	}
	output, err := tableio.OutputFor("p.arrow")
	if err != nil {
		t.Fatal(err)
	}
	arrow := filepath.Join(t.TempDir(), "p.arrow")
	if err := os.WriteFile(arrow, []byte(predictFile(t, m, table, kft.TableOptions{Output: output})), 0o666); err != nil {
		t.Fatal(err)
	}
	var columns []kft.Column
	for i, name := range frame.Names[:6] {
		columns = append(columns, kft.StringColumn(name, frame.Columns[i]))
	}
	memory, err := kft.Columns(columns...)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := m.PredictTable(t.Context(), memory, &out, kft.TableOptions{}); err != nil {
		t.Fatal(err)
	}
	fromMemory, err := tableio.ReadFrame(t.Context(), tableio.Reader("m.csv", &out), tableio.Format{})
	if err != nil {
		t.Fatal(err)
	}
	fromArrow, err := tableio.ReadFrame(t.Context(), tableio.Files(arrow), tableio.Format{})
	if err != nil {
		t.Fatal(err)
	}
	at, _ := frame.Find("prediction")
	inArrow, _ := fromArrow.Find("prediction")
	for i := range frame.Len() {
		if want := frame.Columns[at][i]; fromMemory.Columns[at][i] != want || fromArrow.Columns[inArrow][i] != want {
			t.Fatalf("row %d: prediction %s, from memory %s, in Arrow %s", i, want, fromMemory.Columns[at][i], fromArrow.Columns[inArrow][i])
		}
	}
	score, _, err := loaded.EvaluatePart(t.Context(), kft.Files(table), dataset.Test, kft.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if score.R2 != r.Test.R2 || score.MAE != r.Test.MAE {
		t.Errorf("the evaluation of the test set has R2 %v and MAE %v, the fit %v and %v", score.R2, score.MAE, r.Test.R2, r.Test.MAE)
	}
	missing := strings.Replace(p.text, "price", "cost", 1)
	if _, err := m.PredictTable(t.Context(), kft.Reader("plans.csv", strings.NewReader(missing)), &out, kft.TableOptions{}); err == nil || !strings.Contains(err.Error(), `column "price"`) {
		t.Errorf("a table without the covariate: %v", err)
	}
	bad := strings.Replace(p.text, ",NA,", ",dear,", 1)
	row := slices.IndexFunc(linesOf(p.text), func(line string) bool { return strings.Contains(line, ",NA,") })
	if _, err := m.PredictTable(t.Context(), kft.Reader("plans.csv", strings.NewReader(bad)), &out, kft.TableOptions{}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("data row %d: price=dear", row)) {
		t.Errorf("a table with text as a price: %v", err)
	}
}

// seriesText returns autocorrelated series of 24 months.
func seriesText(seed uint64) string {
	rng := rand.New(rand.NewPCG(seed, 6))
	var b strings.Builder
	b.WriteString("store,item,month,y\n")
	for s := range 12 {
		for i := range 15 {
			x := rng.NormFloat64()
			for m := range 24 {
				x = 0.9*x + 0.44*rng.NormFloat64()
				fmt.Fprintf(&b, "s%d,i%d,%s,%.4f\n", s, i, monthID(m), 10+x+0.1*rng.NormFloat64())
			}
		}
	}
	return b.String()
}

func lagSpec(t testing.TB, text string, lags ...string) kft.Spec {
	s := kft.Spec{Version: 1, Split: "time:last=1", Terms: []string{"store", "item"}, Fit: kft.FitSpec{Sweeps: 10}}
	s.Data = kft.DataSpec{Files: []string{writeFile(t, "y.csv", text)}, Target: "y", Modes: []string{"store", "item", "month"}, Lags: lags}
	s.Uncertainty.Inference, s.Uncertainty.Conformal, s.Uncertainty.Mixing = "mean-field", "none", "none" // last values would replace lags
	for _, lag := range lags {
		s.Terms = append(s.Terms, "lag"+lag)
	}
	return s
}

// TestLags checks that lags help on autocorrelated series, at the horizons for which
// they are known.
func TestLags(t *testing.T) {
	t.Parallel()
	text := seriesText(5)
	_, without := fit(t, lagSpec(t, text), kft.Options{})
	m, with := fit(t, lagSpec(t, text, "1", "2"), kft.Options{})
	// The validation set is one period ahead: lag1 is known. The test set is two periods
	// ahead of the training rows, and only lag2 is known.
	if with.Valid.R2 < 0.7 || with.Test.R2 < 0.5 || without.Valid.R2 > 0.4 {
		t.Errorf("R2 is %.3f and %.3f with lags, %.3f without", with.Valid.R2, with.Test.R2, without.Valid.R2)
	}
	// Trained again on all rows, the model knows the last values of the table.
	refitted := lagSpec(t, text, "1", "2")
	refitted.Fit.Refit, refitted.Uncertainty.Inference = "all", "map"
	again, report := fit(t, refitted, kft.Options{})
	if report.Refit == nil {
		t.Fatalf("the model was not trained again: %v", report.Warnings)
	}
	var cells []kft.Cell
	var last []float64
	for _, line := range linesOf(text)[1:] {
		if fields := strings.Split(line, ","); fields[2] == "2021-12" {
			y, err := strconv.ParseFloat(fields[3], 64)
			if err != nil {
				t.Fatal(err)
			}
			cells, last = append(cells, kft.Cell{"store": fields[0], "item": fields[1], "month": "2022-01"}), append(last, y)
		}
	}
	for _, c := range []struct {
		m         *kft.Model
		low, high float64
	}{{m, -0.3, 0.75}, {reload(t, again), 0.9, 1}} { // three periods after its training rows, the first model has no lag
		predicted, err := c.m.Predict(t.Context(), cells)
		if err != nil {
			t.Fatal(err)
		}
		means := make([]float64, len(cells))
		for i, p := range predicted {
			means[i] = p.Mean
		}
		if r := correlation(means, last); r < c.low || r > c.high {
			t.Errorf("predictions of the next month and the last values have the correlation %.3f", r)
		}
	}
}

// TestAutomaticCovariates checks that automatic terms use covariates.
func TestAutomaticCovariates(t *testing.T) {
	t.Parallel()
	s := newPriceTable().spec(t)
	s.Terms, s.Transform, s.Uncertainty, s.Fit = nil, "", kft.UncertaintySpec{}, kft.FitSpec{Effort: "quick"}
	m, r := fit(t, s, kft.Options{})
	terms := m.Spec().Terms
	if !slices.Contains(terms, "price") || !slices.Contains(terms, "promo") || slices.ContainsFunc(terms, func(term string) bool { return strings.Contains(term, ",price") }) {
		t.Errorf("terms are %v", terms)
	}
	if r.Test.R2Scale < 0.7 {
		t.Errorf("R2 on the modelling scale is %.3f", r.Test.R2Scale)
	}
	if best, ok := r.BestFormula(); !ok || strings.Contains(best.Name, "price") {
		t.Errorf("the best formula is %q", best.Name)
	}
}

// TestLagsDoNotLeak checks that the targets of the test set have no influence on a model
// with lags, nor on its predictions.
func TestLagsDoNotLeak(t *testing.T) {
	t.Parallel()
	text := seriesText(7)
	spec := lagSpec(t, text, "1", "2")
	spec.Split = "time:last=2"
	m, _ := fit(t, spec, kft.Options{})
	lines := linesOf(text)
	rng := rand.New(rand.NewPCG(9, 9))
	for i, line := range lines {
		if cells, _, _ := cutLast(line); i > 0 && (strings.Contains(line, ",2021-11,") || strings.Contains(line, ",2021-12,")) {
			lines[i] = fmt.Sprintf("%s,%.4f", cells, 1000*rng.Float64())
		}
	}
	other := lagSpec(t, strings.Join(lines, "\n")+"\n", "1", "2")
	other.Split = spec.Split
	changed, _ := fit(t, other, kft.Options{})
	cells := "store,item,month\n"
	for _, line := range lines[1:] {
		cell, _, _ := cutLast(line)
		cells += cell + "\n"
	}
	path := writeFile(t, "cells.csv", cells)
	if predictFile(t, m, path, kft.TableOptions{}) != predictFile(t, changed, path, kft.TableOptions{}) {
		t.Error("other targets of the test set give other predictions")
	}
}

func cutLast(line string) (before, after string, found bool) {
	at := strings.LastIndexByte(line, ',')
	return line[:max(at, 0)], line[at+1:], at >= 0
}

// TestAbsentZero checks that cells without a row count as zero from the first training row of
// their series on, in all parts: model and formulas are judged on what they are trained for.
func TestAbsentZero(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 12))
	var b strings.Builder
	b.WriteString("store,item,month,y\n")
	rows, gaps, tested, sold := 0, 0, 0, 0
	for s := range 10 {
		for i := range 10 {
			started := false
			for m := range 24 {
				sells := rng.Float64() < 0.1+0.08*float64(i)
				if sells {
					fmt.Fprintf(&b, "s%d,i%d,%s,%d\n", s, i, monthID(m), 10)
					rows++
				} else if started {
					gaps++
				}
				if m >= 22 && (sells || started) {
					tested++
				}
				if m >= 22 && sells {
					sold++
				}
				started = started || sells && m < 20
			}
		}
	}
	spec := lagSpec(t, b.String())
	spec.Split, spec.Data.Absent, spec.Terms = "time:last=2", "zero", []string{"item", "store"}
	m, r := fit(t, spec, kft.Options{})
	if r.Rows.Rows != rows || r.Rows.Zeros != gaps {
		t.Errorf("%d rows and %d zeros, want %d and %d", r.Rows.Rows, r.Rows.Zeros, rows, gaps)
	}
	if r.Test.N != tested || r.Train.N+r.Valid.N+r.Test.N != rows+gaps {
		t.Errorf("%d test rows of %d, want %d of %d", r.Test.N, r.Train.N+r.Valid.N+r.Test.N, tested, rows+gaps)
	}
	if m.HeldOut() != 0 {
		t.Errorf("%d rows held out, want none", m.HeldOut())
	}
	if want := float64(sold) / float64(tested); tested == sold || math.Abs(r.Test.RMSE-10*math.Sqrt(want*(1-want))) > 1 {
		t.Errorf("RMSE %.2f of the test set, of which %.2f are not 0", r.Test.RMSE, want)
	}
	if best := m.Record().Baseline[0]; best.Test.N != tested || r.Test.R2 < best.Test.R2-0.02 {
		t.Errorf("the model has R2 %.3f, and %q %.3f on %d rows, want about as much on %d", r.Test.R2, best.Name, best.Test.R2, best.Test.N, tested)
	}
	for i := range 10 {
		predicted, err := m.Predict(t.Context(), []kft.Cell{{"store": "s3", "item": fmt.Sprint("i", i), "month": "2021-12"}})
		if err != nil {
			t.Fatal(err)
		}
		if want := 10 * (0.1 + 0.08*float64(i)); math.Abs(predicted[0].Mean-want) > 1.8 {
			t.Errorf("item %d: mean %.2f, want about %.2f", i, predicted[0].Mean, want)
		}
	}
	if reload(t, m).Record().Rows.Zeros != gaps {
		t.Error("the file does not have the number of zeros")
	}
}

// TestCovariateErrors checks the messages about covariates that cannot be used.
func TestCovariateErrors(t *testing.T) {
	t.Parallel()
	p := newPriceTable()
	for _, c := range []struct {
		name   string
		change func(s *kft.Spec)
		want   string
	}{
		{"text as a number", func(s *kft.Spec) { s.Data.Covariates = []string{"number(promo)", "price"} }, `column promo: "flyer" is not a finite number`},
		{"no such column", func(s *kft.Spec) { s.Data.Covariates = []string{"cost", "price", "promo"} }, `column "cost"`},
		{"the target", func(s *kft.Spec) { s.Data.Covariates = []string{"units", "price", "promo"} }, "already the target"},
		{"a lag that is no number", func(s *kft.Spec) { s.Data.Lags = []string{"x"} }, "a lag is a whole number"},
		{"a lag of 0", func(s *kft.Spec) { s.Data.Lags = []string{"0"} }, "a lag is a whole number"},
		{"history of an unknown mode", func(s *kft.Spec) { s.Data.History = []string{"stores*item"} }, `unknown mode "stores"`},
		{"history of the time", func(s *kft.Spec) { s.Data.History = []string{"store*month"} }, "month is not a mode that distinguishes series"},
		{"lags without time", func(s *kft.Spec) {
			s.Data.Modes, s.Data.Lags, s.Data.Duplicates = []string{"store", "item"}, []string{"1"}, "mean"
		}, "needs a mode of time"},
		{"zeros without time", func(s *kft.Spec) {
			s.Data.Modes, s.Data.Absent, s.Data.Duplicates = []string{"store", "item"}, "zero", "mean"
		}, "needs a mode of time"},
		{"absent", func(s *kft.Spec) { s.Data.Absent = "one" }, "data.absent"},
		{"only covariates", func(s *kft.Spec) {
			s.Data.Modes, s.Data.Covariates, s.Terms = []string{"number(price)"}, []string{"promo"}, []string{"price"}
		}, "no mode identifies a cell"},
		{"a side table of a number", func(s *kft.Spec) { s.Side.Tables = []string{"price=prices.csv"} }, "price is a covariate"},
	} {
		s := p.spec(t)
		c.change(&s)
		_, _, err := kft.Fit(t.Context(), s, kft.Source{}, kft.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
}

// A covariate that is computed from the target is warned about.
func TestRevealingCovariate(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	var text strings.Builder
	text.WriteString("region,sector,tax,age,wage\n")
	for range 600 {
		wage := math.Exp(3 + 0.6*r.NormFloat64())
		fmt.Fprintf(&text, "r%d,s%d,%.3f,%d,%.3f\n", r.IntN(4), r.IntN(3), 0.2*wage+0.02*r.NormFloat64(), 18+r.IntN(45), wage)
	}
	file := filepath.Join(t.TempDir(), "tax.csv")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for covariate, want := range map[string]bool{"tax": true, "age": false} {
		var s kft.Spec
		s.Data.Files, s.Data.Target, s.Data.Modes, s.Data.Covariates, s.Data.Duplicates = []string{file}, "wage", []string{"region", "sector"}, []string{covariate}, "keep"
		s.Terms, s.Transform = []string{"region", "sector", covariate}, "power:0.3"
		_, report := fit(t, s, kft.Options{})
		warned := slices.ContainsFunc(report.Warnings, func(w string) bool { return strings.Contains(w, "explained by "+covariate) })
		if warned != want {
			t.Errorf("%s: warnings %q", covariate, report.Warnings)
		}
	}
}

// A table to predict, and a cell, may lack a covariate that no term uses.
func TestUnusedCovariateIsNotNeeded(t *testing.T) {
	t.Parallel()
	p := newPriceTable()
	s := p.spec(t)
	s.Terms = []string{"item", "price"}
	m, r := fit(t, s, kft.Options{})
	if !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "promo has no effect") }) {
		t.Errorf("no warning about promo: %q", r.Warnings)
	}
	predict := func(text string) string {
		var out bytes.Buffer
		if _, err := m.PredictTable(t.Context(), kft.Reader("plans.csv", strings.NewReader(text)), &out, kft.TableOptions{}); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	got := predict("store,item,month,price\ns1,i2,2020-03,2.5\n")
	if want := strings.Replace(strings.Replace(predict("store,item,month,promo,price\ns1,i2,2020-03,flyer,2.5\n"), "promo,", "", 1), "flyer,", "", 1); got != want {
		t.Errorf("without promo\n%s\nwith it\n%s", got, want)
	}
	cell := kft.Cell{"store": "s1", "item": "i2", "month": "2020-03", "price": "2.5"}
	if _, err := m.Predict(t.Context(), []kft.Cell{cell}); err != nil {
		t.Error(err)
	}
	delete(cell, "price")
	if _, err := m.Predict(t.Context(), []kft.Cell{cell}); err == nil || !strings.Contains(err.Error(), `covariate "price"`) || strings.Contains(err.Error(), "promo") {
		t.Errorf("a cell without its price: %v", err)
	}
}
