package metrics_test

import (
	"encoding/json"
	"fmt"

	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/predictive"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// The score of three point predictions.
func ExamplePointSums() {
	var sums metrics.PointSums
	for _, row := range []struct{ y, predicted float64 }{{1, 2}, {3, 3}, {8, 7}} {
		sums.Add(row.y, 1, row.predicted, row.predicted, row.y, row.predicted)
	}
	text, err := json.Marshal(sums.Score())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(text))
	// Output:
	// {"n":3,"r2":0.9230769230769231,"rmse":0.816496580927726,"mae":0.6666666666666666,"r2_scale":0.9230769230769231,"bias":1,"mean_error":0}
}

// The calibration of predictive distributions, here of one that is too narrow.
func ExampleCalibrationSums() {
	sums := metrics.NewCalibrationSums(0, 1)
	d := predictive.Gaussian(targetscale.Identity, 0, 0, 1)
	for i, y := range []float64{-3, -2, -1, 0, 1, 2, 3} {
		sums.Add(d, metrics.Observation{Y: y, Weight: 1, Index: uint64(i)})
	}
	c := sums.Calibration(nil, 0)
	fmt.Printf("coverage of the 90 %% interval %.2f, mean width %.2f, CRPS %.2f\n", c.Coverage90, c.Width90, c.CRPS)
	// Output:
	// coverage of the 90 % interval 0.43, mean width 3.29, CRPS 1.32
}
