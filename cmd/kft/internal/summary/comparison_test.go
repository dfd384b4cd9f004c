package summary

import (
	"math"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/dataset"
)

// The comparison names each measure in which a baseline is better.
func TestComparison(t *testing.T) {
	t.Parallel()
	base := []kft.BaselineScores{{Name: "first", Test: kft.Score{N: 9, R2: 0.5, MAE: 3}}, {Name: "second", Test: kft.Score{N: 9, R2: 0.6, MAE: 2}}}
	for _, c := range []struct {
		model kft.Score
		says  []string
		not   []string
	}{
		{kft.Score{N: 9, R2: 0.7, MAE: 1}, []string{"beats both baselines"}, nil},
		{kft.Score{N: 9, R2: 0.55, MAE: 1}, []string{`"second" beats the model in R2 on test: 0.6000 against 0.5500`}, []string{"MAE", "both"}},
		{kft.Score{N: 9, R2: 0.7, MAE: 2.5}, []string{`"second" beats the model in MAE`}, []string{"in R2", "both"}},
		{kft.Score{N: 9, R2: 0.60004, MAE: 1}, []string{`no better than the baseline "second" in R2 on test: both have 0.6000`}, []string{"beats"}},
		{kft.Score{N: 9, R2: math.NaN(), MAE: 1}, []string{"beats both baselines on test, in MAE."}, []string{"R2"}},
		{kft.Score{N: 9, R2: -0.1, MAE: 5}, []string{"in R2", "in MAE", "below 0"}, []string{"both"}},
	} {
		var b strings.Builder
		part, score := LastPart(kft.Score{}, kft.Score{}, c.model)
		if won := writeComparison(&b, score, part, base); won != strings.Contains(b.String(), "beats both") {
			t.Errorf("%+v: won is %v, but the text is %q", c.model, won, b.String())
		}
		for _, s := range c.says {
			if !strings.Contains(b.String(), s) {
				t.Errorf("%+v: %q does not contain %q", c.model, b.String(), s)
			}
		}
		for _, s := range c.not {
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
	base := []kft.BaselineScores{{Name: "mean", Train: worse, Valid: worse, Test: worse}, {Name: "mean", Train: worse, Valid: worse, Test: worse}}
	for part, says := range map[dataset.Part]string{
		dataset.Train: "The model beats the baseline on train, in R2 and in MAE. It was trained on these rows",
		dataset.Valid: "chosen on these rows",
		dataset.Test:  "The model beats the baseline on test, in R2 and in MAE.\n",
	} {
		var b strings.Builder
		writeComparison(&b, better, part, base)
		if !strings.Contains(b.String(), says) {
			t.Errorf("%v: %q", part, b.String())
		}
	}
}
