package baseline

import (
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/backendtest"
)

// Processes that fit formulas together choose the same ones as one process, and each formula is fitted by one of them.
func TestFitOfPeers(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 7))
	for _, valid := range []int{0, 900, 901} {
		table := Table{Names: []string{"store", "item", "day"}, Sizes: []int{9, 14, 5}, Threads: 1}
		if valid == 901 { // more adjusted means than are tried
			table.Names, table.Sizes = append(table.Names, "size", "colour"), append(table.Sizes, 3, 4)
		}
		for p, n := range []int{4000, valid, 300} {
			rows := &table.Parts[p]
			rows.Codes = make([][]int32, len(table.Sizes))
			for range n {
				y := rng.Float64()
				for m, size := range table.Sizes {
					code := rng.IntN(size)
					rows.Codes[m] = append(rows.Codes[m], int32(code))
					y += float64(code) / 3
				}
				rows.Y = append(rows.Y, float32(y))
			}
		}
		want := Fit(table)
		for _, size := range []int{2, 5, 8} {
			backendtest.OnRanks(size, func(r backend.Ranks) {
				own := table
				own.Peers = r
				got := Fit(own)
				if len(got) != len(want) {
					t.Errorf("process %d of %d: got %d formulas, want %d", r.Rank(), size, len(got), len(want))
					return
				}
				a, b := make([]float64, 300), make([]float64, 300)
				for k := range got {
					if got[k].Name != want[k].Name || got[k].Setting != want[k].Setting || got[k].Loss != want[k].Loss {
						t.Errorf("process %d of %d: formula %d is %s (%s), want %s (%s)", r.Rank(), size, k, got[k].Name, got[k].Setting, want[k].Name, want[k].Setting)
					}
					if got[k].Elsewhere() {
						continue
					}
					got[k].Predict(Test, 0, a)
					want[k].Predict(Test, 0, b)
					for i := range a {
						if a[i] != b[i] {
							t.Errorf("process %d of %d: %s predicts %g, want %g", r.Rank(), size, got[k].Name, a[i], b[i])
							break
						}
					}
				}
			})
		}
	}
}
