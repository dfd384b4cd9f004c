package cpu

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/backendtest"
)

// Sums over shards have the same bits on any number of ranks, whether ranks exchange their entries or a sum passes from
// rank to rank.
func TestSumShardsOnRanks(t *testing.T) {
	t.Parallel()
	const shards = 16
	for _, n := range []int{1, 3, 1000, exchanged / shards, exchanged/shards + 1, 3 * chainPiece} {
		parts := make([][]float32, shards)
		rng := rand.New(rand.NewPCG(1, uint64(n)))
		for k := range parts {
			parts[k] = make([]float32, n)
			for i := range parts[k] {
				parts[k][i] = float32(rng.NormFloat64())
			}
		}
		sum := func(ranks backend.Ranks, d division) []float32 {
			own := make([][]float32, shards)
			for k := d.first; k < d.end; k++ {
				own[k] = slices.Clone(parts[k])
			}
			b := New(Paths()[0], 1).OnRanks(ranks)
			return b.sumShards(&d, func(shard int) []float32 { return own[shard] })
		}
		want := sum(nil, division{end: shards})
		for _, size := range []int{2, 3, 8} {
			backendtest.OnRanks(size, func(r backend.Ranks) {
				d := division{ranks: r, bounds: backend.Even(shards, size)}
				d.first, d.end = d.bounds[r.Rank()], d.bounds[r.Rank()+1]
				if got := sum(r, d); !slices.Equal(got, want) {
					t.Errorf("%d values, rank %d of %d: the sums differ from those of one process", n, r.Rank(), size)
				}
			})
		}
	}
}
