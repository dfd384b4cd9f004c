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

// Zeros have no density, so the evidence of logarithms of counts is no reason for them.
func TestScaleOfOneSeriesOfCounts(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 8))
	var text strings.Builder
	text.WriteString("when,value\n")
	for k := range 24 * 14 {
		rate, n := math.Exp(1+1.2*math.Sin(math.Pi*float64(k-6)/12)), 0
		for sum := rng.ExpFloat64(); sum < rate; sum += rng.ExpFloat64() {
			n++
		}
		fmt.Fprintf(&text, "2024-02-%02d %02d:00,%d\n", k/24+1, k%24, n)
	}
	file := filepath.Join(t.TempDir(), "series.csv")
	writeFile(t, file, text.String())
	_, r := mustFit(t, spec.Spec{Data: spec.Data{Files: []string{file}}, Split: "time:last=24", Fit: spec.Fit{Effort: "quick"}}, train.Options{Threads: 2})
	if r.Spec.Transform == "power:0" {
		t.Error("got logarithms of counts with zeros")
	}
}
