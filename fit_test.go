package kft_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/internal/testtable"
)

func TestFitBeatsBaselines(t *testing.T) {
	t.Parallel()
	_, r := fit(t, salesSpec(testtable.WriteSales(t, 5000)), kft.Options{})
	if got, want := [3]int{r.Train.N, r.Valid.N, r.Test.N}, [3]int{3000, 1000, 1000}; got != want {
		t.Errorf("rows of the training, validation and test set: got %v, want %v", got, want)
	}
	if best, ok := r.BestFormula(); !ok || best.Name != r.Baseline[0].Name || len(r.Baseline) < 10 {
		t.Errorf("got %d formulas, the best is %q; want all pairs and factors, the best first", len(r.Baseline), best.Name)
	}
	for _, b := range r.Baseline {
		if r.Test.R2Scale <= b.Test.R2Scale || r.Test.MAE >= b.Test.MAE {
			t.Errorf("baseline %q: got R2 %g and MAE %g on the test set, want better than %g and %g", b.Name, r.Test.R2Scale, r.Test.MAE, b.Test.R2Scale, b.Test.MAE)
		}
	}
	if r.Passes == 0 || r.Seconds["total"] <= 0 {
		t.Errorf("got %d passes in %g s, want both positive", r.Passes, r.Seconds["total"])
	}
	if r.Spec.Seed != 1 {
		t.Errorf("got seed %d in the report, want the default 1", r.Spec.Seed)
	}
	jsonOf(t, r) // a report can be encoded
}

// TestFormulasOfShocks checks that a shock in the few validation periods does not move the
// formulas that are compared with the model: their MAE is that of the rule which they name.
func TestFormulasOfShocks(t *testing.T) {
	t.Parallel()
	table := "shop,month,sales\n"
	for shop := range 4 {
		for k := range 36 {
			level := 100
			if k >= 24 && k < 30 {
				level = 50
			}
			table += fmt.Sprintf("s%d,%d-%02d,%d\n", shop, 2020+k/12, k%12+1, level+10*shop+k%2)
		}
	}
	_, r := fit(t, kft.Spec{Data: kft.DataSpec{Files: []string{writeFile(t, "shocks.csv", table)}, Target: "sales", Modes: []string{"shop", "month"}},
		Split: "time:last=6", Terms: []string{"shop"}}, kft.Options{})
	for _, b := range r.Baseline {
		if b.Test.MAE > b.Test.RMSE {
			t.Errorf("formula %q: got MAE %g above RMSE %g", b.Name, b.Test.MAE, b.Test.RMSE)
		}
	}
}

// TestFitIgnoresTestSet checks that neither ids nor targets of the test set affect the
// penalty or the score of the validation set.
func TestFitIgnoresTestSet(t *testing.T) {
	t.Parallel()
	table := testtable.WriteSales(t, 2000)
	lines := linesOf(readFile(t, table))
	parts := []string{"part"}
	changed := []string{lines[0]}
	for i, line := range lines[1:] {
		part := [...]string{"train", "train", "train", "valid", "test"}[i%5]
		parts = append(parts, part)
		if part == "test" {
			f := strings.Split(line, ",")
			f[2], f[4] = "other"+f[2], "77"
			line = strings.Join(f, ",")
		}
		changed = append(changed, line)
	}
	split := writeFile(t, "split.csv", strings.Join(parts, "\n")+"\n")
	fitTo := func(file string) *kft.Report {
		spec := salesSpec(file)
		spec.Split = "file:" + split
		_, r := fit(t, spec, kft.Options{})
		return r
	}
	want := fitTo(table)
	got := fitTo(writeFile(t, "changed.csv", strings.Join(changed, "\n")+"\n"))
	if got.Ridge != want.Ridge {
		t.Errorf("with another test set: got ridge %v, want %v", got.Ridge, want.Ridge)
	}
	if got, want := jsonOf(t, got.Valid), jsonOf(t, want.Valid); got != want {
		t.Errorf("with another test set: got validation score %s, want %s", got, want)
	}
}

// TestFitRejectsInvalidInput checks the messages of errors in the table and in the
// specification.
func TestFitRejectsInvalidInput(t *testing.T) {
	t.Parallel()
	table := testtable.WriteSales(t, 300)
	useTable := func(text string) func(*kft.Spec) {
		path := writeFile(t, "t.csv", text)
		return func(s *kft.Spec) { s.Data.Files = []string{path} }
	}
	for _, test := range []struct {
		name   string
		change func(*kft.Spec)
		want   string
	}{
		{"constant target", useTable("store,item,year,month,units\na,x,1,1,3\nb,y,1,2,3\na,y,1,2,3\nb,x,1,1,3\na,x,1,2,3\n"), "nothing to learn"},
		{"mode with one id", useTable("store,item,year,month,units\na,x,1,1,3\na,y,1,2,4\na,x,1,2,5\na,y,1,1,5\na,z,1,1,5\n"), `mode "store" has only one id, "a"`},
		{"negative target", useTable("store,item,year,month,units\na,x,1,1,3\nb,y,1,2,-4\nb,x,1,2,5\na,y,1,1,5\na,z,1,1,5\n"), "data row 2, column units"},
		{"negative target in the test set", func(s *kft.Spec) {
			useTable("store,item,year,month,units,part\na,x,1,1,3,train\nb,y,1,2,4,train\nb,x,1,2,5,valid\na,y,1,1,-5,test\na,z,1,1,5,train\n")(s)
			s.Split = "column:part"
		}, "data row 4, column units: the target -5"},
		{"misspelled mode", func(s *kft.Spec) { s.Terms = []string{"store,itme:3"} }, `did you mean "item"?`},
		{"unknown transform", func(s *kft.Spec) { s.Transform = "log" }, "log1p"},
		{"misspelled column", func(s *kft.Spec) { s.Data.Target = "unit" }, `"units"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec := salesSpec(table)
			test.change(&spec)
			_, _, err := kft.Fit(t.Context(), spec, kft.Source{}, kft.Options{})
			checkErrorText(t, err, test.want)
		})
	}
}

// TestFitOptionsOfSpec fits models with various terms, transforms, weights, solvers and
// splits, and loads their files.
func TestFitOptionsOfSpec(t *testing.T) {
	t.Parallel()
	table := testtable.WriteSales(t, 4000)
	for name, change := range map[string]func(*kft.Spec){
		"effects":       func(s *kft.Spec) { s.Terms = []string{"store", "item", "store*item"} },
		"default terms": func(s *kft.Spec) { s.Terms = nil },
		"four cores": func(s *kft.Spec) {
			s.Data.Modes = []string{"store", "item", "year", "month"}
			s.Terms = []string{"store,item,year,month:3,3,2"}
		},
		"joint core":    func(s *kft.Spec) { s.Terms = []string{"store,item*time:3"} },
		"sqrt":          func(s *kft.Spec) { s.Transform = "sqrt" },
		"cbrt1p":        func(s *kft.Spec) { s.Transform = "cbrt1p" },
		"identity":      func(s *kft.Spec) { s.Transform = "identity" },
		"weight":        func(s *kft.Spec) { s.Data.Weight = "month" },
		"adam":          func(s *kft.Spec) { s.Fit.Solver, s.Fit.LearningRate = "adam", 0.03 },
		"adam block":    func(s *kft.Spec) { s.Fit.Solver, s.Fit.Schedule, s.Fit.LearningRate = "adam", "block", 0.03 },
		"time split":    func(s *kft.Spec) { s.Split = "time:last=2" },
		"no validation": func(s *kft.Spec) { s.Split = "random:80/0/20" },
		"no test":       func(s *kft.Spec) { s.Split = "random:80/20/0" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := salesSpec(table)
			spec.Fit.Sweeps, spec.Fit.Epochs = 4, 25
			change(&spec)
			m, r := fit(t, spec, kft.Options{})
			if got := r.Train.R2Scale; !(got > 0 && got <= 1) {
				t.Errorf("got R2 %g on the training set, want a value in (0, 1]", got)
			}
			reload(t, m)
		})
	}
}

// TestProgressReportsValidationR2 compares the best R2 of the progress events with the
// report.
func TestProgressReportsValidationR2(t *testing.T) {
	t.Parallel()
	best := math.Inf(-1)
	_, r := fit(t, salesSpec(testtable.WriteSales(t, 1000)), kft.Options{Progress: func(e kft.Event) {
		if e.ValidR2 != nil {
			best = max(best, *e.ValidR2)
		}
	}})
	if math.Abs(best-r.Valid.R2Scale) > 1e-4 {
		t.Errorf("got a best R2 of %g from progress events, want that of the report, %g", best, r.Valid.R2Scale)
	}
}
