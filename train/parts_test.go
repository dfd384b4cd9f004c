package train

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/solver"
)

// Rows keep their order within the parts.
func TestDivideRows(t *testing.T) {
	t.Parallel()
	path, err := cpu.ChoosePath()
	if err != nil {
		t.Fatal(err)
	}
	draw := rand.New(rand.NewPCG(1, 2))
	of := [...]dataset.Part{dataset.Train, dataset.Test, dataset.Test, dataset.Unused}
	for _, n := range []int{0, 1, staged + 1, 2*parallel.Block + 5} {
		parts := make([]dataset.Part, n)
		all := solver.Observations{Codes: [][]int32{make([]int32, n)}, Y: make([]float32, n)}
		var want [4][]int32
		for i := range parts {
			parts[i] = dataset.Part(draw.IntN(4))
			all.Codes[0][i], all.Y[i] = int32(i), float32(-i)
			want[of[parts[i]]] = append(want[of[parts[i]]], int32(i))
		}
		for _, threads := range []int{1, 3} {
			for p, o := range divideRows(cpu.New(path, threads), all, parts, of) {
				if !slices.Equal(o.Codes[0], want[p]) || o.Len() != len(want[p]) || o.W != nil || o.Len() > 0 && o.Y[0] != float32(-want[p][0]) {
					t.Errorf("%d rows, %d threads: got %d rows of %v, want %d", n, threads, o.Len(), dataset.Part(p), len(want[p]))
				}
			}
		}
	}
}

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
	rows := countRows(nil, 2, o.Codes, sizes)
	means := meanTargets(nil, 1, &o, rows)
	for c, mean := range means[0] {
		if float64(rows[0][c]) != counts[c] || counts[c] > 0 && (mean < 0.999999*sums[c]/counts[c] || mean > 1.000001*sums[c]/counts[c]) || counts[c] == 0 && mean != 0 {
			t.Errorf("id %d: got %d rows of mean %g, want %g of %g", c, rows[0][c], mean, counts[c], sums[c]/counts[c])
		}
	}
	for m, again := range meanTargets(nil, 3, &o, rows) {
		if !slices.Equal(again, means[m]) {
			t.Errorf("mode %d: 3 threads give other means than 1", m)
		}
	}
}
