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
	"github.com/kernel-fried-tensor/kft/likelihood"
)

// Counts drawn from a known law are fitted on their own scale: the model finds the
// dispersion, and its intervals hold what they promise.
func TestNegativeBinomialEndToEnd(t *testing.T) {
	rng := randstream.New(3, "counts")
	law := likelihood.NegativeBinomial{Size: 3}
	var b strings.Builder
	b.WriteString("shop,good,n\n")
	shops, goods := make([]float64, 30), make([]float64, 40)
	for _, v := range [][]float64{shops, goods} {
		for i := range v {
			v[i] = 0.6 * rng.NormFloat64()
		}
	}
	for i, s := range shops {
		for j, g := range goods {
			for range 3 {
				fmt.Fprintf(&b, "%d,%d,%g\n", i, j, law.Draw(rng, 1.5+s+g))
			}
		}
	}
	table := filepath.Join(t.TempDir(), "counts.csv")
	if err := os.WriteFile(table, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	spec := kft.Spec{Terms: []string{"shop", "good"}}
	spec.Data.Files, spec.Data.Target, spec.Data.Modes, spec.Data.Duplicates = []string{table}, "n", []string{"shop", "good"}, "last"
	spec.Uncertainty.Inference, spec.Uncertainty.Likelihood, spec.Uncertainty.Conformal = "mean-field", "negative-binomial", "none"
	m, r := fitSales(t, spec, kft.Options{})
	if cover := float64(r.Test.Calibration.Coverage90); math.Abs(cover-0.93) > 0.06 { // discrete: a little more than asked
		t.Errorf("90 %% intervals hold %.3f", cover)
	}
	p, err := m.Predict(context.Background(), []kft.Cell{{"shop": "0", "good": "0"}})
	if err != nil {
		t.Fatal(err)
	}
	if want := math.Exp(1.5 + shops[0] + goods[0]); math.Abs(math.Log(p[0].Mean/want)) > 0.35 {
		t.Errorf("mean %.3g, the truth is %.3g", p[0].Mean, want)
	}
	if p[0].SDNoise < math.Sqrt(p[0].Mean) {
		t.Errorf("sd of the noise %.3g is below a Poisson's at %.3g", p[0].SDNoise, p[0].Mean)
	}
}
