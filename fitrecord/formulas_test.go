package fitrecord

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/metrics"
)

// A record of a model file of version 0.1 has the scores of two formulas, without a
// choice.
func TestBestFormulaOfOldRecord(t *testing.T) {
	t.Parallel()
	const text = `{"valid": {"n": 9, "r2": 0.7, "mae": 3}, "test": {"n": 9, "r2": 0.55, "mae": 3}, "baseline": [
		{"name": "mean by store and item", "train": {"n": 9, "r2": 0.9}, "valid": {"n": 9, "r2": 0.5, "mae": 4}, "test": {"n": 9, "r2": 0.7, "mae": 2}},
		{"name": "mean by store and item, times factor by item and time", "train": {"n": 9, "r2": 0.8}, "valid": {"n": 9, "r2": 0.6, "mae": 5}, "test": {"n": 9, "r2": 0.6, "mae": 5}}]}`
	var r Record
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	best, ok := r.BestFormula()
	if !ok || best.Name != r.Baseline[1].Name || best.Test.R2 != 0.6 {
		t.Errorf("got %+v, want the second formula: it is better on the validation set", best)
	}
	r.Baseline = nil
	if best, ok := r.BestFormula(); ok || r.BehindFormula() != "" {
		t.Errorf("got %+v for a record without formulas", best)
	}
}

func TestBehindFormula(t *testing.T) {
	t.Parallel()
	formula := BaselineScores{Name: "mean by item", Best: true, Test: metrics.Score{N: 9, R2: 0.5, MAE: 2}}
	for _, c := range []struct {
		score metrics.Score
		want  string
	}{
		{metrics.Score{N: 9, R2: 0.6, MAE: 1}, ""},
		{metrics.Score{N: 9, R2: 0.49999, MAE: 2}, ""},
		{metrics.Score{N: 9, R2: math.NaN(), MAE: 2}, ""},
		{metrics.Score{N: 9, R2: 0.6, MAE: 2.0004}, ""}, // no difference shows
		{metrics.Score{N: 9, R2: 0.6, MAE: 2.0006}, `on test: MAE 2.001 against 2`},
		{metrics.Score{N: 9, R2: 0.4, MAE: 1}, `"mean by item", on test: R2 0.4000 against 0.5000`},
		{metrics.Score{N: 9, R2: 0.6, MAE: 2.5}, `on test: MAE 2.5 against 2`},
		{metrics.Score{N: 9, R2: 0.4, MAE: 2.5}, `on test: R2 0.4000 against 0.5000, MAE 2.5 against 2`},
	} {
		r := Record{Test: c.score, Baseline: []BaselineScores{{Name: "other", Test: metrics.Score{N: 9, R2: 0.9, MAE: 0.1}}, formula}}
		if got := r.BehindFormula(); (got == "") != (c.want == "") || !strings.HasSuffix(got, c.want) {
			t.Errorf("%+v: got %q, want %q", c.score, got, c.want)
		}
	}
}
