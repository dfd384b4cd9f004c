package kft_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// Lines of which each id has its own slope, 0 in the mean, are learned: from a small start they vanished, and the
// noise was learned as large.
func TestSlopesOfIDs(t *testing.T) {
	t.Parallel()
	for _, seed := range []uint64{1, 10, 11, 12} {
		random := rand.New(rand.NewPCG(seed, 7))
		slopes := make([]float64, 30)
		for i := range slopes {
			slopes[i] = random.NormFloat64()
		}
		var b strings.Builder
		b.WriteString("g,x,z,y\n")
		for range 600 {
			g, x, z := random.IntN(30), random.NormFloat64(), random.NormFloat64()
			fmt.Fprintf(&b, "c%d,%.3f,%.3f,%.3f\n", g, x, z, slopes[g]*x+0.3*z+0.5*random.NormFloat64())
		}
		_, r := fit(t, kft.Spec{
			Data:        kft.DataSpec{Files: []string{writeFile(t, "slopes.csv", b.String())}, Target: "y", Modes: []string{"g", "number(x)", "number(z)"}, Duplicates: "keep"},
			Terms:       []string{"g*x", "g", "x", "z"},
			Transform:   "identity",
			Uncertainty: kft.UncertaintySpec{Inference: "mean-field", Conformal: "none"},
		}, kft.Options{})
		if r.Test.R2 < 0.5 {
			t.Errorf("seed %d: got R2 %.3f on test", seed, r.Test.R2)
		}
	}
}
