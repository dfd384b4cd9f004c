package predictive

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/kernel-fried-tensor/kft/likelihood"
)

// A ScoreDistribution is the distribution of the standardised score z: standard
// normal, Student t, or the empirical distribution of n scores. For sorted scores
// z_(1) <= ... <= z_(n) its quantile function is
//
//	Z(p) = z_(h), h = p (n+1), linear between ranks,
//
// because the score of a further exchangeable row lies below z_(k) with probability
// k/(n+1). The error of linear interpolation is below 1/(n+1) in probability, and
// makes central intervals too wide rather than too narrow wherever the density of z
// decreases away from its centre. Below the level 1/(n+1) and above n/(n+1) the
// distribution continues as a normal tail, shifted so that Z is continuous.
//
// Z is non-decreasing, so quantiles cannot cross. CDF costs a binary search, Z does
// not. A ScoreDistribution is immutable and safe for concurrent use.
type ScoreDistribution struct {
	n     int                  // number of scores; 0 means a distribution that is given
	given *likelihood.StudentT // nil means standard normal; see NewStudentScores
	knots []float64            // z at ranks rank(0), rank(1), ...
	// Shifts of the normal tails that join them to the first and last score.
	lowShift, highShift float64

	summary [len(SummaryLevels)]float64 // Z at SummaryLevels
	nodes   [nodeCount]float64          // Z(Phi(t)) at nodeT
	slope   [nodeCount]float64          // dZ/dt at nodeT, over four steps
	level   levelTable                  // CDF at steps of the score
	upper   *upperSums                  // of nodes
	cells   scoreCells                  // further sums, for powers and log1p
}

const (
	maxKnots  = 2001
	tailKnots = 200 // number of ranks at either end that all have a knot
)

// NewStudentScores returns the Student t distribution with given degrees of freedom.
func NewStudentScores(df float64) *ScoreDistribution {
	s := &ScoreDistribution{given: &likelihood.StudentT{Variance: 1, DF: df}}
	s.prepare()
	return s
}

// normal reports whether the distribution is the standard normal one.
func (s *ScoreDistribution) normal() bool { return s.n == 0 && s.given == nil }

var standardNormal = func() *ScoreDistribution { s := &ScoreDistribution{}; s.prepare(); return s }()

// NewScoreDistribution returns the empirical distribution of scores, which must be
// finite, sorted and not empty. It keeps at most 2001 of their order statistics.
func NewScoreDistribution(sorted []float64) *ScoreDistribution {
	s := &ScoreDistribution{n: len(sorted)}
	s.knots = make([]float64, KnotCount(s.n))
	for j := range s.knots {
		s.knots[j] = sorted[s.rank(j)-1]
	}
	s.prepare()
	return s
}

// RestoreScoreDistribution returns the distribution of n scores that has the given
// [ScoreDistribution.Knots]. It copies them.
func RestoreScoreDistribution(n int, knots []float64) (*ScoreDistribution, error) {
	if n < 1 || len(knots) != KnotCount(n) {
		return nil, fmt.Errorf("%d knots for %d scores", len(knots), n)
	}
	for _, z := range knots {
		if math.IsNaN(z) || math.IsInf(z, 0) {
			return nil, fmt.Errorf("a knot is %g", z)
		}
	}
	if !slices.IsSorted(knots) {
		return nil, fmt.Errorf("the knots are not sorted")
	}
	s := &ScoreDistribution{n: n, knots: slices.Clone(knots)}
	s.prepare()
	return s, nil
}

// centredErrors is the number of standard errors up to which the mean of scores counts as
// chance.
const centredErrors = 2

// Centred returns the distribution for draws of many cells. The scores of n rows have a
// mean that differs from 0 by chance, by about sd/sqrt(n). That is little for one cell,
// but all cells share it, so a sum of m cells would be off by m times as much, while its
// standard deviation grows with sqrt(m) if the cells are independent. The mean is therefore
// moved to 0, except for what is significant: a mean of t standard errors keeps the share
// 1 - 4/t^2, if that is above 0.
func (s *ScoreDistribution) Centred() *ScoreDistribution {
	if s.n == 0 {
		return s
	}
	mean, square := s.knots[0], s.knots[0]*s.knots[0] // the level of each tail is 1/(n+1)
	last := s.knots[len(s.knots)-1]
	mean, square = mean+last, square+last*last
	for j := range len(s.knots) - 1 {
		a, b, ranks := s.knots[j], s.knots[j+1], float64(s.rank(j+1)-s.rank(j))
		mean += ranks * (a + b) / 2
		square += ranks * (a*a + a*b + b*b) / 3
	}
	mean /= float64(s.n + 1)
	variance := max(square/float64(s.n+1)-mean*mean, 0)
	shift := mean
	if chance := centredErrors * centredErrors * variance / float64(s.n); mean*mean > chance {
		shift = chance / mean
	}
	c := &ScoreDistribution{n: s.n, knots: s.Knots()}
	for j := range c.knots {
		c.knots[j] -= shift
	}
	c.prepare()
	return c
}

// Scaled returns the distribution of the scores times a factor above 0.
func (s *ScoreDistribution) Scaled(factor float64) *ScoreDistribution {
	if s.n == 0 || factor == 1 {
		return s
	}
	c := &ScoreDistribution{n: s.n, knots: s.Knots()}
	for j := range c.knots {
		c.knots[j] *= factor
	}
	c.prepare()
	return c
}

// Size returns the number of scores, 0 for the standard normal distribution.
func (s *ScoreDistribution) Size() int { return s.n }

// Knots returns a copy of the order statistics that define the distribution.
func (s *ScoreDistribution) Knots() []float64 { return slices.Clone(s.knots) }

// KnotCount returns the number of knots of a distribution of n scores.
func KnotCount(n int) int { return min(n, maxKnots) }

// rank returns the rank, from 1, of knot j.
func (s *ScoreDistribution) rank(j int) int {
	k := KnotCount(s.n)
	if s.n == k || j < tailKnots {
		return j + 1
	}
	if j >= k-tailKnots {
		return s.n - (k - 1 - j)
	}
	return tailKnots + (j-tailKnots+1)*(s.n-2*tailKnots)/(k-2*tailKnots)
}

// knotBelow returns the last knot with a rank of at most h, but not the last of all
// knots.
func (s *ScoreDistribution) knotBelow(h float64) int {
	k := KnotCount(s.n)
	j := int(h) - 1
	if s.n > k {
		switch {
		case h >= float64(s.n-tailKnots):
			j = k - 1 - tailKnots
		case h >= tailKnots:
			j = tailKnots - 1 + int((h-tailKnots)*float64(k-2*tailKnots)/float64(s.n-2*tailKnots))
		}
	}
	j = min(max(j, 0), k-2)
	for j < k-2 && float64(s.rank(j+1)) <= h {
		j++
	}
	for j > 0 && float64(s.rank(j)) > h {
		j--
	}
	return j
}

// prepare computes the derived fields from n and knots.
func (s *ScoreDistribution) prepare() {
	if s.n > 0 {
		edge := normalQuantile(1 / float64(s.n+1))
		s.lowShift = s.knots[0] - edge
		s.highShift = s.knots[len(s.knots)-1] + edge
	}
	for i, p := range SummaryLevels {
		s.summary[i] = s.Quantile(p)
	}
	for i, p := range nodeP {
		// p rounds to 1 at the upper nodes, so their t is passed as well.
		s.nodes[i] = s.quantileAt(p, nodeT[i])
	}
	s.upper = newUpperSums(&s.nodes)
	for i := range s.level {
		s.level[i] = s.CDF(levelStep*float64(i) - levelReach)
	}
	for i := range s.slope {
		a, b := max(i-2, 0), min(i+2, nodeCount-1)
		// Z is constant at ties. The minimum keeps the density finite there.
		s.slope[i] = max((s.nodes[b]-s.nodes[a])/(float64(b-a)*nodeStep), 1e-3)
	}
}

// Quantile returns Z(p), the quantile of z at level p.
func (s *ScoreDistribution) Quantile(p float64) float64 {
	if h := p * float64(s.n+1); s.n > 0 && h >= 1 && h <= float64(s.n) {
		return s.quantileAt(p, 0)
	}
	return s.quantileAt(p, normalQuantile(p))
}

// quantileAt returns Z(p). t is the normal quantile of p, which is needed only in
// the tails.
func (s *ScoreDistribution) quantileAt(p, t float64) float64 {
	if s.given != nil {
		if t > 0 { // p may round to 1
			return -s.given.Quantile(normalCDF(-t))
		}
		return s.given.Quantile(p)
	}
	if s.n == 0 {
		return t
	}
	h := p * float64(s.n+1)
	if h < 1 {
		return t + s.lowShift
	}
	if h > float64(s.n) {
		return t + s.highShift
	}
	if len(s.knots) == 1 {
		return s.knots[0]
	}
	j := s.knotBelow(h)
	low, high := float64(s.rank(j)), float64(s.rank(j+1))
	share := (h - low) / (high - low)
	a, b := s.knots[j], s.knots[j+1]
	// This form stays inside [a, b] and is non-decreasing in share.
	return a + share*(b-a)
}

// CDF returns the probability of a score of at most z.
func (s *ScoreDistribution) CDF(z float64) float64 {
	if s.n == 0 {
		return s.givenCDF(z)
	}
	// The knots up to z, including all ties.
	after := sort.Search(len(s.knots), func(j int) bool { return s.knots[j] > z })
	return s.levelBetween(z, after)
}

// Levels of scores from -levelReach to levelReach are tabulated in steps of levelStep.
const (
	levelReach = 6
	levelStep  = 1.0 / 64
	levelCount = 2*levelReach*64 + 1
)

type levelTable [levelCount]float64

func (s *ScoreDistribution) givenCDF(z float64) float64 {
	if s.given != nil {
		return s.given.CDF(z)
	}
	return normalCDF(z)
}

// logCDF returns the logarithm of CDF, also where CDF underflows to 0.
func (s *ScoreDistribution) logCDF(z float64) float64 {
	if p := s.CDF(z); p > 0 {
		return math.Log(p)
	}
	t := z - s.lowShift
	return -t*t/2 - logSqrt2Pi - math.Log(-t)
}

// cdfBelow returns the probability of a score below z, which differs from CDF at
// ties.
func (s *ScoreDistribution) cdfBelow(z float64) float64 {
	if s.n == 0 {
		return s.givenCDF(z)
	}
	return s.levelBetween(z, sort.SearchFloat64s(s.knots, z))
}

// levelBetween returns the level of z, which lies between knots after-1 and after.
func (s *ScoreDistribution) levelBetween(z float64, after int) float64 {
	total := float64(s.n + 1)
	if after == 0 {
		return min(normalCDF(z-s.lowShift), 1/total)
	}
	if after == len(s.knots) {
		return max(normalCDF(z-s.highShift), float64(s.n)/total)
	}
	low, high := float64(s.rank(after-1)), float64(s.rank(after))
	a, b := s.knots[after-1], s.knots[after]
	return (low + (high-low)*(z-a)/(b-a)) / total
}

// logDensity returns the logarithm of the density at z: phi(t) / (dZ/dt), where
// p = Phi(t) is the level of z. The slope of an empirical distribution is taken over
// half a unit of t, because neighbouring order statistics are too noisy for a
// density.
func (s *ScoreDistribution) logDensity(z float64) float64 {
	if s.given != nil {
		return s.given.LogDensity(z)
	}
	if s.n == 0 {
		return -z*z/2 - logSqrt2Pi
	}
	var t float64
	switch {
	case z < s.knots[0]:
		t = z - s.lowShift
	case z > s.knots[len(s.knots)-1]:
		t = z - s.highShift
	default:
		t = normalQuantile((s.CDF(z) + s.cdfBelow(z)) / 2)
	}
	return -t*t/2 - logSqrt2Pi - math.Log(s.slopeAt(t))
}

// slopeAt returns dZ/dt, interpolated between nodes.
func (s *ScoreDistribution) slopeAt(t float64) float64 {
	if s.normal() {
		return 1
	}
	x := (t + nodeLast) / nodeStep
	if !(x > 0) {
		return s.slope[0]
	}
	i := int(x)
	if x >= float64(nodeCount-1) {
		return s.slope[nodeCount-1]
	}
	return s.slope[i] + (x-float64(i))*(s.slope[i+1]-s.slope[i])
}
