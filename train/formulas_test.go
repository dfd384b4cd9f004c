package train

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/spec"
)

// monthlySales writes the sales of 20 shops in 40 months, with the values of the last
// testMonths months multiplied.
func monthlySales(testMonths int, times float64) string {
	var b strings.Builder
	b.WriteString("shop,year,month,units\n")
	for shop := range 20 {
		for m := range 40 {
			units := 50 + 10*float64(shop*m%7) + 30*math.Sin(float64(m)*math.Pi/6+float64(shop))
			if m >= 40-testMonths {
				units *= times
			}
			fmt.Fprintf(&b, "s%d,%d,%d,%.3f\n", shop, 2012+m/12, m%12+1, units)
		}
	}
	return b.String()
}

func monthlySpec(split string) spec.Spec {
	s := spec.Spec{Data: spec.Data{Files: []string{"sales"}, Target: "units", Modes: []string{"shop", "time=year+month"}},
		Split: split, Terms: []string{"shop"}, Fit: spec.Fit{Sweeps: 2}}
	s.Fill()
	return s
}

func fitTable(t *testing.T, s spec.Spec, text string) *Report {
	t.Helper()
	_, r, err := ReadAndFit(t.Context(), s, tableio.Reader("sales", strings.NewReader(text)), Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A split by time is compared with formulas that look back. Their choice does not depend
// on the test rows, and the report says that the model is behind.
func TestFormulasUnderTimeSplit(t *testing.T) {
	t.Parallel()
	s := monthlySpec("time:last=3")
	r := fitTable(t, s, monthlySales(3, 1))
	best, ok := r.BestFormula()
	if !ok || best.Name != "same month of the last year by shop" || best.Test.R2 < 0.2 {
		t.Errorf("best is %q with R2 %g, want the same month of the last year", best.Name, best.Test.R2)
	}
	if len(r.Warnings) == 0 || !strings.Contains(r.Warnings[len(r.Warnings)-1], "behind the best formula") {
		t.Errorf("got warnings %q, want one that the model is behind", r.Warnings)
	}
	other := fitTable(t, s, monthlySales(3, -1000))
	for i, f := range r.Baseline {
		if o := other.Baseline[i]; o.Name != f.Name || o.Setting != f.Setting || o.Valid.RMSE != f.Valid.RMSE {
			t.Errorf("formula %d: %q (%s) became %q (%s) with other test values", i, f.Name, f.Setting, o.Name, o.Setting)
		}
	}
	r = fitTable(t, monthlySpec("random:60/20/20"), monthlySales(3, 1))
	for _, f := range r.Baseline {
		if strings.Contains(f.Name, "last") {
			t.Errorf("%q for a random split", f.Name)
		}
	}
}

// Without validation and test rows the formulas are measured on the training rows.
func TestFormulasWithoutOtherParts(t *testing.T) {
	t.Parallel()
	r := fitTable(t, monthlySpec("random:100/0/0"), monthlySales(3, 1))
	for i, f := range r.Baseline {
		if f.Train.N != 800 || f.Valid.N != 0 || f.Test.N != 0 || math.IsNaN(f.Train.R2) || f.Best != (i == 0) {
			t.Errorf("%+v", f)
		}
	}
}

// The model is compared with formulas on the rows that these were measured on, which are a sample of those of a large
// table.
func TestFormulasOfASample(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("store,item,units\n")
	for i := range 40_000 {
		store, item := i%40, i/40
		fmt.Fprintf(&text, "%d,%d,%d\n", store, item, store+(item*item)%97+i%3)
	}
	for _, split := range []string{"random:80/10/10", "random:80/20/0"} {
		s := monthlySpec(split)
		s.Data.Modes, s.Terms = []string{"store", "item"}, []string{"store", "item"}
		_, r, err := ReadAndFit(t.Context(), s, tableio.Reader("sales", strings.NewReader(text.String())), Options{Threads: 1, manyRows: 1 << 14})
		if err != nil {
			t.Fatal(err)
		}
		part, ours := r.AgainstFormulas()
		_, all := r.Judged()
		best, _ := r.BestFormula()
		if r.Compared == nil || ours.N != best.Of(part).N || ours.N >= all.N || ours.MAE == all.MAE || !(ours.R2 > 0.9) {
			t.Errorf("%s: the model is compared on %d of %d rows, R2 %.3f, the formula on %d", split, ours.N, all.N, ours.R2, best.Of(part).N)
		}
	}
}

// fitTwice returns the reports of a posterior and of its refit on the training and validation set.
func fitTwice(t *testing.T, s spec.Spec, text string) (first, again *Report) {
	t.Helper()
	s.Uncertainty.Inference, s.Fit.Solver = "mean-field", "cavi"
	data, err := Read(t.Context(), s, tableio.Reader("sales", strings.NewReader(text)), Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	m, first, err := Fit(t.Context(), s, data, Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, again, err = Refit(t.Context(), m, first, data, spec.RefitValid, Options{Threads: 1}); err != nil || again.Refit == nil {
		t.Fatalf("there was no refit: %v, %q", err, again.Warnings)
	}
	return first, again
}

// Formulas of the last values do not predict the periods before them, so no median comes from these: with few validation rows
// the mean of a formula is its median, after a refit on them too.
func TestFormulaMediansOfRefit(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("shop,year,month,units\n")
	for m := range 60 {
		for shop := range 4 {
			fmt.Fprintf(&text, "s%d,%d,%d,%.2f\n", shop, 2012+m/12, m%12+1, 100+float64(shop)+4*float64(m)+10*math.Sin(float64(m)*math.Pi/6))
		}
	}
	_, r := fitTwice(t, monthlySpec("time:last=6"), text.String())
	for _, f := range r.Baseline {
		if f.Test.MAE > f.Test.RMSE || f.Test.MAE < f.Test.RMSE/2 {
			t.Errorf("%s has RMSE %.2f and MAE %.2f", f.Name, f.Test.RMSE, f.Test.MAE)
		}
	}
}

// With many validation rows the medians of the first training are those of the refit.
func TestFormulaMedianIsKept(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("shop,year,month,units\n")
	for m := range 12 {
		for shop := range 3000 {
			units := 1.0
			if (shop+m)%4 == 0 {
				units = 10 // the median is far below the mean
			}
			fmt.Fprintf(&text, "s%d,%d,%d,%g\n", shop, 2012, m+1, units)
		}
	}
	before, r := fitTwice(t, monthlySpec("time:last=2"), text.String())
	first := before.MedianOf("mean of all rows")
	if first == nil || !(first.Factor < 0.5) {
		t.Fatalf("got the median %+v of the mean", first)
	}
	for _, f := range r.Baseline {
		if f.Name == "mean of all rows" && !(f.Test.MAE < 2.5) { // that of 1 is 2.25, that of the mean 3.4
			t.Errorf("got the MAE %.3f of the mean of all rows", f.Test.MAE)
		}
	}
}

// After a random split too a refit has the medians of the first training: those of the rows that a formula is fitted to
// are not those of new rows.
func TestFormulaMediansOfNewRows(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 0))
	var text strings.Builder
	text.WriteString("shop,item,units\n")
	level := 0.0
	for i := range 6000 {
		if i%5 == 0 {
			level = 1.5 * random.NormFloat64()
		}
		fmt.Fprintf(&text, "s%d,i%d,%.3f\n", i/5, i%5, math.Exp(level+random.NormFloat64()))
	}
	s := monthlySpec("random:60/20/20")
	s.Data.Modes, s.Terms = []string{"shop", "item"}, []string{"shop", "item"}
	_, r := fitTwice(t, s, text.String())
	if best, _ := r.BestFormula(); !(best.Test.MAE < 3.43) { // 3.41, and 3.47 with medians of the training rows
		t.Errorf("%s has the MAE %.4f", best.Name, best.Test.MAE)
	}
}
