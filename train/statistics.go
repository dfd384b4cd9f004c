package train

import (
	"strings"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/ledger"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/update"
)

// keepStatistics gives the model what it needs to take in rows later, if it has a
// posterior.
func (r *run) keepStatistics(solved solver.Report) error {
	if !r.spec.Uncertainty.Bayesian() || r.opt.Compare || !(solved.Noise > 0) {
		return nil
	}
	o, y := r.ownTrain(), r.standard
	r.standard = nil
	rows := update.Observed{Codes: o.Codes, Y: y}
	noise, weight := solved.Noise, meanWeight(o)
	defer backend.FreeAll(r.engine, [][]float32{y})
	if update.HasPrecisions(r.model) {
		raw := ledger.Rows{Codes: o.Codes, Y: backend.Make[float64](r.engine, o.Len()), W: o.W, Exposure: o.Exposure, Censored: o.Censored}
		backend.ParallelFor(r.engine, len(raw.Y), func(i int) { raw.Y[i] = o.Target(i) })
		rows.Weight = update.Precisions(r.engine, r.model, raw, r.predicted(dataset.Train), weight)
		backend.FreeAll(r.engine, [][]float64{raw.Y})
		noise = r.observationsPerFact(y)
	} else if o.W != nil {
		for _, w := range o.W {
			rows.Weight = append(rows.Weight, float32(float64(w)/weight))
		}
	}
	engine, release := r.plannedEngine()
	rows.Chunk = r.chunk()
	book := update.Statistics(engine, r.model, rows, noise, weight)
	if err := release(); err != nil {
		return err
	}
	book.Cold = r.coldMode()
	r.model = r.model.WithLedger(book)
	return nil
}

// observationsPerFact returns how many training rows, whose standardised values are y, tell
// as much as one; see sharedErrors.
func (r *run) observationsPerFact(y []float32) float64 {
	if r.data.Scales() == nil {
		return 1
	}
	z := r.predicted(dataset.Train)
	squared := make([]float32, len(y))
	for i, f := range z.Mean {
		d := y[i] - f
		squared[i] = d*d + z.Var[i]
	}
	return r.sharedErrors()(z.Mean, squared)
}

// coldMode returns the mode whose ids have no training rows in the validation set, "" if
// the split is not one by entity.
func (r *run) coldMode() string {
	text, ok := strings.CutPrefix(r.split.Spec, "entity:")
	mode, _, found := strings.Cut(text, "=")
	if !ok || !found {
		return ""
	}
	return mode
}
