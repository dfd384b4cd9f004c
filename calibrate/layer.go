package calibrate

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

// LeastGroup is the number of calibration rows below which a group uses the pool.
const LeastGroup = 200

// A Grouping says which rows share a law.
type Grouping string

const (
	Split    Grouping = "split"  // all of them
	ByMean   Grouping = "mean"   // bins of the predicted mean on the modelling scale
	ByEntity Grouping = "entity" // the entities of a mode
)

// A Layer is the conformal layer of a model: laws of z from a calibration set
// that was used for nothing else, one for all rows and one for each group of
// [LeastGroup] rows or more. It does not change, so goroutines may share it.
type Layer struct {
	grouping Grouping
	edges    []float64 // ByMean: bin k ends at edges[k], the last has no end
	pool     *Law
	groups   []*Law // by bin or entity code; nil uses the pool
}

// A TooFewError says that a calibration set cannot give a level.
type TooFewError struct {
	Rows   int
	Level  float64 // of the central interval
	Needed int
}

func (e *TooFewError) Error() string {
	return fmt.Sprintf("%d calibration rows cannot give a %.4g %% interval, which needs %d or more; calibrate on more rows or ask for a lower level",
		e.Rows, 100*e.Level, e.Needed)
}

// NeededFor returns how many calibration rows the central interval of a level
// needs: the least n with 1/(n+1) <= (1-level)/2. A quantile p needs as many as
// the level |2p - 1|.
func NeededFor(level float64) int {
	n := math.Ceil(2/(1-level)*(1-1e-12) - 1)
	return int(max(min(n, math.MaxInt32), 1))
}

// leastLevel is what any layer must be able to give.
const leastLevel = 0.9

// FitSplit makes a layer of one law from the scores of calibration rows. It
// sorts: O(n log n). Weights have no part: the promise is about rows.
func FitSplit(z []float64) (*Layer, error) {
	if len(z) < NeededFor(leastLevel) {
		return nil, &TooFewError{len(z), leastLevel, NeededFor(leastLevel)}
	}
	sorted := slices.Clone(z)
	slices.Sort(sorted)
	for i, v := range z {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("calibration row %d: its score is %g; the target must be inside the transform's domain", i+1, v)
		}
	}
	return &Layer{grouping: Split, pool: newLaw(sorted)}, nil
}

// FitByMean makes a layer with laws for bins of the location of the predictive,
// cut at its quantiles.
func FitByMean(z, location []float64, bins int) (*Layer, error) {
	mustMatch(len(z), len(location))
	l, err := FitSplit(z)
	if err != nil {
		return nil, err
	}
	sorted := slices.Clone(location)
	slices.Sort(sorted)
	for k := 1; k < bins; k++ {
		edge := sorted[k*len(sorted)/bins]
		if len(l.edges) == 0 || edge > l.edges[len(l.edges)-1] {
			l.edges = append(l.edges, edge)
		}
	}
	l.grouping = ByMean
	l.fitGroups(z, len(l.edges)+1, func(i int) int { return l.bin(location[i]) })
	return l, nil
}

// FitByEntity makes a layer with laws for the entities of a mode. A negative
// entity is an unknown one and uses the pool.
func FitByEntity(z []float64, entity []int32) (*Layer, error) {
	mustMatch(len(z), len(entity))
	l, err := FitSplit(z)
	if err != nil {
		return nil, err
	}
	l.grouping = ByEntity
	l.fitGroups(z, int(slices.Max(entity))+1, func(i int) int { return int(entity[i]) })
	return l, nil
}

func mustMatch(n, m int) {
	if n != m {
		panic(fmt.Sprintf("calibrate: %d scores with %d groups", n, m))
	}
}

func (l *Layer) fitGroups(z []float64, count int, group func(i int) int) {
	ends := make([]int, count+1) // first sizes, then where each group's scores end
	for i := range z {
		if g := group(i); g >= 0 {
			ends[g+1]++
		}
	}
	for g := range count {
		ends[g+1] += ends[g]
	}
	next := slices.Clone(ends[:count])
	sorted := make([]float64, ends[count])
	for i, v := range z {
		if g := group(i); g >= 0 {
			sorted[next[g]] = v
			next[g]++
		}
	}
	l.groups = make([]*Law, count)
	for g := range count {
		if own := sorted[ends[g]:ends[g+1]]; len(own) >= LeastGroup {
			slices.Sort(own)
			l.groups[g] = newLaw(own)
		}
	}
}

func (l *Layer) bin(location float64) int {
	return sort.Search(len(l.edges), func(k int) bool { return location < l.edges[k] })
}

// Grouping says how the layer's rows are grouped.
func (l *Layer) Grouping() Grouping { return l.grouping }

// Rows returns the number of rows the layer was made of.
func (l *Layer) Rows() int { return l.pool.n }

// Law returns the law for a cell, by its predictive's location or its entity of
// the grouping mode, negative for an unknown one.
func (l *Layer) Law(location float64, entity int32) *Law {
	group := -1
	switch l.grouping {
	case ByMean:
		group = l.bin(location)
	case ByEntity:
		group = int(entity)
	}
	if group >= 0 && group < len(l.groups) && l.groups[group] != nil {
		return l.groups[group]
	}
	return l.pool
}

// Check returns a *TooFewError for the first quantile level that the calibration
// set is too small for. Groups need not have the rows: beyond the levels their
// own rows reach they continue as the normal tail.
func (l *Layer) Check(levels ...float64) error {
	for _, p := range levels {
		central := math.Abs(2*p - 1)
		if needed := NeededFor(central); l.pool.n < needed {
			return &TooFewError{l.pool.n, central, needed}
		}
	}
	return nil
}

// A Record is a layer as plain numbers, for a file. The first law is the pool.
type Record struct {
	Grouping Grouping
	Edges    []float64
	Group    []int64   // of the second law and those after
	Size     []int64   // rows of each law
	Knots    []float64 // of all laws, one after the other
}

// Record returns the layer's numbers.
func (l *Layer) Record() Record {
	r := Record{Grouping: l.grouping, Edges: l.edges,
		Size: []int64{int64(l.pool.n)}, Knots: slices.Clone(l.pool.knots)}
	for g, law := range l.groups {
		if law != nil {
			r.Group = append(r.Group, int64(g))
			r.Size = append(r.Size, int64(law.n))
			r.Knots = append(r.Knots, law.knots...)
		}
	}
	return r
}

// FromRecord returns the layer of a record, or says what is wrong with it.
func FromRecord(r Record) (*Layer, error) {
	bad := func(what string) (*Layer, error) { return nil, fmt.Errorf("conformal layer: %s", what) }
	switch r.Grouping {
	case Split, ByMean, ByEntity:
	default:
		return bad(fmt.Sprintf("unknown grouping %q", r.Grouping))
	}
	if len(r.Size) == 0 || len(r.Group) != len(r.Size)-1 {
		return bad(fmt.Sprintf("%d laws for %d groups and a pool", len(r.Size), len(r.Group)))
	}
	if !slices.IsSorted(r.Edges) {
		return bad("edges out of order")
	}
	l := &Layer{grouping: r.Grouping, edges: r.Edges}
	if n := len(r.Group); n > 0 {
		last := r.Group[n-1]
		if last > math.MaxInt32 || r.Group[0] < 0 || !slices.IsSorted(r.Group) {
			return bad("groups out of order")
		}
		l.groups = make([]*Law, last+1)
	}
	knots := r.Knots
	for i, size := range r.Size {
		if size < 1 || size > math.MaxInt32 || knotCount(int(size)) > len(knots) {
			return bad(fmt.Sprintf("law %d of %d rows has too few numbers", i, size))
		}
		law := &Law{n: int(size), knots: slices.Clone(knots[:knotCount(int(size))])}
		knots = knots[len(law.knots):]
		for _, z := range law.knots {
			if math.IsNaN(z) || math.IsInf(z, 0) {
				return bad(fmt.Sprintf("law %d holds %g", i, z))
			}
		}
		if !slices.IsSorted(law.knots) {
			return bad(fmt.Sprintf("law %d falls", i))
		}
		law.prepare()
		if i == 0 {
			l.pool = law
		} else {
			l.groups[r.Group[i-1]] = law
		}
	}
	if len(knots) > 0 {
		return bad(fmt.Sprintf("%d numbers are left over", len(knots)))
	}
	return l, nil
}
