package evaluate

import (
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/conformal"
	"github.com/kernel-fried-tensor/kft/tt"
)

// TestOriginOf checks that only corrections by horizon have an origin, which a later training may change them by.
func TestOriginOf(t *testing.T) {
	t.Parallel()
	scores := make([]float64, 99)
	for i := range scores {
		scores[i] = float64(i - 49)
	}
	split, err := conformal.NewSplit(1, slices.Clone(scores))
	if err != nil {
		t.Fatal(err)
	}
	forecasts, err := conformal.NewByHorizon(1, slices.Clone(scores), scores, slices.Repeat([]int32{1}, len(scores)), 1)
	if err != nil {
		t.Fatal(err)
	}
	if o := OriginOf(nil, tt.Moments{}, Rows{}, split); o.Correction != nil || o.Surprised {
		t.Errorf("a correction of all rows: got %+v", o)
	}
	if o := OriginOf(nil, tt.Moments{}, Rows{}, forecasts); o.Correction != forecasts || !o.Surprised {
		t.Errorf("a correction by horizon: got %+v", o)
	}
}
