package solver

import (
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
)

// A NoiseModel returns the noise variance of every training observation, given
// their expected values and expected squared errors, all on the modelling scale.
type NoiseModel func(mean, squared []float32) (variance []float64)

// noiseWeights weights observations by their inverse noise variance. The noise model
// is fitted again after every sweep.
type noiseWeights struct {
	model NoiseModel
	base  []float32 // the weights of the data; nil means 1
}

// logVariances returns the summed logarithms of the relative noise variances,
// given the weights computed from them.
func (r *noiseWeights) logVariances(w []float32) float64 {
	sum := 0.0
	for i, v := range w {
		if given := weightAt(r.base, i); given > 0 {
			sum += math.Log(given / float64(v))
		}
	}
	return sum
}

// startNoiseWeights allocates the weights. They start as the weights of the data.
func (d *data) startNoiseWeights(model NoiseModel) {
	d.noiseWeights = &noiseWeights{model: model, base: d.w}
	w := make([]float32, len(d.y))
	for i := range w {
		w[i] = float32(weightAt(d.w, i))
	}
	d.w = w
}

// resetNoiseWeights sets the weights to those of the data.
func (d *data) resetNoiseWeights() {
	if d.noiseWeights != nil {
		for i := range d.w {
			d.w[i] = float32(weightAt(d.noiseWeights.base, i))
		}
	}
}

// refreshNoiseWeights fits the noise model to the moments of the field. Weights are
// relative to the mean precision, so d.noise remains the variance of a typical
// observation.
func (a *cavi) refreshNoiseWeights() {
	r, terms := a.d.noiseWeights, a.moments()
	n := len(a.d.y)
	mean, squared := make([]float32, n), make([]float32, n)
	backend.ParallelFor(a.d.b, n, func(i int) {
		m, v := a.d.field.Combine(terms, i)
		e := float64(a.d.y[i]) - m
		mean[i], squared[i] = float32(m), float32(e*e+v)
	})
	variance := r.model(mean, squared)
	precision := 0.0
	for _, v := range variance {
		precision += 1 / v
	}
	precision /= float64(n)
	for i, v := range variance {
		a.d.w[i] = float32(weightAt(r.base, i) / (v * precision))
	}
	a.changed()
	a.learnNoise()
}
