package fieldtext

import (
	"math"
	"strconv"
	"testing"
)

// TestAppendFloat32 compares with strconv at numbers of every exponent, at the ends of the
// range, and at decimals with few digits.
func TestAppendFloat32(t *testing.T) {
	t.Parallel()
	check := func(v float32) {
		t.Helper()
		got, want := AppendFloat32([]byte("x"), v), strconv.AppendFloat([]byte("x"), float64(v), 'g', -1, 32)
		if string(got) != string(want) {
			t.Fatalf("%x: %s, expected %s", math.Float32bits(v), got, want)
		}
	}
	around := func(v float32) {
		bits := math.Float32bits(v)
		for d := uint32(0); d < 40; d++ {
			for _, b := range []uint32{bits + d, bits - d} {
				check(math.Float32frombits(b))
				check(-math.Float32frombits(b))
			}
		}
	}
	for exponent := uint32(0); exponent < 256; exponent++ {
		check(math.Float32frombits(exponent << 23))
		for m := uint32(1); m < 1<<23; m += 4099 {
			check(math.Float32frombits(exponent<<23 | m))
		}
		around(math.Float32frombits(exponent<<23 | 1<<22))
	}
	for ten := 1e-6; ten < 1e9; ten *= 10 {
		around(float32(ten))
		for k := range 2000 {
			check(float32(float64(k) * ten / 1000))
		}
	}
	for k := range 300_000 {
		check(float32(k))
		check(float32(k) / 64)
		check(float32(k) + 0.5)
	}
	check(float32(math.Copysign(0, -1)))
	check(float32(math.Inf(1)))
	check(float32(math.NaN()))
}

func BenchmarkAppendFloat32(b *testing.B) {
	values := make([]float32, 4096)
	for i := range values {
		values[i] = float32(math.Exp(float64(i%700)/100 - 1))
	}
	var dst [32]byte
	for i := 0; b.Loop(); i++ {
		AppendFloat32(dst[:0], values[i%len(values)])
	}
}

func BenchmarkAppendFloat(b *testing.B) {
	values := make([]float32, 4096)
	for i := range values {
		values[i] = float32(math.Exp(float64(i%700)/100 - 1))
	}
	var dst [32]byte
	for i := 0; b.Loop(); i++ {
		strconv.AppendFloat(dst[:0], float64(values[i%len(values)]), 'g', -1, 32)
	}
}
