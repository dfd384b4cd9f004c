package automatic_test

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// Amounts of which most are 0 are not zeros with outliers: with Student noise all predictions would be 0, with intervals of no width.
func TestAmountsWithZerosHaveNoOutliers(t *testing.T) {
	t.Parallel()
	rng := randstream.New(1, "claims")
	var text strings.Builder
	text.WriteString("region,brand,amount\n")
	for range 3000 {
		amount := 0.0
		if rng.IntN(10) == 0 {
			amount = math.Exp(7 + rng.NormFloat64())
		}
		fmt.Fprintf(&text, "r%d,b%d,%.2f\n", rng.IntN(20), rng.IntN(10), amount)
	}
	file := filepath.Join(t.TempDir(), "claims.csv")
	writeFile(t, file, text.String())
	_, r := mustFit(t, spec.Spec{Data: spec.Data{Files: []string{file}, Target: "amount", Modes: []string{"region", "brand"}, Duplicates: "keep"}}, train.Options{Threads: 2})
	if r.Spec.Uncertainty.Likelihood != "gaussian" || r.Test.Bias < 0.2 {
		t.Errorf("got likelihood %s, predicted / actual total %g; want gaussian and more than 0.2", r.Spec.Uncertainty.Likelihood, r.Test.Bias)
	}
}
