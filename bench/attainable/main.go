// Command attainable prints the best R2 that a model can reach on held-out rows of a synthetic
// set, see synthetic.Attainable.
//
//	go run ./bench/attainable -shape retail
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/kernel-fried-tensor/kft/internal/synthetic"
)

func main() {
	name := flag.String("shape", "retail", "shape of kft data synthetic")
	rows := flag.Int("rows", 0, "number of rows (0: that of the shape)")
	seed := flag.Uint64("seed", 1, "seed of kft data synthetic")
	training := flag.Float64("training", 0.6, "share of the training rows")
	flag.Parse()
	shape, err := synthetic.NewShape(*name, *rows)
	if err == nil {
		var set *synthetic.Set
		if set, err = synthetic.NewSet(shape, *seed); err == nil {
			a := set.Attainable(shape.Items > shape.Owners, *training)
			fmt.Printf("R2 of the truth %.4f, of log1p %.4f; best estimate from %.0f %% of the rows %.4f, of log1p %.4f\n", a.Truth, a.TruthLog, 100**training, a.Estimate, a.EstimateLog)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "attainable:", err)
		os.Exit(1)
	}
}
