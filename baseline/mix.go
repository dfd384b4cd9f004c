package baseline

import (
	"math"
	"slices"
	"strings"
)

// Classics returns the formulas that every forecast is compared with, of those that [Fit]
// returned for a table with Time: the mean of the series, its last value, and its value one
// season before. A formula that was not fitted is missing.
func Classics(formulas []Formula) []Formula {
	var out []Formula
	by := "" // the modes of the series, as in " by store and item"
	for _, f := range formulas {
		if f.key == "last" {
			_, by, _ = strings.Cut(f.Name, "last value")
		}
	}
	for _, want := range []func(f *Formula) bool{
		func(f *Formula) bool { return f.Name == "mean"+by },
		func(f *Formula) bool { return f.key == "last" },
		func(f *Formula) bool { return f.key == "season" },
	} {
		if at := slices.IndexFunc(formulas, func(f Formula) bool { return want(&f) }); at >= 0 {
			out = append(out, formulas[at])
		}
	}
	return out
}

// mixStep is the step of the shares that Mix tries.
const mixStep = 0.02

// Mix returns the shares of up to three predictions, none negative and adding up to 1, whose
// weighted sum has the least squared error. predictions[k][i] is prediction k of y[i].
// It costs O(k^2 n).
func Mix(predictions [][]float64, y []float64) []float64 {
	k := len(predictions)
	if k == 0 {
		return nil
	}
	if k > 3 {
		panic("baseline: Mix of more than three predictions")
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
	steps := int(math.Round(1 / mixStep))
	switch k {
	case 1:
		try([]float64{1})
	case 2:
		for a := range steps + 1 {
			s := float64(a) * mixStep
			try([]float64{s, 1 - s})
		}
	default:
		for a := range steps + 1 {
			for b := range steps - a + 1 {
				s, r := float64(a)*mixStep, float64(b)*mixStep
				try([]float64{s, r, max(1-s-r, 0)})
			}
		}
	}
	return best
}
