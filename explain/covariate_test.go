package explain_test

import (
	"fmt"
	"math"
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

// TestChangedNumberOfALine checks that a number without a curve of its own can be changed to one that no row has: a linear function
// has it.
func TestChangedNumberOfALine(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	table.WriteString("a,b,y\n")
	for i := range 200 {
		a, b := math.Sin(float64(7*i)), math.Cos(float64(3*i))
		fmt.Fprintf(&table, "%.4f,%.4f,%.4f\n", a, b, 2*a-b+math.Sin(float64(31*i))/5)
	}
	s := spec.Default()
	s.Data.Target, s.Data.Modes, s.Data.Duplicates = "y", []string{"number(a)", "number(b)", "linear(a+b)"}, "keep"
	s.Terms, s.Uncertainty.Inference = []string{"linear"}, "mean-field"
	s.Fit = spec.Fit{Sweeps: 8}
	s.Fill()
	m, _, err := train.ReadAndFit(t.Context(), s, tableio.Reader("table", strings.NewReader(table.String())), train.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	got, err := explain.Cells(t.Context(), reload(t, m), []model.Cell{{"a": "0", "b": "0"}}, explain.Options{WhatIf: []explain.Change{{Mode: "a", Value: "0.5"}}})
	if err != nil {
		t.Fatal(err)
	}
	if rise := got[0].WhatIf.Prediction - got[0].Prediction; math.Abs(rise-1) > 0.1 {
		t.Errorf("the prediction rises by %g, want 1", rise)
	}
}
