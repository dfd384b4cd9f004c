package fit

import (
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
)

// A NoiseModel returns the noise variance of every training observation, given
// their expected values and expected squared errors, all on the modelling scale.
type NoiseModel func(mean, squared []float32) (variance []float64)

// reweighing lets observations count by the inverse of their noise: after every
// sweep the model of it is fitted anew.
type reweighing struct {
	model NoiseModel
	given []float32 // the weights of the data; nil means 1
}

// logVariances returns the summed logarithms of the relative noise variances,
// given the weights made of them.
func (r *reweighing) logVariances(w []float32) float64 {
	sum := 0.0
	for i, v := range w {
		if given := weightAt(r.given, i); given > 0 {
			sum += math.Log(given / float64(v))
		}
	}
	return sum
}

// startReweighing makes room for weights, which start as they were given.
func (d *data) startReweighing(model NoiseModel) {
	d.reweigh = &reweighing{model: model, given: d.w}
	w := make([]float32, len(d.y))
	for i := range w {
		w[i] = float32(weightAt(d.w, i))
	}
	d.w = w
}

// refreshWeights fits the noise to the field's moments. Weights are relative to
// the mean precision, so that the noise stays that of a typical observation.
func (a *cavi) refreshWeights() {
	r, terms := a.d.reweigh, a.moments()
	n := len(a.d.y)
	mean, squared := make([]float32, n), make([]float32, n)
	backend.Each(a.d.b, n, func(i int) {
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
		a.d.w[i] = float32(weightAt(r.given, i) / (v * precision))
	}
	a.learnNoise()
}
