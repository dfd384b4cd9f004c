package train

import (
	"strings"
	"testing"
)

func TestWarnCoarseTarget(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		y    []float32
		want string // part of the warning; "" for none
	}{
		{[]float32{0, 1, 2, 3}, ""},
		{[]float32{20000, 20001, 20002}, "the target y has values up to 2e+04"}, // 1/512 apart, standard deviation 0.8
		{[]float32{1e9, 1e9 + 128, 1e9 + 256}, "64 apart"},
		{[]float32{-1e9, -1e9 - 128}, "subtract a constant such as -1e+09"},
		{[]float32{0, 1e30}, ""},
	} {
		got := warnCoarseTarget("y", c.y)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%v: got warning %q, want %q", c.y, got, c.want)
		}
	}
}
