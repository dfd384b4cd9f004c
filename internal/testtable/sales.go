// Package testtable writes small tables for tests.
package testtable

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// WriteSales writes a CSV table of sales with the columns year, month, store, item,
// units and note to a temporary folder of the test, and returns its path. It has 20
// stores, 30 items, 12 months and at most one row per cell. The logarithm of units is a
// sum of effects and a store-item interaction, with noise.
func WriteSales(t testing.TB, rows int) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	const stores, items, months = 20, 30, 12
	interaction := make([]float64, stores*items)
	for i := range interaction {
		interaction[i] = 0.6 * rng.NormFloat64()
	}
	var b strings.Builder
	b.WriteString("year,month,store,item,units,note\n")
	seen := map[[3]int]bool{}
	for len(seen) < rows {
		s, i, m := rng.IntN(stores), rng.IntN(items), rng.IntN(months)
		if seen[[3]int{s, i, m}] {
			continue
		}
		seen[[3]int{s, i, m}] = true
		level := 2 + 0.05*float64(s) + 0.03*float64(i) + interaction[s*items+i] + 0.4*math.Sin(float64(m)*2*math.Pi/12)
		units := math.Floor(math.Exp(level + 0.2*rng.NormFloat64()))
		fmt.Fprintf(&b, "%d,%d,s%d,i%d,%g,\"a, b\"\n", 2015+m/6, m%6+1, s, i, units)
	}
	path := filepath.Join(t.TempDir(), "sales.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}
