package model

import (
	"encoding/json"
	"math"
	"testing"
)

func TestScoreByHand(t *testing.T) {
	var whole, left, right Tally
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
	// Mean of y is 15/5 = 3; total squares 4 + 1 + 0 + 9 = 14; residual 0 + 1 + 0 + 4 = 5.
	for name, s := range map[string]Score{"whole": whole.Score(), "merged": left.Score()} {
		if s.N != 4 || math.Abs(s.R2-(1-5.0/14)) > 1e-12 || math.Abs(s.RMSE-1) > 1e-12 || math.Abs(s.MAE-6.0/5) > 1e-12 || math.Abs(s.R2Scale-s.R2) > 1e-12 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestUndefinedScoreIsNull(t *testing.T) {
	var empty Tally
	text, err := json.Marshal(empty.Score())
	if err != nil || string(text) != `{"n":0,"r2":null,"rmse":null,"mae":null,"r2_scale":null}` {
		t.Errorf("%s, %v", text, err)
	}
	var back Score
	if err := json.Unmarshal(text, &back); err != nil || !math.IsNaN(back.R2) {
		t.Errorf("%+v, %v", back, err)
	}
}
