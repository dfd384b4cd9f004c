package automatic

import (
	"cmp"
	"context"
	"slices"

	"github.com/kernel-fried-tensor/kft/spec"
)

// mostOrdered is the largest number of cores of a train whose orders are compared; the time of
// longer ones is out of proportion.
const mostOrdered = 5

// chooseOrder offers other orders of the cores of the leading train, if the comparison
// sees all rows. An inner core has a matrix per id, an outer one a vector: with the small
// modes inside, a train has fewer weights for the same ranks, and rows of all ids of the
// large modes determine its matrices. Each order comes with the highest rank that it
// supports and with half of it. A table for which no train was taken is offered the first.
func (c *chooser) chooseOrder(ctx context.Context) error {
	terms, err := c.spec.ParseTerms()
	if err != nil || c.quick() || c.rows > c.effort.rows {
		return err
	}
	present, modes, rest := "no train", c.leadingModes(terms[0]), terms
	if modes != nil {
		present, rest = terms[0].String(), terms[1:]
	} else if sets := c.trainModes(); len(sets) > 0 {
		modes = sets[0]
	}
	if len(modes) > mostOrdered {
		return nil
	}
	orders := c.orders(modes)
	if present == "no train" {
		orders = orders[:min(1, len(orders))]
	}
	candidates := []candidate{{present, c.spec}}
	for _, order := range orders {
		train := c.train(order)
		ranks := []int{train.Ranks[0], max(1, train.Ranks[0]/2)}
		for _, rank := range slices.Compact(ranks) {
			train.Ranks = slices.Repeat([]int{rank}, len(order)-1)
			candidates = append(candidates, candidate{train.String(), c.withTerms(slices.Concat([]spec.Term{train}, rest))})
		}
	}
	if len(candidates) == 1 {
		return nil
	}
	return c.compare(ctx, "order of cores", candidates)
}

// roomiest returns modes in the order whose train has the highest rank, the given one if no other has a higher one. A large mode
// inside takes weights with the square of the rank, and so a low rank where its ids have few rows.
func (c *chooser) roomiest(modes []int) []int {
	best, highest := modes, c.train(modes).Ranks
	for _, order := range c.orders(modes) {
		if ranks := c.train(order).Ranks; ranks[0] > highest[0] {
			best, highest = order, ranks
		}
	}
	return best
}

// leadingModes returns the modes of a train of single modes, in its order; nil for another
// term.
func (c *chooser) leadingModes(t spec.Term) []int {
	if len(t.Ranks) == 0 || t.IsSeries() {
		return nil
	}
	var modes []int
	for _, core := range t.Cores {
		m := slices.Index(c.modes, core[0])
		if len(core) > 1 || m < 0 {
			return nil
		}
		modes = append(modes, m)
	}
	return modes
}

// orders returns other orders of three or more modes, as far as they are compared: that with
// the two largest outside, and of three modes also those with another one inside.
func (c *chooser) orders(modes []int) [][]int {
	n := len(modes)
	if n < 3 {
		return nil
	}
	bySize := slices.Clone(modes)
	slices.SortStableFunc(bySize, func(a, b int) int { return cmp.Compare(c.sizes[b], c.sizes[a]) })
	inners := [][]int{bySize[2:]}
	if n == 3 {
		inners = append(inners, bySize[1:2], bySize[:1])
	}
	var orders [][]int
	for _, inner := range inners {
		order := slices.DeleteFunc(slices.Clone(modes), func(m int) bool { return slices.Contains(inner, m) })
		order = slices.Insert(order, 1, inner...)
		slices.Sort(order[1 : n-1])
		if !slices.Equal(order[1:n-1], modes[1:n-1]) {
			orders = append(orders, order)
		}
	}
	return orders
}
