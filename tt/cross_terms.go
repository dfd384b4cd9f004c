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
// figures. A core without regression has m = 1, s = 0, and likewise for V'. The
// expression is not defined for an additive core; it counts as a core without
// regression whose slices have the variance of V' + T.
func (f *Field) EvaluateWithoutCrossTerms(b backend.Backend, dst Moments, codes [][]int32) {
	f.Evaluate(b, dst.Mean, codes)
	terms := make([]Moments, len(f.Terms))
	part := make([]float32, len(dst.Mean))
	for k, t := range f.Terms {
		terms[k] = Moments{Mean: make([]float32, len(part)), Var: make([]float32, len(part))}
		slices, index := t.localized(b, codes)
		b.Evaluate(terms[k].Mean, slices, index)
		index = t.Lookup(codes)
		products := make([][varianceProducts]backend.Slices, len(t.Cores))
		for p, c := range t.Cores {
			products[p], index[p] = c.withoutCrossTerms(b, codes, index[p])
		}
		factors := make([]backend.Slices, len(t.Cores))
		for product := range varianceProducts {
			for p := range factors {
				factors[p] = products[p][product]
			}
			b.Evaluate(part, factors, index)
			for i, v := range part {
				terms[k].Var[i] += v
			}
		}
	}
	terms = append(terms, f.seriesMoments(b, codes, nil)...)
	for i := range dst.Var {
		_, v := f.Combine(terms, i)
		dst.Var[i] = float32(v)
	}
}

const varianceProducts = 3

// withoutCrossTerms returns the slices of the products of the expression, which are
// m'^2 s, m^2 s' and s s', for the entities of the rows, and the place of each row
// among them. column holds the entities of the rows. Each entity is computed by
// itself, so that none depends on the others.
func (c *Core) withoutCrossTerms(b backend.Backend, codes [][]int32, column []int32) (products [varianceProducts]backend.Slices, places []int32) {
	type entity struct {
		e     int32
		combo uint64 // of a combination without an entity of its own
	}
	at := map[entity]int32{}
	var rows []int // one of each entity
	places = make([]int32, len(column))
	for row, e := range column {
		key := entity{e: e}
		if c.combinationOnDemand(codes, row, e) {
			key.combo = 1 + c.Index.Pack(codes, row)
		}
		place, ok := at[key]
		if !ok {
			place = int32(len(rows))
			at[key], rows = place, append(rows, row)
		}
		places[row] = place
	}
	shape, size := c.Slices.Shape, c.Slices.Slice()
	shape.N = len(rows)
	for k := range products {
		products[k] = backend.NewSlices(shape)
	}
	for i, row := range rows {
		free, freeVar, side, sideVar := c.factorMoments(b, codes, row, column[row])
		for k := range size {
			at := i*size + k
			products[0].Mean[at] = free[k] * free[k] * sideVar[k]
			products[1].Mean[at] = side[k] * side[k] * freeVar[k]
			products[2].Mean[at] = sideVar[k] * freeVar[k]
		}
	}
	return products, places
}

// factorMoments returns the moments of V' and of the regression at the entity e of a
// row. A factor that the core lacks is 1 with variance 0. The parts of an additive
// core are returned as one factor, in place of V'.
func (c *Core) factorMoments(b backend.Backend, codes [][]int32, row int, e int32) (free, freeVar, side, sideVar []float32) {
	size := c.Slices.Slice()
	free, freeVar, side, sideVar = make([]float32, size), make([]float32, size), make([]float32, size), make([]float32, size)
	for k := range size {
		free[k], side[k] = 1, 1
	}
	// Slices added after the fit have no V' of their own; the last V' is the prior.
	slice := func(values []float32) []float32 {
		if c.Map != nil && (e == c.Index.Prior() || !c.trained(int(e))) {
			return values[len(values)-size:]
		}
		return values[int(e)*size:][:size]
	}
	if c.FreePosterior != nil {
		copy(free, slice(c.Free))
		copy(freeVar, slice(c.FreePosterior.Var))
	}
	if c.WeightPosterior == nil {
		return free, freeVar, side, sideVar
	}
	if !c.Index.Known(codes, row) || e == c.Index.Prior() && len(c.Modes) == 1 {
		prior := c.priorMoments(b)
		copy(side, prior.side)
		copy(sideVar, prior.sideVar)
	} else {
		combo := c.Index.AppendCombination(nil, codes, row)
		t, st, err := c.regressionAt(b, combo)
		if err != nil {
			panic(err) // too many weights: the core itself could not have been built
		}
		copy(side, t)
		copy(sideVar, st)
	}
	if c.Variant == Additive {
		for k := range size {
			free[k] += side[k]
			freeVar[k] += sideVar[k]
			side[k], sideVar[k] = 1, 0
		}
	}
	return free, freeVar, side, sideVar
}

// combinationOnDemand reports whether the regression of a row is computed on demand,
// because its codes are known and their combination e has no entity.
func (c *Core) combinationOnDemand(codes [][]int32, row int, e int32) bool {
	return c.Map != nil && len(c.Modes) > 1 && e == c.Index.Prior() && c.Index.Known(codes, row)
}
