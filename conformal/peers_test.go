package conformal

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/backendtest"
)

// Processes that share the work compute the corrections of one process.
func TestProcessesShareTheWork(t *testing.T) {
	t.Parallel()
	const n = 40_000
	rng := rand.New(rand.NewPCG(1, 1))
	scores, location, spread := make([]float64, n), make([]float64, n), make([]float64, n)
	predicted, actual := make([]float64, n), make([]float64, n)
	for i := range scores {
		scores[i], location[i], spread[i] = rng.NormFloat64(), math.Round(100*rng.Float64()), rng.Float64()
		predicted[i] = math.Exp(rng.NormFloat64())
		actual[i] = predicted[i] * math.Exp(.5*rng.NormFloat64())
	}
	want, err := NewBySpread(nil, 2, scores, location, spread, 30, 5)
	if err != nil {
		t.Fatal(err)
	}
	curve := NewMeanCurve(nil, 2, predicted, actual, nil)
	for _, size := range []int{1, 3, 8} {
		backendtest.OnRanks(size, func(r backend.Ranks) {
			got, err := NewBySpread(r, 1, scores, location, spread, 30, 5)
			if err != nil || !reflect.DeepEqual(got.Record(), want.Record()) {
				t.Errorf("process %d of %d: the correction differs, error %v", r.Rank(), size, err)
			}
			if got := NewMeanCurve(r, 1, predicted, actual, nil); !reflect.DeepEqual(got, curve) {
				t.Errorf("process %d of %d: the curve differs", r.Rank(), size)
			}
		})
	}
}
