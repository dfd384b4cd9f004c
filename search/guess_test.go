package search_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/guess"
	"github.com/kernel-fried-tensor/kft/dataset/split"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/search"
	"github.com/kernel-fried-tensor/kft/spec"
)

// TestCompleteRepeats checks the rule for ratings of the same cell, whose rows must not be
// merged if their parts or covariates may differ, and which columns may be covariates.
func TestCompleteRepeats(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("school,gender,age,entry,part,score\n")
	for i := range 600 {
		fmt.Fprintf(&text, "s%02d,%s,%d,%.3f,%s,%d\n", i%20, []string{"m", "f"}[i/20%2], i%7-3, float64(i*i%997)/100, []string{"train", "test"}[i/40%2], i*i%11)
	}
	file := filepath.Join(t.TempDir(), "scores.csv")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		split      string
		covariates []string
		want       string
	}{
		{"", nil, "keep"},
		{"column:part", nil, "keep"},
		{"", []string{"entry"}, "keep"},
	} {
		s := spec.Spec{Split: c.split, Data: spec.Data{Files: []string{file}, Covariates: c.covariates}}
		g, err := search.Complete(&s, tableio.Source{}, false)
		if err != nil {
			t.Fatal(err)
		}
		if s.Data.Target != "score" || s.Data.Duplicates != c.want {
			t.Errorf("split %q, covariates %v: target %s, duplicates %s, want %s", c.split, c.covariates, s.Data.Target, s.Data.Duplicates, c.want)
		}
		for _, l := range g.LeftOut {
			if want := l.Column == "age" && c.covariates != nil || l.Column == "entry" && c.split != "" && c.covariates == nil; l.Covariate != want {
				t.Errorf("covariates %v: column %s (%s) may be a covariate: %v", c.covariates, l.Column, l.Reason, l.Covariate)
			}
		}
	}
}

// TestCompleteNumbers checks that a table of numbers alone has covariates in place of modes, and
// can be fitted with them.
func TestCompleteNumbers(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("area,slope,yield\n")
	for i := range 300 {
		fmt.Fprintf(&text, "%.2f,%.3f,%.2f\n", float64(i*i%997)/10, float64(i*i*i%991)/100, float64(i*i%997)/7+float64(i%13))
	}
	file := filepath.Join(t.TempDir(), "fields.csv")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s := spec.Spec{Data: spec.Data{Files: []string{file}}}
	if _, err := search.Complete(&s, tableio.Source{}, false); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(s.Data.Modes, " "); got != "covariate(area) covariate(slope)" || s.Data.Duplicates != "keep" {
		t.Errorf("got modes %s, duplicates %s", got, s.Data.Duplicates)
	}
	chosen := spec.Spec{Data: spec.Data{Files: []string{file}, Covariates: []string{"slope"}}}
	if _, err := search.Complete(&chosen, tableio.Source{}, false); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(chosen.Data.Modes, " "); got != "covariate(slope)" || chosen.Data.Duplicates != "keep" {
		t.Errorf("with one covariate: got modes %s, duplicates %s", got, chosen.Data.Duplicates)
	}
	s.Fill()
	s.Terms, s.Uncertainty.Inference = []string{"area", "slope"}, "mean-field"
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
}

// TestCompleteRecords checks that rows of persons are kept, whichever covariates and modes are given.
func TestCompleteRecords(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("region,education,age,income,satisfaction\n")
	for i := range 600 {
		fmt.Fprintf(&text, "r%d,%s,%d,%d,%d\n", i*i%4, []string{"low", "high"}[i/4%2], 18+i*i%61, 20000+i*i%9973, 1+i*i%10)
	}
	file := filepath.Join(t.TempDir(), "survey.csv")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, data := range []spec.Data{{}, {Covariates: []string{"age"}}, {Covariates: []string{"age"}, Modes: []string{"region", "education"}}} {
		s := spec.Spec{Data: data}
		s.Data.Files = []string{file}
		if _, err := search.Complete(&s, tableio.Source{}, false); err != nil {
			t.Fatal(err)
		}
		if data.Covariates != nil && strings.Join(s.Data.Covariates, " ") != "age" || s.Data.Duplicates != "keep" {
			t.Errorf("covariates %v, modes %v: got covariates %v and duplicates %s, want keep", data.Covariates, data.Modes, s.Data.Covariates, s.Data.Duplicates)
		}
	}
}

// TestCompleteCells checks that columns that describe cells become covariates beside the facts
// about ids, but not of forecasts, of terms that do not use them, and where the specification has
// none.
func TestCompleteCells(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("shop,town,month,price,promo,sales\n")
	for i := range 600 {
		fmt.Fprintf(&text, "s%02d,t%d,%d-%02d,%.2f,%d,%d\n", i%25, i%5, 2020+i/25/12, 1+i/25%12, 1+float64(i*i%97)/50, i*i%11/6, 10+i*i*i%53)
	}
	file := filepath.Join(t.TempDir(), "shops.csv")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		future bool
		target string
		split  string
		terms  []string
		given  []string
		want   string
	}{
		"rows at random":        {want: "price promo"},
		"after the table":       {future: true},
		"split by time":         {split: "time:last=3"},
		"a term uses one":       {terms: []string{"shop", "shop*price"}, want: "price"},
		"terms without them":    {terms: []string{"shop,time:2"}},
		"one is named":          {given: []string{"promo"}, want: "promo"},
		"none":                  {given: []string{"none"}},
		"automatic terms":       {terms: []string{"auto"}, want: "price promo"},
		"several targets":       {target: "sales,price"},
		"a split into entities": {split: "entity:shop=20%", want: "price promo"},
	} {
		s := spec.Spec{Split: c.split, Terms: c.terms, Data: spec.Data{Files: []string{file}, Target: c.target, Covariates: c.given}}
		if _, err := search.Complete(&s, tableio.Source{}, c.future); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := strings.Join(s.Data.NamedCovariates(), " "); got != c.want || strings.Join(s.Data.Modes, " ") != "shop time=month" {
			t.Errorf("%s: got covariates %s of modes %v, want %s", name, got, s.Data.Modes, c.want)
		}
		if facts := len(s.Side.Tables) > 0; facts != (c.split != "time:last=3" && (c.terms == nil || c.terms[0] == "auto")) {
			t.Errorf("%s: side tables %q", name, s.Side.Tables)
		}
		s.Fill()
		if err := s.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Of a panel in which a few cells have two rows these are kept where they differ in covariates, and
// are added up without covariates.
func TestCompleteCellsWithRepeats(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		future     bool
		given      []string
		duplicates string
		covariates string
	}{
		{false, nil, "keep", "price promo"},
		{false, []string{"price"}, "keep", "price"},
		{true, nil, "sum", ""},
		{false, []string{"none"}, "sum", ""},
	} {
		var text strings.Builder
		text.WriteString("shop,town,month,price,promo,sales\n")
		for i := range 600 {
			cell := fmt.Sprintf("s%02d,t%d,%d-%02d", i%25, i%5, 2020+i/25/12, 1+i/25%12)
			fmt.Fprintf(&text, "%s,%.2f,%d,%d\n", cell, 1+float64(i*i%97)/50, i*i%11/6, 10+i*i*i%53)
			if i%20 == 7 {
				fmt.Fprintf(&text, "%s,%.2f,0,%d\n", cell, 4+float64(i%13)/50, 3+i%17)
			}
		}
		file := filepath.Join(t.TempDir(), "shops.csv")
		if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		s := spec.Spec{Data: spec.Data{Files: []string{file}, Covariates: c.given}}
		if _, err := search.Complete(&s, tableio.Source{}, c.future); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(s.Data.NamedCovariates(), " ")
		if got != c.covariates || s.Data.Duplicates != c.duplicates || strings.Join(s.Data.Modes, " ") != "shop time=month" || len(s.Side.Tables) == 0 {
			t.Errorf("%+v: got covariates %s, duplicates %s, modes %v, side tables %v", c, got, s.Data.Duplicates, s.Data.Modes, s.Side.Tables)
		}
	}
}

// Which of many columns become covariates depends on the training rows alone: of columns without any effect, those that
// explain the test rows by chance would make the scores of a fit too good.
func TestCompleteKnowsNoTestRows(t *testing.T) {
	t.Parallel()
	const rows, columns = 200, 60
	random := rand.New(rand.NewPCG(1, 2))
	values := make([][]float64, rows)
	for i := range values {
		for range columns + 2 {
			values[i] = append(values[i], random.NormFloat64())
		}
	}
	parts, err := split.Parse("random:60/20/20")
	if err != nil {
		t.Fatal(err)
	}
	divided, err := parts.ApplyRandom(rows-1, 1)
	if err != nil {
		t.Fatal(err)
	}
	covariates := func(others int) string {
		var text strings.Builder
		for c := range columns {
			fmt.Fprintf(&text, "f%d,", c)
		}
		text.WriteString("y\n")
		for i, row := range values {
			for _, v := range row[:columns] {
				fmt.Fprintf(&text, "%.4f,", v)
			}
			switch k := i - min(i, 1); { // the second row has no target
			case i == 1:
				text.WriteString("\n")
			case divided.Parts[k] == dataset.Train:
				fmt.Fprintf(&text, "%.4f\n", row[columns])
			default:
				fmt.Fprintf(&text, "%.4f\n", float64(1+2*others)*row[columns+others])
			}
		}
		file := filepath.Join(t.TempDir(), "noise.csv")
		if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		s := spec.Spec{Data: spec.Data{Files: []string{file}}}
		g, err := search.Complete(&s, tableio.Source{}, false)
		if err != nil || len(g.Covariates) != guess.MostCovariates {
			t.Fatal(g.Covariates, err)
		}
		return strings.Join(g.Covariates, " ")
	}
	if one, other := covariates(0), covariates(1); one != other {
		t.Errorf("got covariates\n%s\nand with other targets of the validation and test set\n%s", one, other)
	}
}
