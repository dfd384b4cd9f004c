package conformal

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/predictive"
)

// A Record is a correction as plain numbers, for a model file. The first
// distribution is the pooled one.
type Record struct {
	Grouping Grouping
	Edges    []float64
	Parts    []int64   // parts of each bin by spread; empty if bins are not divided
	Spread   []float64 // edges of the parts of all bins, concatenated
	Group    []int64   // groups of the second and later distributions
	Size     []int64   // number of rows of each distribution
	Knots    []float64 // knots of all distributions, concatenated
	Factors  []float64 // by horizon - 1; empty if the correction does not depend on it
	Sized    int64     // rows that say only how large errors are; 0 if their scores are the pool
}

// Record returns the numbers of the correction.
func (c *Correction) Record() Record {
	r := Record{Grouping: c.grouping, Edges: slices.Clone(c.edges), Factors: c.Factors(), Sized: int64(c.sized),
		Size: []int64{int64(c.pool.Size())}, Knots: c.pool.Knots()}
	for _, edges := range c.spread {
		r.Parts = append(r.Parts, int64(len(edges)+1))
		r.Spread = append(r.Spread, edges...)
	}
	for g, own := range c.groups {
		if own != nil {
			r.Group = append(r.Group, int64(g))
			r.Size = append(r.Size, int64(own.Size()))
			r.Knots = append(r.Knots, own.Knots()...)
		}
	}
	return r
}

// FromRecord returns the correction of a record. It returns an error if the record is
// not consistent.
func FromRecord(r Record) (*Correction, error) {
	c, err := fromRecord(r)
	if err != nil {
		return nil, fmt.Errorf("conformal correction: %w", err)
	}
	return c, nil
}

func fromRecord(r Record) (*Correction, error) {
	switch r.Grouping {
	case Split, ByMean, ByEntity:
	default:
		return nil, fmt.Errorf("unknown grouping %q", r.Grouping)
	}
	if len(r.Size) == 0 || len(r.Group) != len(r.Size)-1 {
		return nil, fmt.Errorf("%d distributions for %d groups and a pool", len(r.Size), len(r.Group))
	}
	if !slices.IsSorted(r.Edges) {
		return nil, errors.New("the bin edges are not sorted")
	}
	c := &Correction{grouping: r.Grouping, edges: slices.Clone(r.Edges)}
	if err := c.restoreSpread(r); err != nil {
		return nil, err
	}
	bins := len(r.Edges) + 1
	if c.spread != nil {
		bins = c.first[bins]
	}
	if n := len(r.Group); n > 0 {
		last := r.Group[n-1]
		for i, g := range r.Group {
			if g < 0 || i > 0 && g <= r.Group[i-1] {
				return nil, errors.New("the groups are not sorted")
			}
		}
		if last > math.MaxInt32 || r.Grouping == Split || r.Grouping == ByMean && last >= int64(bins) {
			return nil, fmt.Errorf("there is no group %d in a correction by %s with %d bins", last, r.Grouping, bins)
		}
		c.groups = make([]*predictive.ScoreDistribution, last+1)
	}
	parts, knots := make([][]float64, len(r.Size)), r.Knots
	for i, size := range r.Size {
		if size < 1 || size > math.MaxInt32 || predictive.KnotCount(int(size)) > len(knots) {
			return nil, fmt.Errorf("distribution %d of %d rows has too few knots", i, size)
		}
		count := predictive.KnotCount(int(size))
		parts[i], knots = knots[:count], knots[count:]
	}
	if len(knots) > 0 {
		return nil, fmt.Errorf("%d knots do not belong to any distribution", len(knots))
	}
	errs := make([]error, len(parts))
	parallel.For(runtime.GOMAXPROCS(0), len(parts), func(i int) { // up to 1,000 groups
		scores, err := predictive.RestoreScoreDistribution(int(r.Size[i]), parts[i])
		if i == 0 {
			c.pool = scores
		} else {
			c.groups[r.Group[i-1]] = scores
		}
		if err != nil {
			errs[i] = fmt.Errorf("distribution %d: %w", i, err)
		}
	})
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	if len(r.Factors) > 0 {
		if err := checkFactors(r.Factors); err != nil {
			return nil, err
		}
		c = c.withFactors(slices.Clone(r.Factors))
	}
	if r.Sized < 0 || r.Sized > math.MaxInt32 {
		return nil, fmt.Errorf("%d rows say how large errors are", r.Sized)
	}
	c.sized = int(r.Sized)
	return c, nil
}
