package relation

import (
	"math"
	"slices"
)

// Exponent returns b of the Poisson regression exp(a + b log x) of y with an a for each group of rows, or 0.
// The numbers of x are positive, and their logarithms are compared with a level among them.
func Exponent(y, x Column, groups []int32, level float64) float64 {
	type sums struct{ y, w, wz, wzz float64 } // of the target, and of the weights exp(b z)
	of := make([]sums, slices.Max(groups)+1)
	b := 1.0
	for range 25 {
		clear(of)
		gradient, curvature := 0.0, 0.0
		for row, k := range y.Codes {
			if math.IsNaN(y.Values[k]) {
				continue
			}
			s, z := &of[groups[row]], math.Log(x.Values[x.Codes[row]])-level
			w := math.Exp(b * z)
			*s = sums{s.y + y.Values[k], s.w + w, s.wz + w*z, s.wzz + w*z*z}
			gradient += y.Values[k] * z
		}
		for _, s := range of {
			if s.w > 0 { // the a of the group is that of the greatest likelihood
				mean := s.wz / s.w
				gradient -= s.y * mean
				curvature += s.y * (s.wzz/s.w - mean*mean)
			}
		}
		if !(curvature > 0) {
			return 0
		}
		step := gradient / curvature
		b += max(-0.5, min(step, 0.5))
		if math.Abs(step) < 1e-4 {
			break
		}
	}
	return b
}
