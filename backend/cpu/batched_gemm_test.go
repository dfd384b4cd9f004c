package cpu

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestBatchedGemm(t *testing.T) {
	t.Parallel()
	sizes := []int{0, 1, 2, 3, 4, 5, 8, 10, 15, 16, 17, 30, 33, 65}
	eachPath(t, func(t *testing.T, p Path) {
		random := rand.New(rand.NewPCG(3, 3))
		for _, r := range sizes {
			for _, c := range sizes {
				for _, k := range []int{0, 1, 4, 9, 16, 33} {
					count := 1 + (r+c+k)%4
					a, checkA := guarded(t, count*r*k, normal(random))
					b, checkB := guarded(t, count*k*c, normal(random))
					dst, checkDst := guarded(t, count*r*c, func(int) float32 { return float32(math.NaN()) })
					BatchedGemm(p, r, c, k, count, a, b, dst)
					checkA()
					checkB()
					checkDst()
					for at := range dst {
						i, row, column := at/(r*c), at/c%r, at%c
						var want, size float64
						for q := range k {
							v := float64(a[(i*r+row)*k+q]) * float64(b[(i*k+q)*c+column])
							want += v
							size += math.Abs(v)
						}
						if have := float64(dst[at]); !(math.Abs(have-want) <= 1e-6*size) {
							t.Fatalf("r=%d c=%d k=%d: product %d [%d][%d] = %g, want %g", r, c, k, i, row, column, have, want)
						}
					}
				}
			}
		}
	})
}

func TestBatchedGemmDoesNotAllocate(t *testing.T) {
	a, b, dst := make([]float32, 900), make([]float32, 900), make([]float32, 900)
	eachPath(t, func(t *testing.T, p Path) {
		if n := testing.AllocsPerRun(10, func() { BatchedGemm(p, 10, 10, 9, 9, a, b, dst) }); n != 0 {
			t.Errorf("got %g allocations per call, want 0", n)
		}
	})
}
