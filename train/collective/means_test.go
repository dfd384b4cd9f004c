package collective

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/backendtest"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/solver"
)

// Means by id are those of the rows, on any number of threads.
func TestMeanTargets(t *testing.T) {
	t.Parallel()
	draw := rand.New(rand.NewPCG(1, 3))
	o := solver.Observations{Codes: [][]int32{make([]int32, 5000), make([]int32, 5000)}, Y: make([]float32, 5000)}
	sums, counts := make([]float64, 7), make([]float64, 7)
	for i := range o.Y {
		c := int32(draw.IntN(7)) - 1
		o.Codes[0][i], o.Codes[1][i], o.Y[i] = c, int32(draw.IntN(4000)), draw.Float32()
		if c >= 0 {
			sums[c], counts[c] = sums[c]+float64(o.Y[i]), counts[c]+1
		}
	}
	sizes := []int{7, 4000}
	rows := CountRows(nil, 2, o.Codes, sizes)
	means := MeanTargets(nil, 1, &o, rows)
	for c, mean := range means[0] {
		if float64(rows[0][c]) != counts[c] || counts[c] > 0 && (mean < 0.999999*sums[c]/counts[c] || mean > 1.000001*sums[c]/counts[c]) || counts[c] == 0 && mean != 0 {
			t.Errorf("id %d: got %d rows of mean %g, want %g of %g", c, rows[0][c], mean, counts[c], sums[c]/counts[c])
		}
	}
	for m, again := range MeanTargets(nil, 3, &o, rows) {
		if !slices.Equal(again, means[m]) {
			t.Errorf("mode %d: 3 threads give other means than 1", m)
		}
	}
}

// Ranks that have their run of the rows alone get the counts and means of one process.
func TestMeanTargetsOnRanks(t *testing.T) {
	t.Parallel()
	draw := rand.New(rand.NewPCG(1, 4))
	const n = 5*parallel.Block + 77
	sizes := []int{3, 9000, 40000} // sums of 8, 2 and 1 pieces
	o := solver.Observations{Codes: [][]int32{make([]int32, n), make([]int32, n), make([]int32, n)}, Y: make([]float32, n)}
	for i := range o.Y {
		o.Y[i] = draw.Float32()
		for m, size := range sizes {
			o.Codes[m][i] = int32(draw.IntN(size))
		}
	}
	rows := CountRows(nil, 1, o.Codes, sizes)
	want := MeanTargets(nil, 1, &o, rows)
	for _, size := range []int{2, 3, 8} {
		backendtest.OnRanks(size, func(r backend.Ranks) {
			bounds := backend.RowRuns(n, size)
			from, to := bounds[r.Rank()], bounds[r.Rank()+1]
			own := solver.Observations{Codes: make([][]int32, len(sizes)), Y: make([]float32, n)}
			copy(own.Y[from:], o.Y[from:to])
			for m := range sizes {
				own.Codes[m] = make([]int32, n)
				copy(own.Codes[m][from:], o.Codes[m][from:to])
			}
			counts := CountRows(r, 1, own.Codes, sizes)
			means := MeanTargets(r, 1, &own, counts)
			for m := range sizes {
				if !slices.Equal(counts[m], rows[m]) || !slices.Equal(means[m], want[m]) {
					t.Errorf("rank %d of %d, mode %d: other counts or means than those of one process", r.Rank(), size, m)
				}
			}
		})
	}
}
