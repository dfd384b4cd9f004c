package cpu

import (
	"math"
	"math/rand/v2"
	"testing"
)

// floatsUpTo returns arguments of both signs up to limit: special values, a
// fine grid, and some of every magnitude. Its length is odd.
func floatsUpTo(limit float64) []float32 {
	random := rand.New(rand.NewPCG(11, 11))
	x := []float32{0, float32(math.Copysign(0, -1)), 1, -1, math.SmallestNonzeroFloat32}
	for i := range 20000 {
		x = append(x, float32(limit*(float64(i)/10000-1)))
		x = append(x, float32(limit*math.Pow(2, -30*random.Float64())*float64(1-2*(i%2))))
	}
	return x
}

func TestExp(t *testing.T) {
	t.Parallel()
	eachPath(t, func(t *testing.T, p Path) {
		src := floatsUpTo(110)
		dst, check := guarded(t, len(src), func(int) float32 { return 0 })
		Exp(p, dst, src)
		check()
		worst := 0.0
		for i, x := range src {
			want := math.Exp(float64(x))
			switch have := float64(dst[i]); {
			case want > math.MaxFloat32:
				if !math.IsInf(have, 1) && math.Abs(have/want-1) > 1e-6 {
					t.Errorf("exp(%g) = %g, want +Inf", x, have)
				}
			case want < 0x1p-126:
				if math.Abs(have-want) > 0x1p-126 {
					t.Errorf("exp(%g) = %g, want %g", x, have, want)
				}
			default:
				worst = max(worst, math.Abs(have/want-1))
			}
		}
		t.Logf("relative error %.2g", worst)
		if !(worst < 3e-7) {
			t.Errorf("relative error is %g, want less than 3e-7", worst)
		}
	})
}

func TestCos(t *testing.T) {
	t.Parallel()
	eachPath(t, func(t *testing.T, p Path) {
		for _, limit := range []float64{4, 1e4, 131072, 1e7, math.MaxFloat32} {
			src := floatsUpTo(limit)
			dst, check := guarded(t, len(src), func(int) float32 { return 0 })
			Cos(p, dst, src)
			check()
			worst := 0.0
			for i, x := range src {
				worst = max(worst, math.Abs(float64(dst[i])-math.Cos(float64(x))))
			}
			t.Logf("up to %g: absolute error %.2g", limit, worst)
			if !(worst < 3e-7) {
				t.Errorf("up to %g: absolute error is %g, want less than 3e-7", limit, worst)
			}
		}
	})
}

// TestVectorFunctionsAtEveryLength puts special values at every position of
// every short length.
func TestVectorFunctionsAtEveryLength(t *testing.T) {
	t.Parallel()
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	same := func(have float32, want float64) bool {
		w := float32(want)
		return have == w || have != have && w != w || math.Abs(float64(have)-want) < 1e-6*max(1, math.Abs(want))
	}
	functions := map[string]struct {
		vector func(Path, []float32, []float32)
		scalar func(float64) float64
	}{"exp": {Exp, math.Exp}, "cos": {Cos, math.Cos}}
	eachPath(t, func(t *testing.T, p Path) {
		for name, f := range functions {
			for length := range 70 {
				for place := range length {
					special := []float32{inf, -inf, nan, 1e6, 1000, -1000}[(length+place)%6]
					src, checkSrc := guarded(t, length, func(i int) float32 { return float32(i)/7 - 3 })
					src[place] = special
					dst, checkDst := guarded(t, length, func(int) float32 { return nan })
					f.vector(p, dst, src)
					checkSrc()
					checkDst()
					for i, x := range src {
						if !same(dst[i], f.scalar(float64(x))) {
							t.Fatalf("length %d: %s(%g) = %g, want %g", length, name, x, dst[i], f.scalar(float64(x)))
						}
					}
					f.vector(p, src, src)
					for i := range src {
						if math.Float32bits(src[i]) != math.Float32bits(dst[i]) && src[i] == src[i] {
							t.Fatalf("length %d: %s in place gives %g at %d, want %g", length, name, src[i], i, dst[i])
						}
					}
				}
			}
		}
	})
}
