package tt

import "github.com/kernel-fried-tensor/kft/backend"

// EvaluateWithoutCrossTerms writes the mean of the field, and its variance by a
// published expression: for every train the sum of the trains whose slices are
//
//	m'^2 s, m^2 s' and s s',
//
// with m', s' the moments of V' and m, s those of the regression. The expression
// leaves out every term that mixes means of one core with variances of another, so
// it is far below the variance of the product. It serves to reproduce published
// figures. A core without regression has m = 1, s = 0, and likewise for V'.
func (f *Field) EvaluateWithoutCrossTerms(b backend.Backend, dst Moments, codes [][]int32) {
	f.Evaluate(b, dst.Mean, codes)
	terms := make([]Moments, len(f.Terms))
	part := make([]float32, len(dst.Mean))
	for k, t := range f.Terms {
		terms[k] = Moments{Mean: make([]float32, len(part)), Var: make([]float32, len(part))}
		slices, index := t.localized(b, codes)
		b.Evaluate(terms[k].Mean, slices, index)
		for product := range varianceProducts {
			factors := make([]backend.Slices, len(t.Cores))
			for p, c := range t.Cores {
				factors[p] = c.withoutCrossTerms(slices[p], product)
			}
			b.Evaluate(part, factors, index)
			for i, v := range part {
				terms[k].Var[i] += v
			}
		}
	}
	for i := range dst.Var {
		_, v := f.Combine(terms, i)
		dst.Var[i] = float32(v)
	}
}

const varianceProducts = 3

// withoutCrossTerms returns the slices of one product of the expression: product 0
// is m'^2 s, 1 is m^2 s', 2 is s s'.
func (c *Core) withoutCrossTerms(slices backend.Slices, product int) backend.Slices {
	out := backend.NewSlices(slices.Shape)
	for i := range out.Mean {
		free, freeVar, side, sideVar := float32(1), float32(0), float32(1), float32(0)
		switch {
		case c.FreePosterior != nil && i < len(c.FreePosterior.Var):
			free, freeVar = c.Free[i], c.FreePosterior.Var[i]
			if c.WeightPosterior != nil {
				side, sideVar = c.side[i], c.sideVar[i]
			}
		case c.WeightPosterior != nil && i < len(c.sideVar):
			side, sideVar = c.side[i], c.sideVar[i]
		case slices.Var != nil:
			freeVar, free = slices.Var[i], slices.Mean[i] // of a combination computed for prediction only
		}
		switch product {
		case 0:
			out.Mean[i] = free * free * sideVar
		case 1:
			out.Mean[i] = side * side * freeVar
		case 2:
			out.Mean[i] = sideVar * freeVar
		}
	}
	return out
}
