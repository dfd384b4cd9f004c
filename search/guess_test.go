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
	for _, c := range []struct {
		split string
		files int
	}{{"random:60/20/20", 1}, {"random:60/20/20", 3}, {"column:part", 1}, {"column:part", 2}, {"file:", 1}, {"file:", 2}, {"entity:shop=20%", 1}, {"time:last=4", 1}} {
		t.Run(fmt.Sprintf("%s of %d", c.split, c.files), func(t *testing.T) {
			t.Parallel()
			noise := newNoiseTable(t, c.split)
			one, parts := noise.covariates(c.files, nil)
			other, _ := noise.covariates(c.files, parts)
			if one != other {
				t.Errorf("got covariates\n%s\nand with other targets of the validation and test set\n%s", one, other)
			}
		})
	}
}

// noiseTable is a table of records with many columns without any effect.
type noiseTable struct {
	t      *testing.T
	split  string
	head   string
	rows   []string // without the target
	target [2][]float64
}

func newNoiseTable(t *testing.T, how string) *noiseTable {
	const rows, columns = 300, 60
	random := rand.New(rand.NewPCG(1, 2))
	n := &noiseTable{t: t, split: how, head: "shop,date,part,"}
	for c := range columns {
		n.head += fmt.Sprintf("f%d,", c)
	}
	parts := "part\n"
	for range rows {
		part := []string{"train", "train", "train", "valid", "test"}[random.IntN(5)]
		parts += part + "\n"
		row := fmt.Sprintf("s%d,2024-%02d-01,%s,", random.IntN(20), 1+random.IntN(12), part)
		for range columns {
			row += fmt.Sprintf("%.4f,", random.NormFloat64())
		}
		n.rows = append(n.rows, row)
		for k := range n.target {
			n.target[k] = append(n.target[k], float64(1+2*k)*random.NormFloat64())
		}
	}
	if how == "file:" {
		n.split += filepath.Join(t.TempDir(), "parts.csv")
		if err := os.WriteFile(n.split[len(how):], []byte(parts), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// covariates returns the covariates of the table in so many files and the part of each row. The rows of given parts other than the
// training set have other targets.
func (n *noiseTable) covariates(files int, parts []dataset.Part) (string, []dataset.Part) {
	s := spec.Spec{Split: n.split}
	for f := range files {
		text := n.head + "y\n"
		for i := f * len(n.rows) / files; i < (f+1)*len(n.rows)/files; i++ {
			text += n.rows[i]
			switch {
			case i == 1: // it has no target
			case parts == nil || parts[i] == dataset.Train:
				text += fmt.Sprintf("%.4f", n.target[0][i])
			default:
				text += fmt.Sprintf("%.4f", n.target[1][i])
			}
			text += "\n"
		}
		s.Data.Files = append(s.Data.Files, filepath.Join(n.t.TempDir(), "noise.csv"))
		if err := os.WriteFile(s.Data.Files[f], []byte(text), 0o600); err != nil {
			n.t.Fatal(err)
		}
	}
	g, err := search.Complete(&s, tableio.Source{}, false)
	if err != nil || len(g.Covariates) != guess.MostCovariates {
		n.t.Fatal(g, err)
	}
	how, err := split.Parse(n.split)
	if err != nil {
		n.t.Fatal(err)
	}
	s.Fill()
	schema, format, err := s.Data.Table()
	if err != nil {
		n.t.Fatal(err)
	}
	schema.Part = how.Column()
	table, err := tableio.Read(n.t.Context(), tableio.Files(s.Data.Files...), schema, format, 1)
	if err != nil {
		n.t.Fatal(err)
	}
	divided, err := how.Apply(table, s.Seed)
	if err != nil {
		n.t.Fatal(err)
	}
	found := make([]dataset.Part, len(n.rows))
	for k, part := range divided.Parts {
		found[table.SourceRow(k)] = part
	}
	return strings.Join(g.Covariates, " "), found
}
