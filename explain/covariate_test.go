package explain_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/explain"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// TestCovariates checks that a covariate has one part and a curve.
func TestCovariates(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	table.WriteString("store,item,month,price,units\n")
	for s := range 5 {
		for i := range 8 {
			for m := range 12 {
				price := 1 + float64((s*7+i*5+m*11)%40)/10
				fmt.Fprintf(&table, "s%d,i%d,2023-%02d,%g,%g\n", s, i, m+1, price, 10+float64(s)+float64(i)-2*price+math.Sin(float64(s*31+i*17+m*13))/5)
			}
		}
	}
	s := spec.Default()
	s.Data.Target, s.Data.Modes, s.Data.Covariates = "units", []string{"store", "item", "month"}, []string{"price"}
	s.Terms, s.Uncertainty.Inference = []string{"store", "item", "price"}, "mean-field"
	s.Fit = spec.Fit{Sweeps: 8}
	s.Fill()
	m, _, err := train.ReadAndFit(t.Context(), s, tableio.Reader("table", strings.NewReader(table.String())), train.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	x, err := explain.New(reload(t, m))
	if err != nil {
		t.Fatal(err)
	}
	got, err := x.Cells(t.Context(), []model.Cell{{"store": "s1", "item": "i3", "month": "2023-05", "price": "4.5"}}, explain.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sum, found := got[0].Average, 0
	for _, p := range got[0].Parts {
		sum += p.Value
		if p.Mode == "price" {
			found++
			if p.Source != explain.Value || p.ID != "4.5" || p.Value > -2 {
				t.Errorf("got part %+v, want a value that lowers the level", p)
			}
		}
	}
	if found != 1 || math.Abs(sum-got[0].Level) > 1e-12 {
		t.Errorf("got %d parts of the price, and the sum %v, want 1 and %v", found, sum, got[0].Level)
	}
	for _, n := range got[0].Neighbours {
		if n.Mode == "price" {
			t.Error("a price has neighbours")
		}
	}
	curves, err := x.Curves(3, 0)
	if err != nil || len(curves) != 1 || len(curves[0].Points) < 20 {
		t.Fatalf("got curves %+v, %v", curves, err)
	}
	first, last := curves[0].Points[0], curves[0].Points[len(curves[0].Points)-1]
	if first.X == nil || *first.X >= *last.X || first.Effect-last.Effect < 5 {
		t.Errorf("got the curve from %+v to %+v, want it to fall by 2 per unit of price", first, last)
	}
}

// linearModel returns a model of y = 2a - b + noise, with some values of b missing. Terms are those of the specification.
func linearModel(t *testing.T, terms ...string) (*model.Model, string) {
	t.Helper()
	var table strings.Builder
	table.WriteString("a,b,y\n")
	for i := range 200 {
		a, b := math.Sin(float64(7*i)), math.Cos(float64(3*i))
		text := fmt.Sprintf("%.4f", b)
		if i%20 == 7 {
			text = ""
		}
		fmt.Fprintf(&table, "%.4f,%s,%.4f\n", a, text, 2*a-b+math.Sin(float64(31*i))/5)
	}
	s := spec.Default()
	s.Data.Target, s.Data.Modes, s.Data.Duplicates = "y", []string{"number(a)", "number(b)", "linear(a+b)", "linear2=linear(a+b)"}, "keep"
	s.Terms, s.Uncertainty.Inference = terms, "mean-field"
	s.Fit = spec.Fit{Sweeps: 8}
	s.Fill()
	m, _, err := train.ReadAndFit(t.Context(), s, tableio.Reader("table", strings.NewReader(table.String())), train.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	return reload(t, m), table.String()
}

// TestChangedNumberOfALine checks that a number without a curve of its own can be changed to one that no row has: a linear function
// has it.
func TestChangedNumberOfALine(t *testing.T) {
	t.Parallel()
	m, _ := linearModel(t, "linear")
	got, err := explain.Cells(t.Context(), m, []model.Cell{{"a": "0", "b": "0"}}, explain.Options{WhatIf: []explain.Change{{Mode: "a", Value: "0.5"}}})
	if err != nil {
		t.Fatal(err)
	}
	if rise := got[0].WhatIf.Prediction - got[0].Prediction; math.Abs(rise-1) > 0.1 {
		t.Errorf("the prediction rises by %g, want 1", rise)
	}
}

// TestPartsOfALine checks that each number of a linear function has a part of its own, its coefficient times the difference from its mean,
// that curves of the number are part of it, and that the parts sum to the level.
func TestPartsOfALine(t *testing.T) {
	t.Parallel()
	for _, terms := range [][]string{{"linear"}, {"linear", "a"}} {
		m, _ := linearModel(t, terms...)
		got, err := explain.Cells(t.Context(), m, []model.Cell{{"a": "0.9", "b": "0.5"}, {"a": "-0.4", "b": "0.5"}, {"a": "-0.4", "b": "0.9123"}, {"a": "-0.4", "b": ""}}, explain.Options{})
		if err != nil {
			t.Fatal(err)
		}
		parts := make([]map[string]explain.Part, len(got))
		for i, e := range got {
			sum := e.Average
			parts[i] = map[string]explain.Part{}
			for _, p := range e.Parts {
				sum += p.Value
				parts[i][p.Mode] = p
				if p.Source != explain.Value || p.ID != cmp.Or(e.Cell[p.Mode], "NA") {
					t.Errorf("terms %v, cell %v: got part %+v", terms, e.Cell, p)
				}
			}
			if math.Abs(sum-e.Level) > 1e-12 || len(e.Parts) != 2 {
				t.Errorf("terms %v, cell %v: parts %v sum to %v, want parts of a and b that sum to %v", terms, e.Cell, e.Parts, sum, e.Level)
			}
		}
		if a, b := parts[0]["a"].Value-parts[1]["a"].Value, parts[0]["b"].Value-parts[1]["b"].Value; math.Abs(a-(got[0].Level-got[1].Level)) > 1e-5 || math.Abs(b) > 1e-6 || math.Abs(a-2.6) > 0.2 {
			t.Errorf("terms %v: if a alone changes, the parts of a and b change by %g and %g, want %g and 0", terms, a, b, got[0].Level-got[1].Level)
		}
		// The means of a and b over the rows are near 0, so parts are near 2a and -b.
		if p := parts[2]["b"].Value; math.Abs(p+0.9123) > 0.1 {
			t.Errorf("terms %v: the part of b = 0.9123 is %g, want about -0.91", terms, p)
		}
	}
}

// TestImportancesOfALine checks that each number of a linear function has an importance, and that a curve of the number is exchanged with it.
func TestImportancesOfALine(t *testing.T) {
	t.Parallel()
	for _, terms := range [][]string{{"linear"}, {"linear", "a"}, {"linear", "linear2", "b"}} {
		m, table := linearModel(t, terms...)
		got, err := explain.Model(t.Context(), m, new(tableio.Reader("table", strings.NewReader(table))), model.TableOptions{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		loss := map[string]float64{}
		for _, i := range got.Importances {
			loss[i.Mode] = i.Loss
		}
		// Of the variance of 2a - b a has four fifths, and exchanging values at random takes twice that.
		if len(loss) != 2 || math.Abs(loss["a"]-1.6) > 0.3 || math.Abs(loss["b"]-0.4) > 0.15 {
			t.Errorf("terms %v: got importances %v, want a about 1.6 and b about 0.4", terms, loss)
		}
	}
}

// TestNumberOfALineBeyondTheRange checks that predictions name the number of a linear function that lies beyond the range of the fit, once
// if other terms use it too.
func TestNumberOfALineBeyondTheRange(t *testing.T) {
	t.Parallel()
	for _, terms := range [][]string{{"linear"}, {"linear", "a"}, {"linear", "linear2", "a"}} {
		m, _ := linearModel(t, terms...)
		got, err := explain.Cells(t.Context(), m, []model.Cell{{"a": "7", "b": "0.5"}, {"a": "0.5", "b": ""}}, explain.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if err := got[0].WriteText(&text); err != nil || !slices.Equal(got[0].FromSide, []string{"a"}) || len(got[1].FromSide) > 0 || !strings.Contains(text.String(), "The a 7 lies beyond the range of the fit.") {
			t.Errorf("terms %v: got %q and %q, want a alone in the first cell; %v\n%s", terms, got[0].FromSide, got[1].FromSide, err, text.String())
		}
		var out strings.Builder
		sum, err := m.PredictTable(t.Context(), tableio.Reader("table", strings.NewReader("a,b\n7,.5\n.5,-7\n-7,8\n0,\n")), &out, model.TableOptions{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		var unseen []string
		for line := range strings.Lines(out.String()) {
			unseen = append(unseen, strings.TrimSpace(line[strings.LastIndex(line, ",")+1:]))
		}
		if want := []string{"unseen", "a:side", "b:side", "a:side+b:side", ""}; !slices.Equal(unseen, want) || !slices.Equal(sum.Side, []int{2, 2, 0, 0}) {
			t.Errorf("terms %v: got the column %q and the counts %v, want %q and 2 rows of each number", terms, unseen, sum.Side, want)
		}
	}
}
