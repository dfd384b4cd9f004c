package kft_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

// A row of weight w has noise of variance s2/w: what is learned is s2, whatever the
// weights, and weighing by the noise of each shop finds that as well.
func TestNoiseOfWeightedRows(t *testing.T) {
	rng := randstream.New(4, "weighted")
	var b strings.Builder
	b.WriteString("shop,good,w,y\n")
	sd := map[bool]float64{false: 0.5, true: 1.5} // of even and odd shops
	for i := range 20 {
		for j := range 150 {
			w := []float64{0.25, 1, 4}[rng.IntN(3)]
			fmt.Fprintf(&b, "%d,%d,%g,%g\n", i, j, w, float64(i%5)+sd[i%2 == 1]/math.Sqrt(w)*rng.NormFloat64())
		}
	}
	table := filepath.Join(t.TempDir(), "weighted.csv")
	if err := os.WriteFile(table, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, use := range []string{"predict", "fit"} {
		spec := kft.Spec{Terms: []string{"shop"}}
		spec.Data.Files, spec.Data.Target, spec.Data.Weight, spec.Data.Modes = []string{table}, "y", "w", []string{"shop", "good"}
		spec.Uncertainty.Inference, spec.Uncertainty.Conformal = "mean-field", "none"
		spec.Uncertainty.Noise, spec.Uncertainty.NoiseUse = "entity:shop", use
		m, _ := fitSales(t, spec, kft.Options{})
		p, err := m.Predict(context.Background(), []kft.Cell{{"shop": "2", "good": "0"}, {"shop": "3", "good": "0"}})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []float64{sd[false], sd[true]} {
			if got := p[i].SDNoise; math.Abs(math.Log(got/want)) > 0.25 {
				t.Errorf("noise for %s: sd %.3g, the truth is %.3g", use, got, want)
			}
		}
	}
}
