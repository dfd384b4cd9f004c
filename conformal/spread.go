package conformal

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/peers"
	"github.com/kernel-fried-tensor/kft/internal/radix"
)

// NewBySpread is [NewByMean] with each bin divided into parts by the standard deviation of
// the predictive distribution on the modelling scale. Rows that are predicted alike may
// differ in it for different reasons (few training rows, a noisy id), and in the form
// of their distribution with it. The parts are separated by quantiles within the bin. Cost:
// O(n log n).
//
// The processes of a group, nil for one, have the same rows and share the work.
func NewBySpread(group peers.Group, threads int, scores, location, spread []float64, bins, parts int) (*Correction, error) {
	mustMatch(len(scores), len(location))
	mustMatch(len(scores), len(spread))
	c, err := newSplit(group, threads, scores)
	if err != nil {
		return nil, err
	}
	c.grouping, c.edges = ByMean, quantileEdges(group, threads, location, bins)
	of := eachRow(group, threads, len(scores), func(i int) int { return bin(c.edges, location[i]) })
	c.spread = spreadEdges(group, threads, of, len(c.edges)+1, spread, parts)
	c.number()
	c.fitGroups(group, threads, scores, c.first[len(c.spread)], func(i int) int { return c.first[of[i]] + bin(c.spread[of[i]], spread[i]) })
	return c, nil
}

// spreadEdges returns the values that divide each of so many bins into parts. of is the bin of each row. The processes
// of a group divide some bins each.
func spreadEdges(group peers.Group, threads int, of []int32, bins int, spread []float64, parts int) [][]float64 {
	first, last, bounds := ownRun(group, bins)
	own := make([][]float64, last-first)
	for i, b := range of {
		if b := int(b) - first; b >= 0 && b < len(own) {
			own[b] = append(own[b], spread[i])
		}
	}
	length := parts - 1
	values, counts := make([]float64, bins*length), make([]int32, bins)
	parallel.For(threads, len(own), func(b int) {
		radix.Sort(1, own[b])
		edges := edgesOf(own[b], parts)
		counts[first+b] = int32(copy(values[(first+b)*length:], edges))
	})
	if group != nil {
		peers.Values(group, values, bounds, length)
		peers.Values(group, counts, bounds, 1)
	}
	all := make([][]float64, bins)
	for b, n := range counts {
		if n > 0 {
			all[b] = values[b*length:][:n:n]
		}
	}
	return all
}

// quantileEdges returns the different values that separate so many bins with equally many
// values.
func quantileEdges(group peers.Group, threads int, values []float64, bins int) []float64 {
	sorted := slices.Clone(values)
	radix.SortOver(group, threads, sorted)
	return edgesOf(sorted, bins)
}

// edgesOf is quantileEdges of sorted values.
func edgesOf(sorted []float64, bins int) (edges []float64) {
	for k := 1; k < bins && len(sorted) > 0; k++ {
		edge := sorted[k*len(sorted)/bins]
		if len(edges) == 0 || edge > edges[len(edges)-1] {
			edges = append(edges, edge)
		}
	}
	return edges
}

// number numbers the groups of bins that are divided.
func (c *Correction) number() {
	c.first = make([]int, len(c.spread)+1)
	for b, edges := range c.spread {
		c.first[b+1] = c.first[b] + len(edges) + 1
	}
}

// meanGroup returns the group of a distribution in a correction by mean.
func (c *Correction) meanGroup(location, spread float64) int {
	b := bin(c.edges, location)
	if c.spread == nil {
		return b
	}
	return c.first[b] + bin(c.spread[b], spread)
}

// restoreSpread takes the edges of the spread from a record.
func (c *Correction) restoreSpread(r Record) error {
	if len(r.Parts) == 0 {
		if len(r.Spread) > 0 {
			return errors.New("there are edges of the spread, but no parts")
		}
		return nil
	}
	if r.Grouping != ByMean || len(r.Parts) != len(r.Edges)+1 {
		return fmt.Errorf("there are parts of %d bins in a correction by %s with %d edges", len(r.Parts), r.Grouping, len(r.Edges))
	}
	rest := r.Spread
	for _, n := range r.Parts {
		if n < 1 || n-1 > int64(len(rest)) {
			return fmt.Errorf("a bin has %d parts, with %d edges left", n, len(rest))
		}
		edges := slices.Clone(rest[:n-1])
		if rest = rest[n-1:]; !slices.IsSorted(edges) {
			return errors.New("the edges of the spread are not sorted")
		}
		c.spread = append(c.spread, edges)
	}
	if len(rest) > 0 {
		return fmt.Errorf("%d edges of the spread do not belong to any bin", len(rest))
	}
	c.number()
	return nil
}
