package tune

import "github.com/kernel-fried-tensor/kft/internal/randstream"

// halton returns a point of the scrambled Halton sequence. Coordinate i is the
// radical inverse of number in the i-th prime base, with a random permutation for
// each digit. Any run of points covers the cube more evenly than random draws.
// The permutations remove the correlations of large bases. The cost is about
// 32 ln 2 / ln(base) permutations per coordinate.
func halton(seed uint64, number, dims int) []float64 {
	point := make([]float64, dims)
	base := 1
	for i := range point {
		base = nextPrime(base)
		draw := randstream.New(seed, "tune halton", uint64(i))
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
