package fit

import "math"

// newBatch returns some rows of the data as data of their own.
func newBatch(d *data, train Observations, rows []int) remainder {
	part := &data{field: d.field, b: d.b, y: pick(d.y, rows)}
	if d.w != nil {
		part.w = pick(d.w, rows)
	}
	var codes [][]int32
	for _, column := range train.Codes {
		codes = append(codes, pick(column, rows))
	}
	b := newRemainder(part, Observations{Codes: codes})
	for k := range b.terms {
		b.terms[k].first, b.terms[k].last = nil, nil // one plan is enough
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

// evaluate brings a batch's values up to date.
func (a *adam) evaluate(b *remainder) {
	a.d.passes += len(b.terms)
	b.evaluateAll()
}

// loss returns the summed loss of the training data, where weights vary its
// expectation.
func (a *adam) loss() float64 {
	if math.IsNaN(a.latest) {
		a.latest = 0
		for i := range a.batches {
			a.evaluate(&a.batches[i])
			a.latest += a.batches[i].loss()
		}
	}
	return a.latest
}
