package kft_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// effectCounts writes a table of skewed counts with effects of stores and items.
func effectCounts(t *testing.T, seed uint64) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 5))
	const stores, items, months = 15, 25, 4
	var store [stores]float64
	var item [items]float64
	for s := range store {
		store[s] = 1.5 * rng.NormFloat64()
	}
	for i := range item {
		item[i] = 1.5 * rng.NormFloat64()
	}
	var text strings.Builder
	text.WriteString("s,i,t,y\n")
	for _, cell := range rng.Perm(stores * items * months)[:1000] {
		s, i, m := cell%stores, cell/stores%items, cell/stores/items
		rate := math.Exp(min(3+store[s]+item[i], 9)) * (rng.ExpFloat64() + rng.ExpFloat64()) / 2
		fmt.Fprintf(&text, "s%d,i%d,t%d,%.0f\n", s, i, m, max(0, rate+math.Sqrt(rate)*rng.NormFloat64()))
	}
	path := filepath.Join(t.TempDir(), "counts.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestCountsWorseThanAConstant fits counts with rows of known and of new items. A model
// whose R2 on the validation set is clearly negative has a warning that says so.
func TestCountsWorseThanAConstant(t *testing.T) {
	t.Parallel()
	negative := 0
	for seed := uint64(1); seed <= 6; seed++ {
		table := effectCounts(t, seed)
		for _, split := range []string{"random:60/20/20", "entity:i=20%"} {
			_, r := fit(t, kft.Spec{
				Version:     1,
				Data:        kft.DataSpec{Files: []string{table}, Target: "y", Modes: []string{"s", "i", "t"}},
				Split:       split,
				Terms:       []string{"s,i,t:8"},
				Uncertainty: kft.UncertaintySpec{Inference: "mean-field", Likelihood: "negative-binomial", Conformal: "none"},
				Seed:        1,
			}, kft.Options{})
			warned := strings.Contains(strings.Join(r.Warnings, "\n"), "worse than a constant")
			if bad := r.Valid.R2 < -0.01; bad != warned {
				t.Errorf("seed %d, %s: R2 %.4f on the validation set: got a warning %v, want %v", seed, split, r.Valid.R2, warned, bad)
			} else if bad {
				negative++
			}
			t.Logf("seed %d, %s: valid R2 %.3f, test R2 %.3f, warnings %q", seed, split, r.Valid.R2, r.Test.R2, r.Warnings)
		}
	}
	if negative == 0 {
		t.Error("got no model worse than a constant, want some to test the warning")
	}
}
