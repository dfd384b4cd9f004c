package train

import (
	"github.com/kernel-fried-tensor/kft/baseline"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/model"
)

// baseline fits the formulas of package baseline and measures them on all parts.
func (r *run) baseline() []model.BaselineScores {
	train := r.parts[dataset.Train]
	b := baseline.Fit(r.spec.ModeNames(), r.data.sizes(), train.Codes, train.Y, train.W)
	scores := []model.BaselineScores{{Name: b.Pair}, {Name: b.Mix}}
	scale := r.model.Scale()
	for p := range r.parts {
		var tallies [2]metrics.PointSums
		o := &r.parts[p]
		for i, y := range o.Y {
			first, second := b.Predict(o.Codes, i)
			on := scale.OnScale(float64(y))
			for k, v := range [2]float64{first, second} {
				tallies[k].Add(float64(y), weightOf(o, i), v, v, on, scale.OnScale(v))
			}
		}
		for k := range scores {
			*[...]*metrics.Score{&scores[k].Train, &scores[k].Valid, &scores[k].Test}[p] = tallies[k].Score()
		}
	}
	return scores
}
