package calibrate

import (
	"math"
	"sort"
)

// A Law is a distribution of z, the standardised error: the normal one, or the
// empirical one of n scores. Of sorted scores z_(1) <= ... <= z_(n) it is
//
//	Z(p) = z_(h), h = p (n+1), linear between ranks,
//
// because the value of a further exchangeable row lies below z_(k) with
// probability k/(n+1). Between ranks linear interpolation errs to the outside
// wherever the density of z falls away from the centre, and by less than 1/(n+1)
// anywhere; [Law.Outward] gives levels at which no such condition is needed.
// Levels beyond 1/(n+1) from an end continue as the normal tail, shifted to join.
//
// Z never falls, so quantiles cannot cross. CDF costs a binary search, Z none.
// A Law does not change, so goroutines may share it.
type Law struct {
	n     int       // scores; 0 is the normal law
	knots []float64 // z at ranks rank(0), rank(1), ...
	// The normal tail is moved by these to join the first and last score.
	lowShift, highShift float64

	at    [len(reportLevels)]float64 // Z at the levels every report needs
	nodes [nodeCount]float64         // Z(Phi(t)) at nodeT
	slope [nodeCount]float64         // dZ/dt there, over four steps
}

const (
	maxKnots  = 2001
	tailKnots = 200 // ranks kept one by one at either end
)

// reportLevels are the ends of the five central intervals, and the median.
var reportLevels = [11]float64{.05, .15, .25, .35, .45, .5, .55, .65, .75, .85, .95}

// Integrals over a law are sums over nodes equally spaced in t, p = Phi(t): for
// integrands that are smooth in t and die with the normal density the trapezoid
// rule is exact to far below float32.
const (
	nodeStep  = 0.125
	nodeLast  = 6.0
	nodeCount = 2*int(nodeLast/nodeStep) + 1
)

var nodeT, nodeP, nodeWeight = func() (t, p, w [nodeCount]float64) {
	for i := range t {
		t[i] = float64(i)*nodeStep - nodeLast
		p[i] = normalCDF(t[i])
		w[i] = nodeStep * normalDensity(t[i])
	}
	return
}()

// standard is the normal law.
var standard = func() *Law { l := &Law{}; l.prepare(); return l }()

// newLaw takes sorted scores, at least one.
func newLaw(sorted []float64) *Law {
	l := &Law{n: len(sorted)}
	l.knots = make([]float64, knotCount(l.n))
	for j := range l.knots {
		l.knots[j] = sorted[l.rank(j)-1]
	}
	l.prepare()
	return l
}

func knotCount(n int) int { return min(n, maxKnots) }

// rank returns the rank, from 1, of knot j.
func (l *Law) rank(j int) int {
	k := knotCount(l.n)
	if l.n == k || j < tailKnots {
		return j + 1
	}
	if j >= k-tailKnots {
		return l.n - (k - 1 - j)
	}
	return tailKnots + (j-tailKnots+1)*(l.n-2*tailKnots)/(k-2*tailKnots)
}

// knotBelow returns the last knot, but one at most, whose rank is h or less.
func (l *Law) knotBelow(h float64) int {
	k := knotCount(l.n)
	j := int(h) - 1
	if l.n > k {
		switch {
		case h >= float64(l.n-tailKnots):
			j = k - 1 - tailKnots
		case h >= tailKnots:
			j = tailKnots - 1 + int((h-tailKnots)*float64(k-2*tailKnots)/float64(l.n-2*tailKnots))
		}
	}
	j = min(max(j, 0), k-2)
	for j < k-2 && float64(l.rank(j+1)) <= h {
		j++
	}
	for j > 0 && float64(l.rank(j)) > h {
		j--
	}
	return j
}

func (l *Law) prepare() {
	if l.n > 0 {
		edge := normalQuantile(1 / float64(l.n+1))
		l.lowShift = l.knots[0] - edge
		l.highShift = l.knots[len(l.knots)-1] + edge
	}
	for i, p := range reportLevels {
		l.at[i] = l.Z(p)
	}
	for i, p := range nodeP {
		// p of the upper nodes rounds to 1; their t is what is meant.
		l.nodes[i] = l.score(p, nodeT[i])
	}
	for i := range l.slope {
		a, b := max(i-2, 0), min(i+2, nodeCount-1)
		// Ties make the law flat; the density stays finite.
		l.slope[i] = max((l.nodes[b]-l.nodes[a])/(float64(b-a)*nodeStep), 1e-3)
	}
}

// Size returns the number of scores the law stands on, 0 for the normal law.
func (l *Law) Size() int { return l.n }

// Z returns the quantile of z at level p.
func (l *Law) Z(p float64) float64 {
	if h := p * float64(l.n+1); l.n > 0 && h >= 1 && h <= float64(l.n) {
		return l.score(p, 0)
	}
	return l.score(p, normalQuantile(p))
}

// score is Z for a level whose normal quantile t is known.
func (l *Law) score(p, t float64) float64 {
	if l.n == 0 {
		return t
	}
	h := p * float64(l.n+1)
	if h < 1 {
		return t + l.lowShift
	}
	if h > float64(l.n) {
		return t + l.highShift
	}
	if len(l.knots) == 1 {
		return l.knots[0]
	}
	j := l.knotBelow(h)
	low, high := float64(l.rank(j)), float64(l.rank(j+1))
	share := (h - low) / (high - low)
	a, b := l.knots[j], l.knots[j+1]
	// This form is never outside [a, b] and never falls in share.
	return a + share*(b-a)
}

// CDF returns the probability of z or less.
func (l *Law) CDF(z float64) float64 {
	if l.n == 0 {
		return normalCDF(z)
	}
	// The knots up to z; with ties the last of them.
	after := sort.Search(len(l.knots), func(j int) bool { return l.knots[j] > z })
	return l.level(z, after)
}

// logCDF returns the logarithm of CDF, also where that is too small to have one.
func (l *Law) logCDF(z float64) float64 {
	if p := l.CDF(z); p > 0 {
		return math.Log(p)
	}
	t := z - l.lowShift
	return -t*t/2 - logSqrt2Pi - math.Log(-t)
}

// below returns the probability of less than z, which differs from CDF at ties.
func (l *Law) below(z float64) float64 {
	if l.n == 0 {
		return normalCDF(z)
	}
	return l.level(z, sort.SearchFloat64s(l.knots, z))
}

// level returns the level of z, which lies between knots after-1 and after.
func (l *Law) level(z float64, after int) float64 {
	total := float64(l.n + 1)
	if after == 0 {
		return min(normalCDF(z-l.lowShift), 1/total)
	}
	if after == len(l.knots) {
		return max(normalCDF(z-l.highShift), float64(l.n)/total)
	}
	low, high := float64(l.rank(after-1)), float64(l.rank(after))
	a, b := l.knots[after-1], l.knots[after]
	return (low + (high-low)*(z-a)/(b-a)) / total
}

// logDensity returns the log of the law's density at z, phi(t) / (dZ/dt) at
// p = Phi(t) the level of z. The slope of an empirical law is taken over half a
// unit of t: order statistics next to each other are too rough for a density.
func (l *Law) logDensity(z float64) float64 {
	if l.n == 0 {
		return -z*z/2 - logSqrt2Pi
	}
	var t float64
	switch {
	case z < l.knots[0]:
		t = z - l.lowShift
	case z > l.knots[len(l.knots)-1]:
		t = z - l.highShift
	default:
		t = normalQuantile((l.CDF(z) + l.below(z)) / 2)
	}
	return -t*t/2 - logSqrt2Pi - math.Log(l.slopeAt(t))
}

func (l *Law) slopeAt(t float64) float64 {
	if l.n == 0 {
		return 1
	}
	x := (t + nodeLast) / nodeStep
	if !(x > 0) {
		return l.slope[0]
	}
	i := int(x)
	if x >= float64(nodeCount-1) {
		return l.slope[nodeCount-1]
	}
	return l.slope[i] + (x-float64(i))*(l.slope[i+1]-l.slope[i])
}

// Outward moves a level away from 1/2 to the nearest multiple of 1/(n+1). The
// central interval between Outward levels of a and 1-a covers a further
// exchangeable row with probability 1-2a or more, whatever the distribution of
// z, if n is [NeededFor] that or more.
func (l *Law) Outward(p float64) float64 {
	if l.n == 0 {
		return p
	}
	total := float64(l.n + 1)
	h := p * total
	// A level that is a multiple already stays, rounding or not.
	if k := math.Round(h); math.Abs(h-k) < 1e-9*total {
		return k / total
	}
	if p < 0.5 {
		return math.Floor(h) / total
	}
	return math.Ceil(h) / total
}
