package metrics

import (
	"math"
	"slices"
	"sort"

	"github.com/kernel-fried-tensor/kft/internal/peers"
	"github.com/kernel-fried-tensor/kft/internal/radix"
)

// Deciles is the number of groups of a bias by size of the prediction.
const Deciles = 10

// A DecileBias compares predicted and actual values of the rows whose predictions lie
// in one of ten ranges. The measures are weighted if the rows have weights, and NaN
// for no rows.
type DecileBias struct {
	N         int    `json:"n"`
	Predicted Number `json:"predicted"` // mean of the predicted means
	Actual    Number `json:"actual"`    // mean of the actual values
	Ratio     Number `json:"ratio"`     // Predicted / Actual; NaN if a value of any decile is negative
}

// DecileEdges returns the nine values that divide predictions into ten groups of equal
// size; nil for no predictions. Predictions that are not finite are ignored. The processes of a
// group, nil for one, have the same predictions and share the work.
func DecileEdges(group peers.Group, threads int, predictions []float64) []float64 {
	sorted := slices.DeleteFunc(slices.Clone(predictions), func(p float64) bool { return math.IsNaN(p) || math.IsInf(p, 0) })
	if len(sorted) == 0 {
		return nil
	}
	radix.SortOver(group, threads, sorted)
	edges := make([]float64, Deciles-1)
	for k := range edges {
		edges[k] = sorted[(k+1)*len(sorted)/Deciles]
	}
	return edges
}

// BiasSums accumulates the sums of the bias by decile, one observation at a time.
// Construct it with [NewBiasSums].
type BiasSums struct {
	edges    []float64
	negative bool // some actual value is negative
	deciles  [Deciles]struct {
		n                         int
		weight, predicted, actual float64
	}
}

// NewBiasSums returns empty sums for deciles that are separated by nine edges, in
// increasing order. Without edges nothing is counted.
func NewBiasSums(edges []float64) *BiasSums { return &BiasSums{edges: edges} }

// Add adds an observation y of weight w with its predicted mean. The size is the
// quantity that the edges divide.
func (s *BiasSums) Add(y, w, mean, size float64) {
	if len(s.edges) == 0 {
		return
	}
	d := &s.deciles[sort.Search(len(s.edges), func(k int) bool { return size < s.edges[k] })]
	d.n++
	d.weight += w
	d.predicted += w * mean
	d.actual += w * y
	s.negative = s.negative || y < 0
}

// Merge adds the sums of other observations with the same edges.
func (s *BiasSums) Merge(o *BiasSums) {
	s.negative = s.negative || o.negative
	for i := range s.deciles {
		d, other := &s.deciles[i], o.deciles[i]
		d.n += other.n
		d.weight += other.weight
		d.predicted += other.predicted
		d.actual += other.actual
	}
}

// Deciles returns the bias of each decile; nil without edges or observations.
func (s *BiasSums) Deciles() []DecileBias {
	var out []DecileBias
	n := 0
	for _, d := range s.deciles {
		n += d.n
		out = append(out, DecileBias{d.n, Number(d.predicted / d.weight), Number(d.actual / d.weight), Number(ratio(d.predicted, d.actual, s.negative))})
	}
	if n == 0 {
		return nil
	}
	return out
}

// ratio returns predicted/actual, NaN if it is not a share of a positive total.
func ratio(predicted, actual float64, negative bool) float64 {
	if negative || !(actual > 0) {
		return math.NaN()
	}
	return predicted / actual
}
