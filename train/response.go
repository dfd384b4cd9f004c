package train

import (
	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/paged"
	"github.com/kernel-fried-tensor/kft/response"
	"github.com/kernel-fried-tensor/kft/solver"
)

// learnResponse sets the factor by which draws widen the posterior of the field, from its
// response at the validation rows. Likelihoods with sites and a training that was stopped do
// without it, and so do comparisons, which draw nothing.
func (r *run) learnResponse(solved solver.Report) {
	train, valid := r.ownTrain(), r.part(dataset.Valid)
	stopped := solved.Stop == solver.Interrupted || solved.Stop == solver.Budget || solved.Stop == solver.Diverged
	if r.opt.Compare || !r.spec.Uncertainty.Bayesian() || solved.Law != nil || stopped || valid.Len() == 0 || !(solved.Noise > 0) {
		return
	}
	o := response.Observations{Codes: train.Codes, Noise: solved.Noise}
	if mean := meanWeight(train); train.W != nil {
		o.W = backend.Make[float32](r.engine, train.Len())
		defer paged.Free(r.pages, o.W)
		for i, w := range train.W {
			o.W[i] = float32(float64(w) / mean)
		}
	}
	engine, release := r.plannedEngine()
	defer release()
	o.Chunk = r.chunk()
	if factor := response.Factor(engine, r.field, o, valid.Codes, r.spec.Seed); factor > 1 {
		r.field.Response = factor
	}
}
