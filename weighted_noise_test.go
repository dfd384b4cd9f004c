package kft_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

// TestNoiseOfWeightedRows checks the noise by entity for rows with weights. A row of
// weight w has noise variance s2/w, and the model reports s2, whether the noise is used
// for prediction only or also for the fit.
func TestNoiseOfWeightedRows(t *testing.T) {
	t.Parallel()
	rng := randstream.New(4, "weighted")
	const evenSD, oddSD = 0.5, 1.5 // of shops with even and odd numbers
	var b strings.Builder
	b.WriteString("shop,good,w,y\n")
	for i := range 20 {
		sd := evenSD
		if i%2 == 1 {
			sd = oddSD
		}
		for j := range 150 {
			w := []float64{0.25, 1, 4}[rng.IntN(3)]
			fmt.Fprintf(&b, "%d,%d,%g,%g\n", i, j, w, float64(i%5)+sd/math.Sqrt(w)*rng.NormFloat64())
		}
	}
	table := writeFile(t, "weighted.csv", b.String())
	for _, use := range []string{"predict", "fit"} {
		m, _ := fit(t, kft.Spec{
			Data:        kft.DataSpec{Files: []string{table}, Target: "y", Weight: "w", Modes: []string{"shop", "good"}},
			Terms:       []string{"shop"},
			Uncertainty: kft.UncertaintySpec{Inference: "mean-field", Conformal: "none", Noise: "entity:shop", NoiseUse: use},
		}, kft.Options{})
		p := predictCells(t, m, kft.Cell{"shop": "2", "good": "0"}, kft.Cell{"shop": "3", "good": "0"})
		for i, want := range []float64{evenSD, oddSD} {
			if got := p[i].SDNoise; math.Abs(math.Log(got/want)) > 0.25 {
				t.Errorf("noise-use %s, cell %d: got noise sd %.3g, want %.3g up to a factor of exp(0.25)", use, i, got, want)
			}
		}
	}
}
