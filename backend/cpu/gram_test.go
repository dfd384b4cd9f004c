package cpu

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestGram(t *testing.T) {
	t.Parallel()
	eachPath(t, func(t *testing.T, p Path) {
		random := rand.New(rand.NewPCG(5, 5))
		for r := range 70 {
			if testing.Short() && r%7 != 0 && r%16 > 1 {
				continue
			}
			for _, n := range []int{0, 1, 2, 5, 19, 60, 333} {
				panel, checkPanel := guarded(t, n*r, normal(random))
				dst, checkDst := guarded(t, r*r, func(i int) float32 { return float32(i/r + i%r) })
				Gram(p, dst, panel, n, r)
				checkPanel()
				checkDst()
				for i := range r {
					for j := range r {
						want := float64(i + j)
						size := want
						for q := range n {
							v := float64(panel[q*r+i]) * float64(panel[q*r+j])
							want += v
							size += math.Abs(v)
						}
						if have := float64(dst[i*r+j]); !(math.Abs(have-want) <= 2e-6*size) {
							t.Fatalf("n=%d r=%d: [%d][%d] = %g, want %g", n, r, i, j, have, want)
						}
						if dst[i*r+j] != dst[j*r+i] {
							t.Fatalf("n=%d r=%d: not symmetric: [%d][%d] = %g and [%d][%d] = %g", n, r, i, j, dst[i*r+j], j, i, dst[j*r+i])
						}
					}
				}
			}
		}
	})
}

func TestGramDoesNotAllocate(t *testing.T) {
	panel, dst := make([]float32, 20*40), make([]float32, 40*40)
	eachPath(t, func(t *testing.T, p Path) {
		if n := testing.AllocsPerRun(10, func() { Gram(p, dst, panel, 20, 40) }); n != 0 {
			t.Errorf("got %g allocations per call, want 0", n)
		}
	})
}
