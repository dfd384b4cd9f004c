package calibrate_test

import (
	"fmt"
	"log"

	"github.com/kernel-fried-tensor/kft/calibrate"
	"github.com/kernel-fried-tensor/kft/internal/stream"
)

// A predictive whose variance is too small, before and after a conformal layer
// made of rows kept aside.
func Example() {
	rng := stream.New(1, "example")
	cell := calibrate.Gaussian(calibrate.Log1p, 2, 0.05, 0.05)
	truth := calibrate.Gaussian(calibrate.Log1p, 2, 0.05, 0.35)

	z := make([]float64, 2000)
	for i := range z {
		z[i] = cell.Score(truth.Draw(rng), 0, uint64(i))
	}
	layer, err := calibrate.FitSplit(z)
	if err != nil {
		log.Fatal(err)
	}
	if err := layer.Check(.05, .95); err != nil {
		log.Fatal(err)
	}
	mended := cell.With(layer.Law(cell.Location(), -1))

	plain, conformal := calibrate.NewTally(0, 0), calibrate.NewTally(0, 0)
	for i := range 20000 {
		row := calibrate.Row{Y: truth.Draw(rng), Weight: 1, Index: uint64(i)}
		plain.Add(cell, row)
		conformal.Add(mended, row)
	}
	for _, t := range []*calibrate.Tally{plain, conformal} {
		r := t.Report(nil, 0)
		fmt.Printf("coverage %.2f  Xi %.1f  CRPS %.1f\n", r.Coverage90, r.Xi, r.CRPS)
	}
	// Output:
	// coverage 0.59  Xi 1.0  CRPS 3.4
	// coverage 0.90  Xi 0.0  CRPS 3.1
}
