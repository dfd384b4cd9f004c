package baseline

import (
	"math"
	"slices"
	"strings"
)

// Classics returns the formulas that every forecast is compared with, of those that [Fit]
// returned for a table with Time: the mean of the series, its last value, its drift, its
// value one season before, not shrunk and not the mean of several seasons, which Fit may have
// chosen, and that plus its average change per season. A formula that was not fitted is missing.
func Classics(formulas []Formula) []Formula {
	var out []Formula
	mean := "mean of all rows" // of the only series
	for _, f := range formulas {
		if by, found := strings.CutPrefix(f.Name, "last value"); f.key == "last" && found && by != "" {
			mean = "mean" + by
		}
	}
	for _, want := range []func(f *Formula) bool{
		func(f *Formula) bool { return f.Name == mean },
		func(f *Formula) bool { return f.key == "last" },
		func(f *Formula) bool { return f.key == "drift" },
		func(f *Formula) bool { return f.key == "season" },
		func(f *Formula) bool { return f.key == "season drift" },
	} {
		if at := slices.IndexFunc(formulas, func(f Formula) bool { return want(&f) }); at >= 0 {
			out = append(out, formulas[at].plain())
		}
	}
	return out
}

// plain returns the formula with the value of the last season in place of a mean of seasons,
// and with the whole change in place of a share.
func (f Formula) plain() Formula {
	switch s := f.predictor.(type) {
	case *seasonal:
		last := *s
		last.all, last.count = false, 0
		f.predictor, f.Setting = &last, "not shrunk"
	case *seasonalDrift:
		whole := *s
		whole.share = 1
		f.predictor, f.Setting = &whole, "plus the average change of a season"
	}
	return f
}

// mixStep is the step of the shares that Mix tries.
const mixStep = 0.02

// maxMixed is the largest number of predictions that Mix takes.
const maxMixed = 5

// Mix returns the shares of up to five predictions, none negative and adding up to 1, whose
// weighted sum has the least squared error. predictions[k][i] is prediction k of y[i].
// It costs O(k^2 n).
func Mix(predictions [][]float64, y []float64) []float64 {
	k := len(predictions)
	if k == 0 {
		return nil
	}
	if k > maxMixed {
		panic("baseline: Mix of too many predictions")
	}
	gram, right := make([][]float64, k), make([]float64, k)
	for a := range gram {
		gram[a] = make([]float64, k)
		for i, v := range predictions[a] {
			right[a] += v * y[i]
			for b := range a + 1 {
				gram[a][b] += v * predictions[b][i]
			}
		}
		for b := range a {
			gram[b][a] = gram[a][b]
		}
	}
	best, least := make([]float64, k), math.Inf(1)
	try := func(shares []float64) {
		loss := 0.0
		for a, s := range shares {
			loss -= 2 * s * right[a]
			for b, r := range shares {
				loss += s * r * gram[a][b]
			}
		}
		if loss < least {
			least = loss
			copy(best, shares)
		}
	}
	EachShares(k, mixStep, try)
	return best
}

// EachShares calls visit for all shares of k parts in multiples of a step that add up to 1,
// first that of the last part alone. visit must not keep them.
func EachShares(k int, step float64, visit func(shares []float64)) {
	shares := make([]float64, k)
	var divide func(at, left int)
	divide = func(at, left int) {
		if at == k-1 {
			shares[at] = float64(left) * step
			visit(shares)
			return
		}
		for n := range left + 1 {
			shares[at] = float64(n) * step
			divide(at+1, left-n)
		}
	}
	divide(0, int(math.Round(1/step)))
}
