package likelihood

import (
	"math"
	"math/rand/v2"
)

// drawPoisson draws a count with the given rate. Below 10 it multiplies uniform
// variables. Above, it uses transformed rejection (Hormann 1993, PTRS), whose
// cost does not depend on the rate. From 1e9 on it uses the normal
// distribution, because the logarithm of the probability has too few digits in
// float64 for rejection. A rate that is NaN or infinite gives NaN.
func drawPoisson(rng *rand.Rand, rate float64) float64 {
	switch {
	case math.IsNaN(rate) || math.IsInf(rate, 0):
		return math.NaN()
	case rate < 10:
		limit, product := math.Exp(-rate), rng.Float64()
		count := 0.0
		for product > limit {
			product *= rng.Float64()
			count++
		}
		return count
	case rate > 1e9:
		return max(math.Round(rate+math.Sqrt(rate)*rng.NormFloat64()), 0)
	}
	logRate := math.Log(rate)
	b := 0.931 + 2.53*math.Sqrt(rate)
	a := -0.059 + 0.02483*b
	inverse := 1.1239 + 1.1328/(b-3.4)
	quick := 0.9277 - 3.6224/(b-2)
	for {
		u := rng.Float64() - 0.5
		v := rng.Float64()
		us := 0.5 - math.Abs(u)
		k := math.Floor((2*a/us+b)*u + rate + 0.43)
		if us >= 0.07 && v <= quick {
			return k
		}
		if k < 0 || us < 0.013 && v > us {
			continue
		}
		if math.Log(v*inverse/(a/(us*us)+b)) <= k*logRate-rate-logGamma(k+1) {
			return k
		}
	}
}

// drawGamma draws from the gamma distribution with the given shape and scale 1
// (Marsaglia and Tsang 2000). A shape that is not positive and finite gives NaN.
func drawGamma(rng *rand.Rand, shape float64) float64 {
	if !(shape > 0) || math.IsInf(shape, 1) {
		return math.NaN()
	}
	boost := 1.0
	if shape < 1 {
		boost = math.Pow(1-rng.Float64(), 1/shape)
		shape++
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := rng.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(1-rng.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return boost * d * v
		}
	}
}
