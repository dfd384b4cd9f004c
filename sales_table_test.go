package kft_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// writeSales writes a table of stores x items x months without side information. The
// logarithm of the target is a sum of effects, an interaction of store and item, and
// noise. The column note contains a quoted comma.
func writeSales(t testing.TB, rows int) string {
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
	return writeFile(t, "sales.csv", b.String())
}

// salesSpec describes a model of the table that writeSales wrote.
func salesSpec(table string) kft.Spec {
	return kft.Spec{
		Version:   1,
		Data:      kft.DataSpec{Files: []string{table}, Target: "units", Modes: []string{"store", "item", "time=year+month"}},
		Transform: "log1p",
		Terms:     []string{"store,item,time:4", "store*item,time:1"},
		Fit:       kft.FitSpec{Sweeps: 12},
	}
}
