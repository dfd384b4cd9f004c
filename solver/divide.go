package solver

import "github.com/kernel-fried-tensor/kft/tt"

// An additive core is divided between its regression and its free weights, see package
// division. Where the validation set is of new entities, this follows each update of the
// core: their scores decide when to stop, and depend on the regression. Otherwise it is done
// once, with the weights of the result, whose slices it does not change. In every sweep it
// would cost accuracy: the slices of entities with few rows are near the regression, which
// therefore looks better than it is and takes over more and more.

// divide improves the division of core c, whose free weights are block i.
func (a *cavi) divide(i int, c *tt.Core) {
	if prior := a.divider.Improve(a.d.b, c); prior > 0 {
		c.WeightPosterior.PriorVar[0] = float32(max(prior, leastPrior))
		a.learnPrior(i)
	}
}

// dividable reports whether block i is that of the free weights of an additive core whose
// variances are learned.
func (a *cavi) dividable(i int) bool {
	_, c, block := a.at(i)
	return c.Variant == tt.Additive && block.Map == nil && !a.fixed
}

// divideResult improves the division of the cores for which it did not follow each update.
func (a *cavi) divideResult() {
	for i := range a.ids {
		if _, c, _ := a.at(i); a.dividable(i) && !a.often(c) {
			a.divide(i, c)
		}
	}
}

// often reports whether at least half of the validation set is of entities of a core without
// training rows. Without a validation set, the training before decides.
func (a *cavi) often(c *tt.Core) bool {
	known, ok := a.divided[c]
	if ok {
		return known
	}
	valid := a.d.offered.valid
	if valid.Len() == 0 {
		return a.start.Divided
	}
	entities := make([]int32, valid.Len())
	c.Index.Lookup(entities, valid.Codes)
	trained, unknown := int32(c.TrainedEntities()), 0
	for _, e := range entities {
		if e >= trained {
			unknown++
		}
	}
	if a.divided == nil {
		a.divided = map[*tt.Core]bool{}
	}
	a.divided[c] = 2*unknown >= len(entities)
	return a.divided[c]
}

// divided reports whether a core was divided after each of its updates.
func (dr *driver) divided() bool {
	a, ok := dr.method.(*cavi)
	if !ok {
		return false
	}
	for i := range a.ids {
		if _, c, _ := a.at(i); a.dividable(i) && a.often(c) {
			return true
		}
	}
	return false
}
