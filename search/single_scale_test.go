package search

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

// The scale of one series follows from how its season and its noise grow with its level. Few forecasts say
// more about the trend of the last periods: of these lines with seasons, most had logarithms or roots.
func TestScaleOfOneSeries(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		for want, value := range map[string]func(k, noise float64) float64{
			"identity": func(k, noise float64) float64 { return 100 + 1.5*k + 20*math.Sin(math.Pi*k/6) + 5*noise },
			"power:0": func(k, noise float64) float64 {
				return 100 * math.Exp(0.02*k+0.2*math.Sin(math.Pi*k/6)+0.04*noise)
			},
		} {
			rng := rand.New(rand.NewPCG(seed, 8))
			var text strings.Builder
			text.WriteString("when,value\n")
			for k := range 96 {
				fmt.Fprintf(&text, "%d-%02d,%.3f\n", 2018+k/12, k%12+1, value(float64(k), rng.NormFloat64()))
			}
			file := filepath.Join(t.TempDir(), "series.csv")
			writeFile(t, file, text.String())
			_, r := mustFit(t, spec.Spec{Data: spec.Data{Files: []string{file}}, Split: "time:last=12"}, train.Options{Threads: 2})
			if r.Spec.Transform != want {
				t.Errorf("seed %d: got the scale %s, want %s", seed, r.Spec.Transform, want)
			}
		}
	}
}
