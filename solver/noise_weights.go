package solver

import (
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
)

// A NoiseModel returns the noise variance of every training observation, given
// their expected values and expected squared errors, all on the modelling scale. Shared
// is 1 for independent errors. If the errors of observations are correlated, it is the
// number of observations that carry as much information as one independent one; the
// likelihood is raised to the power 1/shared.
type NoiseModel func(mean, squared []float32) (variance []float64, shared float64)

// noiseWeights weights observations by their inverse noise variance. The noise model
// is fitted again after every sweep.
type noiseWeights struct {
	model NoiseModel
	base  []float32 // the weights of the data; nil means 1

	correlated bool // the sum of the weights is the number of independent observations
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
func (d *data) startNoiseWeights(model NoiseModel, correlated bool) {
	d.noiseWeights = &noiseWeights{model: model, base: d.w, correlated: correlated}
	w := backend.Make[float32](d.b, len(d.y))
	for i := range w {
		w[i] = float32(weightAt(d.w, i))
	}
	d.w = w
}

// independent returns the number of independent observations.
func (d *data) independent() float64 {
	if d.noiseWeights == nil || !d.noiseWeights.correlated {
		return float64(len(d.y))
	}
	sum := 0.0
	for _, w := range d.w {
		sum += float64(w)
	}
	return sum
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
	variance, shared := r.model(mean, squared)
	precision := 0.0
	for _, v := range variance {
		precision += 1 / v
	}
	precision *= max(shared, 1) / float64(n)
	for i, v := range variance {
		a.d.w[i] = float32(weightAt(r.base, i) / (v * precision))
	}
	a.changed()
	a.learnNoise()
}
