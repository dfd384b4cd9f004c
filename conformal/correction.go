package conformal

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/peers"
	"github.com/kernel-fried-tensor/kft/internal/plural"
	"github.com/kernel-fried-tensor/kft/internal/radix"
	"github.com/kernel-fried-tensor/kft/predictive"
)

// MinGroupRows is the number of calibration rows from which a group has a score
// distribution of its own. Smaller groups use the pooled distribution.
const MinGroupRows = 200

// A Grouping defines which rows share a score distribution.
type Grouping string

const (
	Split    Grouping = "split"  // all rows share one
	ByMean   Grouping = "mean"   // bins of the predicted mean on the modelling scale
	ByEntity Grouping = "entity" // the entities of one mode
)

// A Correction is the conformal correction of a model: score distributions from a
// calibration set that was used for nothing else. One distribution is pooled over all
// rows, and each group of at least [MinGroupRows] rows has its own. A Correction is
// immutable and safe for concurrent use.
type Correction struct {
	grouping Grouping
	edges    []float64   // ByMean: bin k ends at edges[k]; the last bin has no end
	spread   [][]float64 // ByMean: the same for the parts of each bin; nil if bins are not divided
	first    []int       // with spread: the group of the first part of each bin, then the number of groups
	pool     *predictive.ScoreDistribution
	groups   []*predictive.ScoreDistribution // by bin or entity code; nil uses the pool

	sized int // rows that say only how large errors are, see [NewBySize]; 0 if their scores are the pool

	factors   []float64     // by horizon - 1; nil without forecasts
	byHorizon []*Correction // by horizon - 1: the correction with its factor
}

// A TooFewRowsError reports that a calibration set is too small for a level.
type TooFewRowsError struct {
	Rows   int
	Level  float64 // of the central interval
	Needed int
}

// ErrTooFewRows is the sentinel of [TooFewRowsError].
var ErrTooFewRows = errors.New("too few calibration rows")

// Unwrap returns ErrTooFewRows.
func (e *TooFewRowsError) Unwrap() error { return ErrTooFewRows }

func (e *TooFewRowsError) Error() string {
	remedy := "calibrate on more rows"
	if e.Level > minLevel { // of a request, not of the correction
		remedy += " or request a narrower interval"
	}
	return fmt.Sprintf("%s cannot give a %.4g %% interval, which needs %d or more; %s",
		plural.Count(e.Rows, "calibration row"), 100*e.Level, e.Needed, remedy)
}

// RowsNeeded returns the number of calibration rows that the central interval of a
// level requires: the smallest n with 1/(n+1) <= (1-level)/2. A quantile at level p
// requires as many as the level |2p - 1|.
func RowsNeeded(level float64) int {
	n := math.Ceil(2/(1-level)*(1-1e-12) - 1)
	return int(max(min(n, math.MaxInt32), 1))
}

// minLevel is the level of the interval that every correction must support.
const minLevel = 0.9

// NewSplit returns a correction with one distribution for all rows, from the scores
// of the calibration rows. It sorts the scores, in O(n log n). Weights are ignored,
// because the coverage guarantee is about rows.
func NewSplit(threads int, scores []float64) (*Correction, error) {
	return newSplit(nil, threads, scores)
}

func newSplit(group peers.Group, threads int, scores []float64) (*Correction, error) {
	if len(scores) < RowsNeeded(minLevel) {
		return nil, &TooFewRowsError{len(scores), minLevel, RowsNeeded(minLevel)}
	}
	for i, z := range scores {
		if math.IsNaN(z) || math.IsInf(z, 0) {
			return nil, fmt.Errorf("calibration row %d: the score is %g; the target must lie in the domain of the transform", i+1, z)
		}
	}
	sorted := slices.Clone(scores)
	radix.SortOver(group, threads, sorted)
	return &Correction{grouping: Split, pool: predictive.NewScoreDistribution(sorted)}, nil
}

// NewByMean returns a correction with groups by bins of the location of the
// predictive distribution. The bins are separated by quantiles of the locations.
func NewByMean(threads int, scores, location []float64, bins int) (*Correction, error) {
	mustMatch(len(scores), len(location))
	c, err := NewSplit(threads, scores)
	if err != nil {
		return nil, err
	}
	c.grouping, c.edges = ByMean, quantileEdges(nil, threads, location, bins)
	c.fitGroups(nil, threads, scores, len(c.edges)+1, func(i int) int { return bin(c.edges, location[i]) })
	return c, nil
}

// NewByEntity returns a correction with groups by entity. A negative code is an
// unknown entity, which uses the pooled distribution.
func NewByEntity(threads int, scores []float64, entity []int32) (*Correction, error) {
	mustMatch(len(scores), len(entity))
	c, err := NewSplit(threads, scores)
	if err != nil {
		return nil, err
	}
	c.grouping = ByEntity
	c.fitGroups(nil, threads, scores, max(int(slices.Max(entity))+1, 0), func(i int) int { return int(entity[i]) })
	return c, nil
}

func mustMatch(scores, groups int) {
	if scores != groups {
		panic(fmt.Sprintf("conformal: %d scores, but groups for %d", scores, groups))
	}
}

// fitGroups sorts the scores by group with a counting sort and fits the distributions
// of the groups that have enough rows. A negative number is ignored. The processes of a group, nil
// for one, sort the scores of some groups of rows each.
func (c *Correction) fitGroups(group peers.Group, threads int, scores []float64, count int, number func(i int) int) {
	of := eachRow(group, threads, len(scores), number)
	ends := make([]int, count+1) // first the sizes, then the end of each group
	for _, g := range of {
		if g >= 0 {
			ends[g+1]++
		}
	}
	for g := range count {
		ends[g+1] += ends[g]
	}
	first, last, bounds := ownRun(group, count)
	next := slices.Clone(ends[:count])
	grouped := make([]float64, ends[count])
	for i, z := range scores {
		if g := int(of[i]); g >= first && g < last {
			grouped[next[g]] = z
			next[g]++
		}
	}
	parallel.For(threads, last-first, func(i int) { radix.Sort(1, grouped[ends[first+i]:ends[first+i+1]]) })
	if group != nil {
		for r, g := range bounds {
			bounds[r] = ends[g]
		}
		peers.Values(group, grouped, bounds, 1)
	}
	c.groups = make([]*predictive.ScoreDistribution, count)
	parallel.For(threads, count, func(g int) {
		if own := grouped[ends[g]:ends[g+1]]; len(own) >= MinGroupRows {
			c.groups[g] = predictive.NewScoreDistribution(own)
		}
	})
}

// ownRun returns the run of n things that this process of a group has, and where those of each start.
func ownRun(group peers.Group, n int) (first, last int, bounds []int) {
	if group == nil {
		return 0, n, nil
	}
	bounds = peers.Even(n, group.Size())
	return bounds[group.Rank()], bounds[group.Rank()+1], bounds
}

// eachRow returns a number for each of n rows. The processes of a group compute those of some rows each.
func eachRow(group peers.Group, threads, n int, number func(i int) int) []int32 {
	numbers := make([]int32, n)
	first, last, bounds := ownRun(group, n)
	parallel.Blocks(threads, last-first, func(from, to int) {
		for i := first + from; i < first+to; i++ {
			numbers[i] = int32(number(i))
		}
	})
	if group != nil {
		peers.Values(group, numbers, bounds, 1)
	}
	return numbers
}

// bin returns the bin of a value between edges.
func bin(edges []float64, value float64) int {
	low, high := 0, len(edges)
	for low < high {
		if k := (low + high) / 2; value < edges[k] {
			high = k
		} else {
			low = k + 1
		}
	}
	return low
}

// Grouping returns how rows are grouped.
func (c *Correction) Grouping() Grouping { return c.grouping }

// Rows returns the number of calibration rows.
func (c *Correction) Rows() int {
	if c.sized > 0 {
		return c.sized
	}
	return c.pool.Size()
}

// Groups returns the number of groups that have a distribution of their own.
func (c *Correction) Groups() int {
	n := 0
	for _, g := range c.groups {
		if g != nil {
			n++
		}
	}
	return n
}

// Apply returns the corrected distribution of a cell. The entity is the cell's entity
// in the mode of the grouping, negative if it is unknown; it matters only for
// [ByEntity]. The horizon is the number of periods from the last training period, 0 for
// a cell that is not a forecast; it matters only for [NewByHorizon].
func (c *Correction) Apply(d predictive.Distribution, entity, horizon int32) predictive.Distribution {
	c.ApplyTo(&d, entity, horizon)
	return d
}

// ApplyTo is Apply in place.
func (c *Correction) ApplyTo(d *predictive.Distribution, entity, horizon int32) {
	d.SetScores(c.at(horizon).scores(d.Location(), d.Spread(), entity))
}

// ApplyGroup is ApplyTo for a group of [Correction.GroupOf].
func (c *Correction) ApplyGroup(d *predictive.Distribution, group int, horizon int32) {
	d.SetScores(c.at(horizon).scoresOf(group))
}

// Centred returns the correction for draws of many cells, whose sums should not inherit
// the chance error of the scores' mean: each distribution is replaced by
// [predictive.ScoreDistribution.Centred].
func (c *Correction) Centred() *Correction {
	centred := *c
	centred.pool = c.pool.Centred()
	centred.groups = make([]*predictive.ScoreDistribution, len(c.groups))
	for g, own := range c.groups {
		if own != nil {
			centred.groups[g] = own.Centred()
		}
	}
	if c.factors != nil {
		return centred.withFactors(c.factors)
	}
	return &centred
}

// scores returns the score distribution of the group of a cell.
func (c *Correction) scores(location, spread float64, entity int32) *predictive.ScoreDistribution {
	return c.scoresOf(c.GroupOf(location, spread, entity))
}

// scoresOf returns the score distribution of a group, the pooled one for -1.
func (c *Correction) scoresOf(group int) *predictive.ScoreDistribution {
	if group >= 0 {
		return c.groups[group]
	}
	return c.pool
}

// GroupOf returns the number of the group whose scores [Correction.ApplyTo] takes, -1 for
// the pooled ones.
func (c *Correction) GroupOf(location, spread float64, entity int32) int {
	group := -1
	switch c.grouping {
	case ByMean:
		group = c.meanGroup(location, spread)
	case ByEntity:
		group = int(entity)
	}
	if group >= 0 && group < len(c.groups) && c.groups[group] != nil {
		return group
	}
	return -1
}

// Check returns a [*TooFewRowsError] for the first quantile level that the calibration
// set is too small for. Groups may be smaller: beyond the levels that their own rows
// support, they continue with a normal tail. So do forecasts, for which rows of earlier
// periods are no guarantee at any level.
func (c *Correction) Check(levels ...float64) error {
	if c.factors != nil {
		return nil
	}
	for _, p := range levels {
		central := math.Abs(2*p - 1)
		if needed := RowsNeeded(central); c.Rows() < needed {
			return &TooFewRowsError{c.Rows(), central, needed}
		}
	}
	return nil
}
