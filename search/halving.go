package search

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/suggest"
	"github.com/kernel-fried-tensor/kft/spec"
)

// rungs are the shares of the full budget at which a trial must be among the best
// third to continue.
var rungs = []float64{1. / 9, 1. / 3}

// manyRows is the number of training rows from which successive halving pays. With
// fewer rows the fixed costs of a fit dominate, and a share of the rows misleads
// (measurements: docs/concepts/tuning.md).
const manyRows = 1_000_000

// Halvings lists what a smaller budget of a trial reduces: the sweeps (or epochs),
// the training rows, or both, each by the square root; none gives every trial the
// full budget. Auto is both from 1,000,000 training rows on, and none below.
func Halvings() []string { return []string{"auto", "both", "sweeps", "rows", "none"} }

// CheckHalving returns an error for a name that is not among Halvings.
func CheckHalving(halving string) error {
	if slices.Contains(Halvings(), halving) {
		return nil
	}
	return fmt.Errorf("unknown halving %q%s; use one of %s", halving, suggest.Hint(halving, Halvings()), strings.Join(Halvings(), ", "))
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
	cut := func(n int, least int) int { return min(n, max(least, int(math.Round(share*float64(n))))) }
	s.Fit.Sweeps, s.Fit.Epochs = cut(s.Fit.Sweeps, 1), cut(s.Fit.Epochs, 2)
	return s
}
