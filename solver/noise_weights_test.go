package solver

import (
	"math"
	"testing"

	"github.com/kernel-fried-tensor/kft/tt"
)

// Noise weights multiply the weights of the data and follow the noise model.
func TestNoiseWeights(t *testing.T) {
	t.Parallel()
	p := threeCores.problem(t, 3, true)
	if err := p.Field.SetFamily(tt.MeanField); err != nil {
		t.Fatal(err)
	}
	d := newTestData(t, p)
	given := append([]float32(nil), d.w...)
	factor := func(i int) float64 { return 1 + float64(i%2) } // of the noise variance
	d.startNoiseWeights(func(mean, squared []float32) ([]float64, float64) {
		v := make([]float64, len(mean))
		for i := range v {
			if !(squared[i] > 0) {
				t.Fatalf("observation %d: got expected squared error %g, want a positive one", i, squared[i])
			}
			v[i] = 0.3 * factor(i)
		}
		return v, 1
	}, false)
	run := drawStart(t, d, defaults())
	a := newCAVI(d, p.Train, 4)
	a.begin(run, Ridge{})
	a.refreshNoiseWeights()
	for i := range given[:50] {
		want := float64(given[i]) / float64(given[0]) * factor(0) / factor(i)
		if got := float64(d.w[i]) / float64(d.w[0]); math.Abs(got-want) > 1e-5*want {
			t.Fatalf("weight %d relative to the first: got %g, want %g", i, got, want)
		}
	}
	// Correlated errors count once: the noise is the same, the precision of observations is not.
	noise, weight := d.noise[0], d.w[0]
	model := d.noiseWeights.model
	d.noiseWeights.correlated = true
	d.noiseWeights.model = func(mean, squared []float32) ([]float64, float64) {
		v, _ := model(mean, squared)
		return v, 2
	}
	a.refreshNoiseWeights()
	if got := d.w[0] / d.noise[0] / (weight / noise); math.Abs(float64(got)-0.5) > 0.02 {
		t.Errorf("got %g times the precision with correlated errors, want half of it", got)
	}
}
