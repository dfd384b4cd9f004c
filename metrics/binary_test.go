package metrics

import (
	"math"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

// Measures agree with their definitions, and sums of parts with those of all rows.
func TestBinaryAgainstDefinitions(t *testing.T) {
	t.Parallel()
	rng := randstream.New(5, "binary")
	var all, merged BinarySums
	parts := make([]BinarySums, 3)
	var y, w, p []float64
	for i := range 900 {
		p = append(p, math.Round(100*rng.Float64())/100) // with ties
		w = append(w, 0.5+rng.Float64())
		y = append(y, 0)
		if rng.Float64() < p[i] {
			y[i] = 1
		}
		all.Add(y[i], w[i], p[i])
		parts[i%3].Add(y[i], w[i], p[i])
	}
	for i := range parts {
		merged.Merge(&parts[i])
	}
	var loss, brier, wrong, total, pairs, good float64
	for i := range y {
		total += w[i]
		q := min(max(p[i], leastProbability), 1-leastProbability)
		loss -= w[i] * math.Log(y[i]*q+(1-y[i])*(1-q))
		brier += w[i] * (y[i] - p[i]) * (y[i] - p[i])
		if (p[i] > 0.5) != (y[i] == 1) {
			wrong += w[i]
		}
		for j := range y {
			if y[i] == 1 && y[j] == 0 {
				pairs += w[i] * w[j]
				switch {
				case p[i] > p[j]:
					good += w[i] * w[j]
				case p[i] == p[j]:
					good += w[i] * w[j] / 2
				}
			}
		}
	}
	for name, b := range map[string]*Binary{"all": all.Binary(), "merged": merged.Binary()} {
		checkNear(t, name+" log loss", float64(b.LogLoss), loss/total, 1e-9)
		checkNear(t, name+" Brier", float64(b.Brier), brier/total, 1e-9)
		checkNear(t, name+" error rate", float64(b.ErrorRate), wrong/total, 1e-9)
		checkNear(t, name+" AUC", float64(b.AUC), good/pairs, 1e-9)
		n := 0
		for _, r := range b.Reliability {
			n += r.N
		}
		if n != 900 || len(b.Reliability) != 10 || b.Gap() > 0.2 {
			t.Errorf("%s: got reliability %+v of %d rows", name, b.Reliability, n)
		}
	}
	var same BinarySums
	for i := range 50 {
		same.Add(float64(i%2), 1, 0.5)
	}
	if b := same.Binary(); len(b.Reliability) != 1 || b.AUC != 0.5 || b.Reliability[0].N != 50 {
		t.Errorf("equal predictions: got %+v", b)
	}
	if (&BinarySums{}).Binary() != nil {
		t.Error("no rows: got measures")
	}
}
