package summary

import (
	"math"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/dataset"
)

// The comparison is with the best formula only, even if another is better on the test
// set, and states both measures.
func TestComparison(t *testing.T) {
	t.Parallel()
	formulas := []kft.BaselineScores{{Name: "first", Best: true, Test: kft.Score{N: 9, R2: 0.6, MAE: 2}}, {Name: "second", Test: kft.Score{N: 9, R2: 0.9, MAE: 0.5}}}
	for _, c := range []struct {
		model kft.Score
		says  []string
		not   []string
	}{
		{kft.Score{N: 9, R2: 0.7, MAE: 1}, []string{`The model beats the best formula, "first", on test: R2 0.7000 against 0.6000 (+0.1000), MAE 1.000 against 2.000 (-50.0 %).`}, nil},
		{kft.Score{N: 9, R2: 0.55, MAE: 1}, []string{`beats the best formula, "first", on test in one measure only: MAE 1.000 against 2.000 (-50.0 %); but R2 0.5500 against 0.6000 (-0.0500)`}, nil},
		{kft.Score{N: 9, R2: 0.5, MAE: 2.5}, []string{`The model does not beat the best formula, "first", on test: R2 0.5000 against 0.6000 (-0.1000), MAE 2.500 against 2.000 (+25.0 %).`}, []string{"beats"}},
		{kft.Score{N: 9, R2: 0.60004, MAE: 1}, []string{"in one measure only", "R2 0.6000 for both"}, nil},
		{kft.Score{N: 9, R2: math.NaN(), MAE: 1}, []string{"The model beats", "MAE"}, []string{"R2"}},
		{kft.Score{N: 9, R2: -0.1, MAE: 5}, []string{"does not beat", "below 0"}, []string{"beats"}},
	} {
		var b strings.Builder
		record := kft.Record{Test: c.model, Baseline: formulas}
		if won := writeComparison(&b, record); won != (strings.Contains(b.String(), "The model beats") && !strings.Contains(b.String(), "one measure")) {
			t.Errorf("%+v: won is %v, but the text is %q", c.model, won, b.String())
		}
		for _, s := range c.says {
			if !strings.Contains(b.String(), s) {
				t.Errorf("%+v: %q does not contain %q", c.model, b.String(), s)
			}
		}
		for _, s := range append(c.not, "second") {
			if strings.Contains(b.String(), s) {
				t.Errorf("%+v: %q contains %q", c.model, b.String(), s)
			}
		}
	}
}

// A comparison on rows that the fit has used has a caveat.
func TestComparisonCaveats(t *testing.T) {
	t.Parallel()
	better, worse := kft.Score{N: 9, R2: 0.9, MAE: 1}, kft.Score{N: 9, R2: 0.1, MAE: 2}
	formulas := []kft.BaselineScores{{Name: "mean", Train: worse, Valid: worse, Test: worse}, {Name: "mean", Train: worse, Valid: worse, Test: worse}}
	for part, says := range map[dataset.Part]string{
		dataset.Train: "It was trained on these rows",
		dataset.Valid: "chosen on these rows",
		dataset.Test:  "(-50.0 %).\n",
	} {
		record := kft.Record{Train: better, Baseline: formulas}
		if part >= dataset.Valid {
			record.Valid = better
		}
		if part == dataset.Test {
			record.Test = better
		}
		var b strings.Builder
		writeComparison(&b, record)
		if !strings.Contains(b.String(), says) || !strings.Contains(b.String(), `The model beats the best formula, "mean", on `+part.String()) {
			t.Errorf("%v: %q", part, b.String())
		}
	}
}

// The table of scores lists the best formula first, a few others, and how many there
// are.
func TestFormulasInTable(t *testing.T) {
	t.Parallel()
	score := kft.Score{N: 9, R2: 0.5, MAE: 1}
	record := kft.Record{Test: score}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		record.Baseline = append(record.Baseline, kft.BaselineScores{Name: "mean by " + name, Best: name == "a", Test: score})
	}
	var b strings.Builder
	WriteScores(&b, record, "identity", dataset.Test)
	first, second := strings.Index(b.String(), "mean by a"), strings.Index(b.String(), "mean by b")
	if first < 0 || second < first || strings.Contains(b.String(), "mean by f") || !strings.Contains(b.String(), "2 more formulas") {
		t.Errorf("got %s", b.String())
	}
}
