package predictive

import (
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// TestPolynomialVectors checks that the moments of many rows have the bits of those of single ones,
// in any number and order.
func TestPolynomialVectors(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for degree := 2; degree <= targetscale.MostDegree; degree++ {
		d := Gaussian(targetscale.Power(1/float64(degree), 2.5), 0, 0, 1).NonNegative()
		rows := make([]NormalRow, 203)
		for i := range rows {
			model, noise := rng.ExpFloat64(), rng.ExpFloat64()
			switch i % 5 {
			case 0:
				model = 0
			case 1:
				noise *= 0.01
			case 2:
				noise *= float64(i % 2)
			}
			rows[i] = NewNormalRow(8*rng.NormFloat64(), model, noise)
		}
		rows[7] = NewNormalRow(0, 0.1, 0.4)
		rows[8] = NewNormalRow(1e9, 0.1, 0.4)
		d.SetMoments(rows)
		for i, r := range rows {
			moved, plain := d, d
			moved.MoveTo(&rows[i])
			plain.Move(r.M, r.Model, r.Noise)
			if r.known != (r.M >= 0) {
				t.Errorf("degree %d, m %g: known %v", degree, r.M, r.known)
			}
			if a, b := moved.Moments(), plain.Moments(); a != b || moved.Mean() != a.Mean {
				t.Errorf("degree %d, m %g, variances %g and %g: moments %v, alone %v", degree, r.M, r.Model, r.Noise, a, b)
			}
		}
	}
}

// BenchmarkMomentsOfRows measures the moments of many rows at a time.
func BenchmarkMomentsOfRows(b *testing.B) {
	d := Gaussian(targetscale.Power(1.0/6, 1), 0, 0, 1).NonNegative()
	rows := make([]NormalRow, 1024)
	for i := range rows {
		rows[i] = NewNormalRow(0.8+0.03*float64(i%128), 0.05+0.001*float64(i%32), 0.3)
	}
	for i := 0; i < b.N; i += len(rows) {
		d.SetMoments(rows)
	}
}
