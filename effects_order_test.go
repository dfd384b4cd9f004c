package kft_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

// The order of effects does not decide which of them is learned, also from few answers yes and no.
func TestOrderOfEffects(t *testing.T) {
	t.Parallel()
	rng := randstream.New(9, "answers")
	var b strings.Builder
	b.WriteString("idle,telling,answer\n")
	for range 240 {
		idle, telling, answer := rng.NormFloat64(), rng.NormFloat64(), 0
		if rng.Float64() < 1/(1+math.Exp(-2.5*telling)) {
			answer = 1
		}
		fmt.Fprintf(&b, "%.3f,%.3f,%d\n", idle, telling, answer)
	}
	spec := kft.Spec{
		Data:        kft.DataSpec{Files: []string{writeFile(t, "answers.csv", b.String())}, Target: "answer", Modes: []string{"number(idle)", "number(telling)"}, Duplicates: "keep"},
		Terms:       []string{"idle", "telling"},
		Uncertainty: kft.UncertaintySpec{Inference: "mean-field", Likelihood: "bernoulli", Conformal: "none"},
	}
	for range 2 {
		if _, r := fit(t, spec, kft.Options{}); r.Test.R2 < 0.2 {
			t.Errorf("terms %q: test R2 %.3f, want 0.2 at least", spec.Terms, r.Test.R2)
		}
		slices.Reverse(spec.Terms)
	}
}
