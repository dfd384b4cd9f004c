package fitdata

import (
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/solver"
)

func TestWarnCoarseTarget(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		y    []float64
		want string // part of the warning; "" for none
	}{
		{[]float64{0, 1, 2, 3}, ""},
		{[]float64{20000, 20001, 20002}, ""},
		{[]float64{1e12, 1e12 + 128, 1e12 + 256}, ""},
		{[]float64{1e18, 1e18 + 256, 1e18 + 512}, "128 apart"},
		{[]float64{-1e18, -1e18 - 256}, "subtract a constant such as -1e+18"},
		{[]float64{0, 1e30}, ""},
	} {
		o := &solver.Observations{}
		for _, v := range c.y {
			o.Y, o.Low = append(o.Y, float32(v)), append(o.Low, float32(v-float64(float32(v))))
		}
		got := WarnCoarseTarget("y", o)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%v: got warning %q, want %q", c.y, got, c.want)
		}
	}
}
