package metrics

import (
	"math"
	"testing"

	"github.com/kernel-fried-tensor/kft/predictive"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

func TestForecastSums(t *testing.T) {
	t.Parallel()
	var a, b ForecastSums
	a.Add(10, 1, 12, 11, math.Log1p(10), Change{Absolute: 2, Squared: 4})
	b.Add(20, 1, 18, 17, math.Log1p(17), Change{})
	d := predictive.Gaussian(targetscale.Identity, 12, 0, 1)
	a.AddDistribution(10, 1, d.Evaluate(10))
	d = predictive.Gaussian(targetscale.Identity, 18, 0, 4)
	b.AddDistribution(20, 1, d.Evaluate(20))
	a.Merge(&b)
	got := a.Score()
	error, half := math.Log1p(20)-math.Log1p(17), (math.Log1p(20)-math.Log1p(10))/2
	for name, c := range map[string]struct{ got, want float64 }{
		"MAE": {float64(got.MAE), 2}, "RMSE": {float64(got.RMSE), 2}, "R2": {float64(got.R2), 1 - 8.0/50}, "R2 log1p": {float64(got.R2Log1p), 1 - error*error/(2*half*half)}, "WAPE": {float64(got.WAPE), 4.0 / 30}, "bias": {float64(got.Bias), 1},
		"MASE": {float64(got.MASE), 0.5}, "RMSSE": {float64(got.RMSSE), 1}, "coverage": {float64(got.Coverage90), 0.5}, "width": {float64(got.Width90), 3 * 1.6448536269514722},
	} {
		if math.Abs(c.got-c.want) > 1e-9 {
			t.Errorf("%s: got %g, want %g", name, c.got, c.want)
		}
	}
	if got.N != 2 || !(got.Pinball > 0) {
		t.Errorf("got %+v", got)
	}
	var none ForecastSums
	none.Add(-1, 1, 0, 0, 0, Change{})
	if s := none.Score(); !math.IsNaN(float64(s.Bias)) || !math.IsNaN(float64(s.R2Log1p)) || !math.IsNaN(float64(s.MASE)) || !math.IsNaN(float64(s.Pinball)) {
		t.Errorf("got %+v, want undefined measures", s)
	}
}
