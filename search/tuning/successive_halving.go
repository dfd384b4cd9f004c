package tuning

import (
	"math"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
	"github.com/kernel-fried-tensor/kft/spec"
)

// rungs are the shares of the full budget at which a trial continues only if it is
// among the best third.
var rungs = []float64{1. / 9, 1. / 3}

// minHalvingRows is the number of training rows from which successive halving saves
// time. With fewer rows the fixed costs of a fit dominate, and the score on a share of
// the rows is misleading (measurements: docs/concepts/tuning.md).
const minHalvingRows = 1_000_000

// Halvings returns the kinds of successive halving, by what a smaller budget reduces:
// the sweeps (or epochs), the training rows, or both, each to the square root of the
// budget. With none every trial has the full budget. auto is both for 1,000,000 training
// rows or more, otherwise none.
func Halvings() []string { return []string{"auto", "both", "sweeps", "rows", "none"} }

// CheckHalving returns an error for a name that is not among Halvings.
func CheckHalving(halving string) error {
	if slices.Contains(Halvings(), halving) {
		return nil
	}
	return fielderr.Errorf("halving", "unknown halving %q%s; use one of %s", halving, suggest.Hint(halving, Halvings()), strings.Join(Halvings(), ", "))
}

// resolveHalving replaces auto by the kind that suits the number of training rows.
func resolveHalving(halving string, rows int) string {
	switch {
	case halving != "auto":
		return halving
	case rows >= minHalvingRows:
		return "both"
	}
	return "none"
}

// shares returns the shares of the training rows and of the sweeps at a budget.
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

// shortened returns the specification with a share of its sweeps and epochs. Adam
// needs at least two epochs for a posterior.
func shortened(s spec.Spec, share float64) spec.Spec {
	shorten := func(n, minimum int) int { return min(n, max(minimum, int(math.Round(share*float64(n))))) }
	s.Fit.Sweeps, s.Fit.Epochs = shorten(s.Fit.Sweeps, 1), shorten(s.Fit.Epochs, 2)
	return s
}
