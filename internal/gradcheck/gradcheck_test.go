package gradcheck

import "testing"

func TestCheckAcceptsCubic(t *testing.T) {
	x := []float32{1, 2, -3}
	value := func() float64 {
		sum := 0.0
		for _, v := range x {
			sum += float64(v) * float64(v) * float64(v)
		}
		return sum
	}
	Check(t, "cubic", x, []float32{3, 12, 27}, value, 1e-2, 3, 1e-4)
}
