package automatic_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/fitrecord"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// Kinds of patients and kinds of genes interact differently in each of a few tissues. A train
// with the tissues inside finds it, wherever their column stands.
func TestSmallModeInside(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	const kinds, tissues = 4, 5
	var level [kinds][kinds][tissues]float64
	for i := range level {
		for j := range level[i] {
			for k := range level[i][j] {
				level[i][j][k] = rng.NormFloat64()
			}
		}
	}
	var text strings.Builder
	text.WriteString("patient,gene,tissue,expression\n")
	for patient := range 80 {
		for gene := range 60 {
			for tissue := range tissues {
				if rng.Float64() < 0.35 {
					fmt.Fprintf(&text, "p%d,g%d,t%d,%.3f\n", patient, gene, tissue, level[patient%kinds][gene%kinds][tissue]+0.5*rng.NormFloat64())
				}
			}
		}
	}
	file := filepath.Join(t.TempDir(), "expression.csv")
	writeFile(t, file, text.String())
	_, r := mustFit(t, spec.Spec{Data: spec.Data{Files: []string{file}}}, train.Options{Threads: 2})
	if !strings.HasPrefix(r.Spec.Terms[0], "patient,tissue,gene:") || r.Test.R2 < 0.78 {
		t.Errorf("got R2 %g with the terms %s, want 0.78 or more with patient,tissue,gene", r.Test.R2, strings.Join(r.Spec.Terms, " + "))
	}
}

// A rank that the automatic choice took is not one that a user gave: no warning says that it is
// reduced.
func TestChosenRanksAreCapped(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 8))
	var text strings.Builder
	text.WriteString("disease,state,year,cases\n")
	for disease := range 3 {
		for state := range 40 {
			for year := range 30 {
				fmt.Fprintf(&text, "d%d,s%d,%d,%.2f\n", disease, state, 1960+year, 10+float64(disease)+rng.NormFloat64())
			}
		}
	}
	file := filepath.Join(t.TempDir(), "cases.csv")
	writeFile(t, file, text.String())
	_, r := mustFit(t, spec.Spec{Data: spec.Data{Files: []string{file}}, Fit: spec.Fit{Effort: "quick"}}, train.Options{Threads: 2})
	if !strings.HasPrefix(r.Spec.Terms[0], "disease,state,year:3,") {
		t.Errorf("got the terms %s, want a train with a rank of 3, the number of diseases", strings.Join(r.Spec.Terms, " + "))
	}
	for _, w := range r.Warnings {
		if strings.Contains(w, "is reduced") {
			t.Errorf("got the warning %q", w)
		}
	}
}

// Two triples of five modes interact in every combination: effects of three modes find it.
func TestEffectsOfThreeModes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 10))
	var first, second [5][4][4]float64
	for i := range first {
		for j := range first[i] {
			for k := range first[i][j] {
				first[i][j][k], second[i][j][k] = rng.NormFloat64(), rng.NormFloat64()
			}
		}
	}
	var text strings.Builder
	text.WriteString("plant,product,line,shift,crew,output\n")
	for range 5200 {
		plant, product, line, shift, crew := rng.IntN(5), rng.IntN(5), rng.IntN(4), rng.IntN(4), rng.IntN(4)
		fmt.Fprintf(&text, "p%d,g%d,l%d,s%d,c%d,%.3f\n", plant, product, line, shift, crew, first[plant][line][shift]+second[product][shift][crew]+0.7*rng.NormFloat64())
	}
	file := filepath.Join(t.TempDir(), "output.csv")
	writeFile(t, file, text.String())
	modes := []string{"plant", "product", "line", "shift", "crew"}
	_, r := mustFit(t, spec.Spec{Data: spec.Data{Files: []string{file}, Target: "output", Modes: modes, Duplicates: "keep"}, Fit: spec.Fit{Sweeps: 8}}, train.Options{Threads: 2})
	for _, want := range []string{"plant*line*shift", "product*shift*crew"} {
		if !slices.Contains(r.Spec.Terms, want) || r.Test.R2 < 0.7 {
			t.Errorf("got R2 %g with the terms %s, want 0.7 or more with %s", r.Test.R2, strings.Join(r.Spec.Terms, " + "), want)
		}
	}
}

// Two measurements of each product by each assessor, who differ in their taste: the interaction has an effect per pair.
func TestRepeatedMeasurementsHavePairs(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	var text strings.Builder
	text.WriteString("assessor,product,day,sweetness\n")
	for a := range 14 {
		for p := range 20 {
			taste := rng.NormFloat64()
			for range 2 { // an assessor tastes a product on one day
				fmt.Fprintf(&text, "a%d,p%d,%d,%.2f\n", a, p, 1+(a*7+p*3)%97, 6+0.2*float64(a)+0.1*float64(p)+taste+0.4*rng.NormFloat64())
			}
		}
	}
	file := filepath.Join(t.TempDir(), "taste.csv")
	writeFile(t, file, text.String())
	_, r := mustFit(t, spec.Spec{Data: spec.Data{Files: []string{file}, Target: "sweetness", Modes: []string{"assessor", "product", "day"}, Duplicates: "keep"}}, train.Options{Threads: 2})
	if !slices.Contains(r.Spec.Terms, "assessor*product") || slices.Contains(r.Spec.Terms, "product*day") {
		t.Errorf("got the terms %s, want an effect of assessor*product only", strings.Join(r.Spec.Terms, " + "))
	}
	if best, _ := r.BestFormula(); r.Test.MAE > best.Test.MAE {
		t.Errorf("got MAE %g, worse than that of the best formula, %g", r.Test.MAE, best.Test.MAE)
	}
}

// Many users with a few yes or no each keep their effects beside pairs of the other modes.
func TestSingleModesFirst(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 12))
	normal := func(n int, sd float64) []float64 {
		values := make([]float64, n)
		for i := range values {
			values[i] = sd * rng.NormFloat64()
		}
		return values
	}
	users, ads, sites := normal(1200, 0.7), normal(60, 0.6), normal(20, 0.5)
	var text strings.Builder
	text.WriteString("user,ad,site,click\n")
	for range 18_000 {
		user, ad, site := rng.IntN(len(users)), rng.IntN(len(ads)), rng.IntN(len(sites))
		click := 0
		if rng.Float64() < 1/(1+math.Exp(2-users[user]-ads[ad]-sites[site])) {
			click = 1
		}
		fmt.Fprintf(&text, "u%d,a%d,s%d,%d\n", user, ad, site, click)
	}
	file := filepath.Join(t.TempDir(), "clicks.csv")
	writeFile(t, file, text.String())
	for _, effort := range []string{"normal", "quick"} {
		s := spec.Spec{Data: spec.Data{Files: []string{file}, Target: "click", Modes: []string{"user", "ad", "site"}, Duplicates: "keep"}, Fit: spec.Fit{Effort: effort}}
		_, r := mustFit(t, s, train.Options{Threads: 2})
		if !slices.ContainsFunc(r.Terms, func(term fitrecord.TermContribution) bool { return term.Term == "user" && term.Share > 0.05 }) {
			t.Errorf("%s: R2 %g: the effect of user has no share in the terms %+v", effort, r.Test.R2, r.Terms)
		}
	}
}
