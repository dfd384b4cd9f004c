package solver

import "math"

// newBatch returns a subset of the observations as data of its own.
func newBatch(d *data, train Observations, rows []int) residuals {
	part := &data{field: d.field, b: d.b, y: pick(d.y, rows)}
	if d.w != nil {
		part.w = pick(d.w, rows)
	}
	var codes [][]int32
	for _, column := range train.Codes {
		codes = append(codes, pick(column, rows))
	}
	b := newResiduals(part, Observations{Codes: codes})
	for k := range b.terms {
		b.terms[k].firstPlan, b.terms[k].lastPlan = nil, nil // one plan is enough
	}
	return b
}

func pick[T any](values []T, rows []int) []T {
	out := make([]T, len(rows))
	for i, row := range rows {
		out[i] = values[row]
	}
	return out
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
