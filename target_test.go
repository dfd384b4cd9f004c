package kft

import (
	"strings"
	"testing"
)

func TestCoarseTarget(t *testing.T) {
	for _, c := range []struct {
		y    []float32
		says string // "" for nothing
	}{
		{[]float32{0, 1, 2, 3}, ""},
		{[]float32{20000, 20001, 20002}, "the target y goes up to 2e+04"}, // 1/512 apart, of a deviation of 0.8
		{[]float32{1e9, 1e9 + 128, 1e9 + 256}, "64 apart"},
		{[]float32{-1e9, -1e9 - 128}, "subtract a constant such as -1e+09"},
		{[]float32{0, 1e30}, ""},
	} {
		got := coarseTarget("y", c.y)
		if (got == "") != (c.says == "") || !strings.Contains(got, c.says) {
			t.Errorf("%v: %q", c.y, got)
		}
	}
}
