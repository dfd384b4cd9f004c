package sideinfo

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/fielderr"
)

func TestPlacebo(t *testing.T) {
	t.Parallel()
	f := Features{N: 500, C: 4, X: make([]float32, 2000), Names: []string{"a", "b", "c", "d"}}
	one, err := Placebo("constant", f, 1)
	if err != nil || slices.ContainsFunc(one.X, func(v float32) bool { return v != 1 }) || one.N != 500 || one.C != 4 {
		t.Errorf("constant: got %d x %d features, %v; want 500 x 4 ones", one.N, one.C, err)
	}
	noise, err := Placebo("noise", f, 1)
	if err != nil {
		t.Fatal(err)
	}
	var values []float64
	for _, v := range noise.X {
		values = append(values, float64(v))
	}
	if mean, sd := meanAndDeviation(values); math.Abs(mean) > .1 || math.Abs(sd-1) > .1 {
		t.Errorf("noise: got mean %g and sd %g, want about 0 and 1", mean, sd)
	}
	again, _ := Placebo("noise", f, 1)
	other, _ := Placebo("noise", f, 2)
	if !slices.Equal(again.X, noise.X) || slices.Equal(other.X, noise.X) || f.X[0] != 0 {
		t.Error("noise must depend on the seed alone and leave the features unchanged")
	}
	if _, err := Placebo("nosie", f, 1); err == nil || !strings.Contains(err.Error(), `(did you mean "noise"?)`) || fielderr.Path(err) != "side.placebo" {
		t.Errorf("got error %v (field %q), want a suggestion for side.placebo", err, fielderr.Path(err))
	}
}
