package automatic_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// Slopes of ids are found also if these have few rows each, beside a linear function of other columns.
func TestSlopesOfIDsAreFound(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	const ids, rows = 100, 800
	level, slope := make([]float64, ids), make([]float64, ids)
	for i := range ids {
		level[i], slope[i] = rng.NormFloat64(), rng.NormFloat64()
	}
	var text strings.Builder
	text.WriteString("g,x,u,v,w,y\n")
	for range rows {
		g, x, u, v, w := rng.IntN(ids), rng.Float64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
		fmt.Fprintf(&text, "g%d,%.3f,%.3f,%.3f,%.3f,%.3f\n", g, x, u, v, w, level[g]+4*slope[g]*(x-0.5)+(u+v+w)/3+0.5*rng.NormFloat64())
	}
	file := filepath.Join(t.TempDir(), "records.csv")
	writeFile(t, file, text.String())
	s := spec.Spec{Data: spec.Data{Files: []string{file}, Target: "y", Modes: []string{"g"}, Covariates: []string{"x", "u", "v", "w"}, Duplicates: "keep"}}
	_, r := mustFit(t, s, train.Options{Threads: 2})
	if !slices.Contains(r.Spec.Terms, "x,g:2") || r.Test.R2 < 0.75 { // .83 of the variance is no noise
		t.Errorf("got %q, test R2 %.3f, want x,g:2 among them and 0.75 at least", r.Spec.Terms, r.Test.R2)
	}
}

// Slopes of the ids of two modes along two numbers are trains, which tell them from few rows, instead of curves per id.
func TestSlopesOfTwoModes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 4))
	const ids, kinds, rows = 40, 12, 2000
	slope, other := make([]float64, ids), make([]float64, kinds)
	for i := range slope {
		slope[i] = rng.NormFloat64()
	}
	for i := range other {
		other[i] = rng.NormFloat64()
	}
	var text strings.Builder
	text.WriteString("g,h,x,z,y\n")
	for range rows {
		g, h, x, z := rng.IntN(ids), rng.IntN(kinds), rng.NormFloat64(), rng.NormFloat64()
		fmt.Fprintf(&text, "g%d,h%d,%.3f,%.3f,%.3f\n", g, h, x, z, slope[g]*x+other[h]*z+rng.NormFloat64())
	}
	file := filepath.Join(t.TempDir(), "records.csv")
	writeFile(t, file, text.String())
	s := spec.Spec{Data: spec.Data{Files: []string{file}, Target: "y", Modes: []string{"g", "h"}, Covariates: []string{"x", "z"}, Duplicates: "keep"}}
	_, r := mustFit(t, s, train.Options{Threads: 2})
	if !slices.Contains(r.Spec.Terms, "x,g:2") || !slices.Contains(r.Spec.Terms, "z,h:2") {
		t.Errorf("got %q, want x,g:2 and z,h:2 among them", r.Spec.Terms)
	}
}

// Of six covariates the two pairs whose effects depend on each other are found, and nothing else is taken.
func TestInteractionsOfCovariatesAreFound(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	var text strings.Builder
	text.WriteString("a,b,c,kind,flag,noise,y\n")
	for range 2500 {
		a, b, c, kind, flag := rng.Float64(), rng.Float64(), rng.Float64(), rng.IntN(4), rng.IntN(2)
		y := a + b + 4*(a-0.5)*(b-0.5) + c + float64(kind*flag)/2 + 0.2*rng.NormFloat64()
		fmt.Fprintf(&text, "%.4f,%.4f,%.4f,k%d,%d,%.4f,%.4f\n", a, b, c, kind, flag, rng.Float64(), y)
	}
	file := filepath.Join(t.TempDir(), "records.csv")
	writeFile(t, file, text.String())
	s := spec.Spec{Data: spec.Data{Files: []string{file}, Target: "y", Modes: []string{"kind"}, Covariates: []string{"a", "b", "c", "flag", "noise"}, Duplicates: "keep"}}
	_, r := mustFit(t, s, train.Options{Threads: 2})
	terms := r.Spec.Terms
	if !slices.Contains(terms, "a,b:3") || !slices.ContainsFunc(terms, func(t string) bool { return t == "kind*flag" }) {
		t.Errorf("got %q, want a,b:3 and kind*flag among them", terms)
	}
	for _, term := range terms {
		if strings.Contains(term, "noise") && strings.ContainsAny(term, ",*") && !strings.HasPrefix(term, "kind*") {
			t.Errorf("got the interaction %s with noise", term)
		}
	}
	if r.Test.R2 < 0.9 {
		t.Errorf("test R2 %.3f, want 0.9 at least", r.Test.R2)
	}
}

// Ids with few rows each have no curves of their own, which would be slow and hold what each row is.
func TestFewRowsHaveNoCurves(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 8))
	var text strings.Builder
	text.WriteString("id,year,x,y\n")
	const ids, years = 150, 4
	for id := range ids {
		slope := 2 * float64(id/(ids/2))
		if id < 12 { // those that residuals are grouped by
			slope = -20 * float64(id%2)
		}
		for year := range years {
			x := rng.Float64()
			fmt.Fprintf(&text, "n%d,%d,%.3f,%.3f\n", id, 2000+year, x, slope*(x-0.5)+0.1*rng.NormFloat64())
		}
	}
	file := filepath.Join(t.TempDir(), "panel.csv")
	writeFile(t, file, text.String())
	s := spec.Spec{Data: spec.Data{Files: []string{file}, Target: "y", Modes: []string{"id", "year"}, Covariates: []string{"x"}}, Split: "random:80/20/0"}
	_, r := mustFit(t, s, train.Options{Threads: 2})
	for _, d := range r.Decisions {
		for _, o := range d.Options {
			if strings.Contains(o.Value, "id*x") {
				t.Errorf("%s: %s is offered", d.Subject, o.Value)
			}
		}
	}
}

// Columns that describe cells and say nothing about the target are in no term, so that rows to
// predict need not have them.
func TestUselessCovariatesAreLeftOut(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 10))
	var text strings.Builder
	text.WriteString("store,month,staff,wind,sales\n")
	for i := range 20 * 24 {
		fmt.Fprintf(&text, "s%d,%d-%02d,%.2f,%.2f,%.2f\n", i/24, 2022+i%24/12, 1+i%12, rng.Float64(), rng.Float64(), 5+float64(i/24%7)+float64(i%12)/3+0.5*rng.NormFloat64())
	}
	file := filepath.Join(t.TempDir(), "sales.csv")
	writeFile(t, file, text.String())
	_, r := mustFit(t, spec.Spec{Data: spec.Data{Files: []string{file}}}, train.Options{Threads: 2})
	if terms := strings.Join(r.Spec.Terms, " + "); strings.Contains(terms, "staff") || strings.Contains(terms, "wind") || !strings.Contains(terms, "store") {
		t.Errorf("got the terms %s", terms)
	}
	offered := slices.ContainsFunc(r.Decisions, func(d model.Decision) bool { return d.Subject == "covariates" && len(d.Options) > 1 })
	if !offered {
		t.Errorf("the covariates were not compared: %+v", r.Decisions)
	}
}
