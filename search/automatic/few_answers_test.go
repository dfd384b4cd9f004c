package automatic_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// Few yes and no answers that depend on some of several numbers: the effects leave the start, where they explain
// nothing.
func TestFewAnswers(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	var text strings.Builder
	text.WriteString("glucose,pressure,skin,mass,pedigree,age,births,ill\n")
	for range 240 {
		x := make([]float64, 7)
		for k := range x {
			x[k] = rng.NormFloat64()
		}
		odds := 0.9*x[0] + 0.5*x[3] + 0.5*x[5] - 0.7
		ill := 0
		if rng.Float64() < 1/(1+math.Exp(-odds)) {
			ill = 1
		}
		for _, v := range x {
			fmt.Fprintf(&text, "%.2f,", 50+10*v)
		}
		fmt.Fprintf(&text, "%d\n", ill)
	}
	file := filepath.Join(t.TempDir(), "patients.csv")
	writeFile(t, file, text.String())
	_, r := mustFit(t, spec.Spec{Data: spec.Data{Files: []string{file}, Target: "ill"}}, train.Options{Threads: 2})
	best, _ := r.BestFormula()
	if r.Test.Binary == nil || !(float64(r.Test.Binary.LogLoss) < 0.97*float64(best.Test.Binary.LogLoss)) {
		t.Errorf("got %+v on test, want a log loss well below that of %q, %+v", r.Test.Binary, best.Name, best.Test.Binary)
	}
}
