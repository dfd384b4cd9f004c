package train

import (
	"github.com/kernel-fried-tensor/kft/baseline"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/solver"
)

// baseline fits the formulas of package baseline and measures them on all parts.
func (r *run) baseline() []model.BaselineScores {
	train := r.parts[dataset.Train]
	b := fitBaseline(r.spec.ModeNames(), r.data.sizes(), &train)
	scores := []model.BaselineScores{{Name: b.Pair}, {Name: b.Mix}}
	scale := r.model.Scale()
	for p := range r.parts {
		var tallies [2]metrics.PointSums
		o := &r.parts[p]
		for i := range o.Len() {
			y := o.Target(i)
			first, second := b.Predict(o.Codes, i)
			on := scale.OnScale(y)
			for k, v := range [2]float64{first, second} {
				if o.Exposure != nil {
					v *= float64(o.Exposure[i])
				}
				tallies[k].Add(y, weightOf(o, i), v, v, on, scale.OnScale(v))
			}
		}
		for k := range scores {
			*[...]*metrics.Score{&scores[k].Train, &scores[k].Valid, &scores[k].Test}[p] = tallies[k].Score()
		}
	}
	return scores
}

// fitBaseline fits the formulas to observations.
func fitBaseline(names []string, sizes []int, o *solver.Observations) *baseline.Model {
	if o.Low != nil && o.Exposure == nil { // float32 is too coarse; counts with exposures are never so
		y := make([]float64, o.Len())
		for i := range y {
			y[i] = o.Target(i)
		}
		_, w := baselineValues(o)
		return baseline.Fit(names, sizes, o.Codes, y, w)
	}
	y, w := baselineValues(o)
	return baseline.Fit(names, sizes, o.Codes, y, w)
}

// baselineValues returns the values and weights that the formulas are fitted to. With
// exposures these are rates, weighted by the exposure. Weights are scaled to mean 1, so
// that their unit does not matter.
func baselineValues(o *solver.Observations) (y, w []float32) {
	if o.W == nil && o.Exposure == nil {
		return o.Y, nil
	}
	y, w = make([]float32, o.Len()), make([]float32, o.Len())
	total := 0.0
	for i, v := range o.Y {
		weight, exposure := weightOf(o, i), 1.0
		if o.Exposure != nil {
			exposure = float64(o.Exposure[i])
		}
		y[i], w[i] = float32(float64(v)/exposure), float32(weight*exposure)
		total += weight * exposure
	}
	for i := range w {
		w[i] = float32(float64(w[i]) * float64(len(w)) / total)
	}
	return y, w
}
