package predictive

import "math"

const (
	invSqrt2   = 1 / math.Sqrt2
	invSqrt2Pi = 1 / (math.Sqrt2 * math.SqrtPi)
	logSqrt2Pi = 0.91893853320467274178
)

func normalDensity(t float64) float64 { return invSqrt2Pi * math.Exp(-t*t/2) }

func normalCDF(t float64) float64 { return 0.5 * math.Erfc(-t*invSqrt2) }

// maxScore bounds normal scores: beyond it a probability rounds to 0 or 1.
const maxScore = 8.2

// normalQuantile is the inverse of normalCDF, limited to [-maxScore, maxScore].
func normalQuantile(p float64) float64 {
	t := -math.Sqrt2 * math.Erfcinv(2*p)
	// NaN passes through: p outside [0, 1] is an error of the caller and must not
	// be hidden.
	if t > maxScore {
		return maxScore
	}
	if t < -maxScore {
		return -maxScore
	}
	return t
}

// uniform returns a number in (0, 1) that depends only on the seed and the index of
// a row, so that a randomised PIT has the same bits in any order of rows. It is the
// finaliser of splitmix64.
func uniform(seed, index uint64) float64 {
	x := seed + (index+1)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	x ^= x >> 31
	return (float64(x>>11) + 0.5) / (1 << 53)
}
