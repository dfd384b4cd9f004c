package tune

import "github.com/kernel-fried-tensor/kft/internal/stream"

// halton is a point of the scrambled Halton sequence: coordinate i is number
// written in the i-th prime base, each digit by a random permutation of its
// own, mirrored at the point. Any run of points covers the cube more evenly
// than draws; the permutations undo the stripes that large bases have. It costs
// about 32 ln 2 / ln(base) permutations a coordinate.
func halton(seed uint64, number, dims int) []float64 {
	point := make([]float64, dims)
	base := 1
	for i := range point {
		base = nextPrime(base)
		draw := stream.New(seed, "tune halton", uint64(i))
		rest, weight := number, 1.0
		for weight > 1.0/(1<<32) {
			weight /= float64(base)
			point[i] += weight * float64(draw.Perm(base)[rest%base])
			rest /= base
		}
	}
	return point
}

func nextPrime(n int) int {
	for n++; ; n++ {
		prime := true
		for d := 2; d*d <= n; d++ {
			prime = prime && n%d != 0
		}
		if prime {
			return n
		}
	}
}
