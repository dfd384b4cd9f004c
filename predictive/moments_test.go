package predictive

import (
	"math"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// TestVarianceParts compares the parts of the variance with their definition, by
// draws of f and of two values given each f.
func TestVarianceParts(t *testing.T) {
	t.Parallel()
	for _, c := range testCases() {
		d, got := c.d, c.d.Moments()
		total := got.SD * got.SD
		model, noise := got.SDModel*got.SDModel, got.SDNoise*got.SDNoise
		checkNear(t, c.name+" total", model+noise, total, 1e-9*total)
		if d.scores.n > 0 {
			normal := d.WithScores(nil).Moments()
			checkNear(t, c.name+" share of the model", got.SDModel/got.SD, normal.SDModel/normal.SD, 1e-9)
			continue
		}
		if _, ok := d.count.(zeroModified); ok {
			// The mean is the sum of 1 - F, and the probabilities of both parts are tested elsewhere.
			var g countGrid
			d.fillGrid(&g)
			mean, variance := d.gridMoments(&g)
			checkNear(t, c.name+" mean", got.Mean, mean, 4e-3*mean)
			checkNear(t, c.name+" variance", total/variance, 1, 2e-2)
			continue
		}
		if d.count != nil {
			// Closed forms of the log link.
			mean := math.Exp(d.m + d.model/2)
			checkNear(t, c.name+" mean", got.Mean, mean, 1e-7*mean)
			checkNear(t, c.name+" model", model, mean*mean*math.Expm1(d.model), 1e-6*mean*mean)
			continue
		}
		rng := randstream.New(7, "split")
		const n = 200000
		var sum, products, within float64
		for range n {
			f := d.m + math.Sqrt(d.model)*rng.NormFloat64()
			e := math.Sqrt(d.noise)
			a := d.transform.Inverse(f + e*rng.NormFloat64())
			b := d.transform.Inverse(f + e*rng.NormFloat64())
			// The covariance of two values with the same f is Var E[y|f].
			sum += a + b
			products += a * b
			within += (a - b) * (a - b) / 2
		}
		mean := sum / (2 * n)
		checkNear(t, c.name+" model", model, products/n-mean*mean, 0.05*total)
		checkNear(t, c.name+" noise", noise, within/n, 0.05*total)
	}
}

// TestMomentsOfRoots checks that no digits cancel far from the lower bound, and that
// a model without noise has a noise part of exactly 0.
func TestMomentsOfRoots(t *testing.T) {
	t.Parallel()
	for _, transform := range []targetscale.Transform{targetscale.Sqrt, targetscale.Cbrt1p} {
		far := Gaussian(transform, 1e4, 1e-10, 1e-10).Moments()
		slope := transform.InverseDerivative(1e4)
		checkNear(t, transform.String()+" sd far from the bound", far.SD/slope, math.Sqrt(2e-10), 1e-9)
		checkNear(t, transform.String()+" ratio of the parts far from the bound", far.SDModel/far.SDNoise, 1, 1e-6)
		for _, m := range []float64{-5, 1, 50} {
			if got := Gaussian(transform, m, 0.3, 0).Moments().SDNoise; got != 0 {
				t.Errorf("%v at %g: got noise sd %g, want 0", transform, m, got)
			}
		}
	}
}
