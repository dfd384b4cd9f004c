package kft_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/likelihood"
)

// TestNegativeBinomialCounts fits counts from a known negative binomial distribution and
// checks mean, dispersion and coverage.
func TestNegativeBinomialCounts(t *testing.T) {
	t.Parallel()
	rng := randstream.New(3, "counts")
	distribution := likelihood.NegativeBinomial{Size: 3}
	shops, goods := make([]float64, 30), make([]float64, 40)
	for _, effects := range [][]float64{shops, goods} {
		for i := range effects {
			effects[i] = 0.6 * rng.NormFloat64()
		}
	}
	var b strings.Builder
	b.WriteString("shop,good,n\n")
	for i, s := range shops {
		for j, g := range goods {
			for range 3 {
				fmt.Fprintf(&b, "%d,%d,%g\n", i, j, distribution.Draw(rng, 1.5+s+g))
			}
		}
	}
	m, r := fit(t, kft.Spec{
		Data:        kft.DataSpec{Files: []string{writeFile(t, "counts.csv", b.String())}, Target: "n", Modes: []string{"shop", "good"}, Duplicates: "last"},
		Terms:       []string{"shop", "good"},
		Uncertainty: kft.UncertaintySpec{Inference: "mean-field", Likelihood: "negative-binomial", Conformal: "none"},
	}, kft.Options{})
	// Intervals of a discrete distribution cover slightly more than their level.
	if got := float64(r.Test.Calibration.Coverage90); math.Abs(got-0.93) > 0.06 {
		t.Errorf("got coverage %.3f of 90 %% intervals, want 0.93 +- 0.06", got)
	}
	p := predictCells(t, m, kft.Cell{"shop": "0", "good": "0"})[0]
	if want := math.Exp(1.5 + shops[0] + goods[0]); math.Abs(math.Log(p.Mean/want)) > 0.35 {
		t.Errorf("got mean %.3g, want %.3g up to a factor of exp(0.35)", p.Mean, want)
	}
	if poisson := math.Sqrt(p.Mean); p.SDNoise < poisson {
		t.Errorf("got noise sd %.3g, want at least %.3g, that of a Poisson distribution with the same mean", p.SDNoise, poisson)
	}
}
