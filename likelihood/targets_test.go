package likelihood

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestTargets(t *testing.T) {
	inf := float32(math.Inf(1))
	nan := float32(math.NaN())
	for _, c := range []struct {
		y            []float32
		at           int // -1: fine
		atFractional int
		says         string
	}{
		{nil, -1, -1, ""},
		{[]float32{0, 3, 1e6}, -1, -1, ""},
		{[]float32{0, 3, -1}, 2, 2, "negative"},
		{[]float32{0.5, -1}, 0, 1, "whole numbers"},
		{[]float32{1, inf}, 1, 1, "finite"},
		{[]float32{nan}, 0, 0, "finite"},
	} {
		for _, r := range []struct {
			err error
			at  int
		}{{CheckCounts(c.y), c.at}, {CheckNonnegative(c.y), c.atFractional}} {
			var target *TargetError
			if got := errors.As(r.err, &target); got != (r.at >= 0) {
				t.Errorf("%v: %v", c.y, r.err)
			} else if got && target.Position != r.at {
				t.Errorf("%v: at %d, want %d", c.y, target.Position, r.at)
			}
		}
		if err := CheckCounts(c.y); err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %q does not say %q", c.y, err, c.says)
		}
	}
}
