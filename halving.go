package kft

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/nearest"
	"github.com/kernel-fried-tensor/kft/internal/stream"
)

// rungs are the budgets at which a trial has to be among the best third: a ninth
// and a third of the whole.
var rungs = []float64{1. / 9, 1. / 3}

// manyRows is from where halving is likely to pay: with fewer training rows what
// a fit does beside its sweeps over them weighs too much, and a share of them
// misleads (measured: docs/concepts/tuning.md).
const manyRows = 1_000_000

// Halvings are what a smaller budget of a trial cuts: the sweeps (or epochs), the
// training rows, or both, each by its square root; none gives every trial all.
// Auto is both where there are 1,000,000 training rows or more, else none.
func Halvings() []string { return []string{"auto", "both", "sweeps", "rows", "none"} }

// CheckHalving refuses a name that is none of them.
func CheckHalving(halving string) error {
	if slices.Contains(Halvings(), halving) {
		return nil
	}
	return fmt.Errorf("%q is not known%s; use one of %s", halving, nearest.Hint(halving, Halvings()), strings.Join(Halvings(), ", "))
}

func resolveHalving(halving string, rows int) string {
	switch {
	case halving != "auto":
		return halving
	case rows >= manyRows:
		return "both"
	}
	return "none"
}

// shares are those of the training rows and of the sweeps at a budget.
func shares(halving string, budget float64) (rows, sweeps float64) {
	switch halving {
	case "both":
		return math.Sqrt(budget), math.Sqrt(budget)
	case "rows":
		return budget, 1
	case "sweeps":
		return 1, budget
	}
	return 1, 1
}

// shortened is the specification with a share of its sweeps and epochs; two are
// the least that adam can find a posterior in.
func shortened(spec Spec, share float64) Spec {
	cut := func(n int, least int) int { return min(n, max(least, int(math.Round(share*float64(n))))) }
	spec.Fit.Sweeps, spec.Fit.Epochs = cut(spec.Fit.Sweeps, 1), cut(spec.Fit.Epochs, 2)
	return spec
}

// shareOf leaves about a share of the training rows; the others are unused. Every
// row has a number of its own, so that a smaller share is within a greater.
func shareOf(split *dataset.Split, share float64, seed uint64) *dataset.Split {
	s := *split
	s.Parts = slices.Clone(split.Parts)
	draw := stream.New(seed, "share of rows")
	for i, p := range s.Parts {
		if draw.Float64() >= share && p == dataset.Train {
			s.Parts[i] = dataset.Unused
		}
	}
	return &s
}
