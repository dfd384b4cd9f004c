package metrics

import (
	"encoding/json"
	"math"
	"testing"
)

func TestScoreByHand(t *testing.T) {
	t.Parallel()
	var whole, left, right PointSums
	y := []float64{1, 2, 3, 6}
	mean := []float64{1, 3, 3, 4}
	median := []float64{1, 2, 2, 2}
	weight := []float64{1, 1, 2, 1}
	for i := range y {
		whole.Add(y[i], weight[i], mean[i], median[i], 10*y[i], 10*mean[i])
		half := &left
		if i > 1 {
			half = &right
		}
		half.Add(y[i], weight[i], mean[i], median[i], 10*y[i], 10*mean[i])
	}
	left.Merge(&right)
	// The mean of y is 15/5 = 3, the total squares are 4 + 1 + 0 + 9 = 14, and the
	// residual squares are 0 + 1 + 0 + 4 = 5.
	want := Score{N: 4, R2: 1 - 5.0/14, RMSE: 1, MAE: 6.0 / 5, R2Scale: 1 - 5.0/14, Bias: 14.0 / 15, MeanError: -1.0 / 5}
	for name, got := range map[string]Score{"whole": whole.Score(), "merged": left.Score()} {
		if got.N != want.N {
			t.Errorf("%s: got N %d, want %d", name, got.N, want.N)
		}
		checkNear(t, name+" R2", got.R2, want.R2, 1e-12)
		checkNear(t, name+" RMSE", got.RMSE, want.RMSE, 1e-12)
		checkNear(t, name+" MAE", got.MAE, want.MAE, 1e-12)
		checkNear(t, name+" R2Scale", got.R2Scale, want.R2Scale, 1e-12)
		checkNear(t, name+" Bias", got.Bias, want.Bias, 1e-12)
		checkNear(t, name+" MeanError", got.MeanError, want.MeanError, 1e-12)
	}
}

func TestScoreJSON(t *testing.T) {
	t.Parallel()
	var empty PointSums
	text, err := json.Marshal(empty.Score())
	if want := `{"n":0,"r2":null,"rmse":null,"mae":null,"r2_scale":null,"bias":null,"mean_error":null}`; err != nil || string(text) != want {
		t.Errorf("got %s, %v, want %s", text, err, want)
	}
	var got Score
	if err := json.Unmarshal(text, &got); err != nil || !math.IsNaN(got.R2) || got.Calibration != nil {
		t.Errorf("got %+v, %v, want R2 NaN and no calibration", got, err)
	}
	score := Score{N: 7, R2: .5, Calibration: &Calibration{N: 7, Xi: .25}}
	if text, err = json.Marshal(score); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &got); err != nil || got.N != 7 || got.R2 != .5 || got.Calibration == nil || got.Calibration.N != 7 || got.Calibration.Xi != .25 {
		t.Errorf("got %+v, %v from %s, want the score back", got, err, text)
	}
}

func checkNear(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: got %g, want %g within %g", what, got, want, tolerance)
	}
}
