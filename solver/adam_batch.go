package solver

import "math"

// newBatch returns a subset of the observations as data of its own.
func newBatch(d *data, train Observations, rows []int) residuals {
	selected := Observations{Codes: train.Codes, Y: d.y, W: d.w}.Select(rows)
	b := newResiduals(&data{field: d.field, b: d.b, y: selected.Y, w: selected.W, entities: make([][][]int32, len(d.field.Terms))}, selected, true)
	for k := range b.terms {
		b.terms[k].First, b.terms[k].Last = nil, nil // one plan is enough
	}
	return b
}

// evaluate updates the term values of a batch.
func (a *adam) evaluate(b *residuals) {
	a.d.passes += len(b.terms)
	b.evaluateAll()
}

// loss returns the summed training loss, for posteriors its expectation.
func (a *adam) loss() float64 {
	if math.IsNaN(a.knownLoss) {
		a.knownLoss = 0
		for i := range a.batches {
			a.evaluate(&a.batches[i])
			a.knownLoss += a.batches[i].loss()
		}
	}
	return a.knownLoss
}
