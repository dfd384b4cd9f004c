package predictive

import (
	"fmt"
	"math"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/likelihood"
)

// finiteCases are distributions of few values, with the draw that defines them.
func finiteCases() []FiniteDistribution {
	return []FiniteDistribution{likelihood.Bernoulli{}, likelihood.Bernoulli{Shift: 0.4, Slope: 0.7}}
}

// Probabilities, moments, CRPS and quantiles agree with draws of f and of the value.
func TestFiniteMixtureAgainstDraws(t *testing.T) {
	t.Parallel()
	const draws = 60000
	for k, given := range finiteCases() {
		for _, at := range [][2]float64{{0, 0}, {0.7, 0.5}, {-2, 4}} {
			what := fmt.Sprintf("%T %d at %v", given, k, at)
			d := FiniteMixture(given, at[0], at[1])
			rng := randstream.New(7, "finite")
			values := given.Values()
			var y []float64
			var mean, square, ofMean float64
			for range draws {
				f, u := at[0]+math.Sqrt(at[1])*rng.NormFloat64(), rng.Float64()
				i, below, expected := 0, 0.0, 0.0
				for j, v := range values {
					upTo := given.CDF(j, f)
					if u > upTo {
						i = j + 1
					}
					expected += v * (upTo - below)
					below = upTo
				}
				y = append(y, values[i])
				mean += values[i] / draws
				square += values[i] * values[i] / draws
				ofMean += expected * expected / draws
			}
			scale := values[len(values)-1] - values[0]
			m := d.Moments()
			checkNear(t, what+" mean", m.Mean, mean, 0.01*scale)
			checkNear(t, what+" variance", m.SD*m.SD, square-mean*mean, 0.02*scale*scale)
			checkNear(t, what+" variance of the mean", m.SDModel*m.SDModel, ofMean-mean*mean, 0.02*scale*scale)
			crps := 0.0
			for i, v := range y {
				crps += math.Abs(v-values[0]) / draws
				crps -= math.Abs(v-y[(i+1)%draws]) / 2 / draws
			}
			checkNear(t, what+" CRPS", d.CRPS(values[0]), crps, 0.02*scale)
			total := 0.0
			for _, v := range values {
				total += d.Density(v)
				below, upTo := d.CDFLimits(v)
				checkNear(t, what+" density", d.Density(v), upTo-below, 1e-12)
				if q := d.Quantile((below + upTo) / 2); upTo > below && q != v {
					t.Errorf("%s: got quantile %g, want %g", what, q, v)
				}
				if e := d.Evaluate(v); e.Below != below || e.UpTo != upTo || e.CRPS != d.CRPS(v) {
					t.Errorf("%s: got evaluation %+v", what, e)
				}
			}
			checkNear(t, what+" total", total, 1, 1e-9)
			if p := d.Density(values[0] + scale/math.Pi); p != 0 {
				t.Errorf("%s: got density %g between the values", what, p)
			}
		}
	}
}
