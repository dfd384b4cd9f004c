package peers_test

import (
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/backendtest"
	"github.com/kernel-fried-tensor/kft/internal/peers"
)

// Sums, runs that move and lists that are joined are those of all processes.
func TestValuesOfProcesses(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 2, 5} {
		backendtest.OnRanks(size, func(r backend.Ranks) {
			me := r.Rank()
			for _, n := range []int{0, 1, 3, 17} {
				own, want := make([]int32, n), make([]int32, n)
				for i := range own {
					own[i] = int32(i * (me + 1))
					want[i] = int32(i * size * (size + 1) / 2)
				}
				if got := peers.Sum(r, own); !slices.Equal(got, want) {
					t.Errorf("process %d of %d: got the sums %v, want %v", me, size, got, want)
				}
				var all []int32
				for k := range size {
					for i := range n + k {
						all = append(all, int32(100*k+i))
					}
				}
				held, final := make([]int, size+1), peers.Even(len(all), size)
				for k := range size {
					held[k+1] = held[k] + n + k
				}
				mine := all[held[me]:held[me+1]]
				if got := peers.Concat(r, mine); !slices.Equal(got, all) {
					t.Errorf("process %d of %d: got the list %v, want %v", me, size, got, all)
				}
				got := make([]int32, final[me+1]-final[me])
				peers.Move(r, got, mine, held, final)
				if want := all[final[me]:final[me+1]]; !slices.Equal(got, want) {
					t.Errorf("process %d of %d: got the run %v, want %v", me, size, got, want)
				}
			}
		})
	}
}
