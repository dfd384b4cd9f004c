package kft_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// TestAdditivePosteriorOnNewIDs fits items whose weights are linear in side columns plus
// a part of their own, and predicts items without rows. A posterior is as accurate as a
// point estimate.
func TestAdditivePosteriorOnNewIDs(t *testing.T) {
	t.Parallel()
	const seeds, stores, items, months = 4, 20, 80, 6
	mean := map[string]float64{}
	for seed := uint64(1); seed <= seeds; seed++ {
		rng := rand.New(rand.NewPCG(seed, 12))
		normal := func(n, m int, center, sd float64) [][]float64 {
			x := make([][]float64, n)
			for i := range x {
				for range m {
					x[i] = append(x[i], center+sd*rng.NormFloat64())
				}
			}
			return x
		}
		x, slope, store, month := normal(items, 3, 0, 1), normal(2, 3, 0, 0.6), normal(stores, 2, 0, 1), normal(months, 2, 1, 0.4)
		item := normal(items, 2, 0.25, 0.6)
		var side, sales strings.Builder
		side.WriteString("i,x1,x2,x3\n")
		sales.WriteString("s,i,t,y\n")
		for i := range items {
			fmt.Fprintf(&side, "i%d,%g,%g,%g\n", i, x[i][0], x[i][1], x[i][2])
			for r := range 2 {
				for k, b := range slope[r] {
					item[i][r] += b * x[i][k]
				}
			}
		}
		for n, cell := range rng.Perm(stores * items * months) {
			if n == 4500 {
				break
			}
			s, i, m := cell%stores, cell/stores%items, cell/stores/items
			y := 0.5 * rng.NormFloat64()
			for r := range 2 {
				y += store[s][r] * item[i][r] * month[m][r]
			}
			fmt.Fprintf(&sales, "s%d,i%d,t%d,%.4f\n", s, i, m, y)
		}
		dir := t.TempDir()
		for name, text := range map[string]string{"side.csv": side.String(), "sales.csv": sales.String()} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, inference := range []string{"map", "mean-field", "multivariate"} {
			_, r := fit(t, kft.Spec{
				Version:     1,
				Data:        kft.DataSpec{Files: []string{filepath.Join(dir, "sales.csv")}, Target: "y", Modes: []string{"s", "i", "t"}},
				Split:       "entity:i=20%",
				Terms:       []string{"s,i,t:2"},
				Side:        kft.SideSpec{Tables: []string{"i=" + filepath.Join(dir, "side.csv")}, Variant: "additive", Space: "dual"},
				Uncertainty: kft.UncertaintySpec{Inference: inference, Conformal: "none"},
				Seed:        seed,
			}, kft.Options{})
			mean[inference] += r.Test.R2 / seeds
		}
	}
	for _, inference := range []string{"mean-field", "multivariate"} {
		if got, want := mean[inference], mean["map"]-0.01; got < want {
			t.Errorf("%s: got a mean R2 of %.3f on new items, want at least %.3f", inference, got, want)
		}
	}
	t.Log(mean)
}
