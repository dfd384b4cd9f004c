package conformal_test

import (
	"fmt"
	"log"

	"github.com/kernel-fried-tensor/kft/conformal"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/predictive"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// A predictive distribution whose variance is too small, before and after a conformal
// correction from held-out rows.
func Example() {
	rng := randstream.New(1, "example")
	cell := predictive.Gaussian(targetscale.Log1p, 2, 0.05, 0.05)
	truth := predictive.Gaussian(targetscale.Log1p, 2, 0.05, 0.35)

	scores := make([]float64, 2000)
	for i := range scores {
		scores[i] = cell.Score(truth.Draw(rng), 0, uint64(i))
	}
	correction, err := conformal.NewSplit(2, scores)
	if err != nil {
		log.Fatal(err)
	}
	if err := correction.Check(.05, .95); err != nil {
		log.Fatal(err)
	}
	corrected := correction.Apply(cell, -1, 0)

	before, after := metrics.NewCalibrationSums(0, 0), metrics.NewCalibrationSums(0, 0)
	for i := range 20000 {
		o := metrics.Observation{Y: truth.Draw(rng), Weight: 1, Index: uint64(i)}
		before.Add(cell, o)
		after.Add(corrected, o)
	}
	for _, sums := range []*metrics.CalibrationSums{before, after} {
		c := sums.Calibration(nil, 0)
		fmt.Printf("coverage %.2f  Xi %.1f  CRPS %.1f\n", c.Coverage90, c.Xi, c.CRPS)
	}
	// Output:
	// coverage 0.59  Xi 1.0  CRPS 3.4
	// coverage 0.90  Xi 0.0  CRPS 3.1
}
