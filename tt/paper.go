package tt

import "github.com/kernel-fried-tensor/kft/backend"

// EvaluatePaper writes the field's mean and the variance that the paper's
// expression gives it: for every train the sum of the trains whose slices are
//
//	m'^2 s, m^2 s' and s s',
//
// m', s' the moments of V' and m, s those of the regression. It leaves out every
// term that mixes means of one core with variances of another, so it is far below
// the variance of the product; it serves to repeat the paper's figures. A core
// without regression counts as m = 1, s = 0, one without V' likewise.
func (f *Field) EvaluatePaper(b backend.Backend, dst Moments, codes [][]int32) {
	f.Evaluate(b, dst.Mean, codes)
	terms := make([]Moments, len(f.Terms))
	part := make([]float32, len(dst.Mean))
	for k, t := range f.Terms {
		terms[k] = Moments{Mean: make([]float32, len(part)), Var: make([]float32, len(part))}
		slices, index := t.localized(b, codes)
		b.Evaluate(terms[k].Mean, slices, index)
		for product := range paperProducts {
			factors := make([]backend.Slices, len(t.Cores))
			for p, c := range t.Cores {
				factors[p] = c.paperFactor(slices[p], product)
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

const paperProducts = 3

// paperFactor returns one factor of the expression: product 0 is m'^2 s, 1 is
// m^2 s', 2 is s s'.
func (c *Core) paperFactor(slices backend.Slices, product int) backend.Slices {
	out := backend.NewSlices(slices.Shape)
	for i := range out.Mean {
		free, freeVar, side, sideVar := float32(1), float32(0), float32(1), float32(0)
		switch {
		case c.FreeSpread != nil && i < len(c.FreeSpread.Var):
			free, freeVar = c.Free[i], c.FreeSpread.Var[i]
			if c.WeightSpread != nil {
				side, sideVar = c.side[i], c.sideVar[i]
			}
		case c.WeightSpread != nil && i < len(c.sideVar):
			side, sideVar = c.side[i], c.sideVar[i]
		case slices.Var != nil:
			freeVar, free = slices.Var[i], slices.Mean[i] // computed for prediction only
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
