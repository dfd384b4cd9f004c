package predictive

import (
	"sort"

	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// upperSums are, for a score distribution, the sums over its nodes from node i on of
// w (z - c)^k for k = 0 to 6, with c the middle node, for i up to the middle: with them
// the variance of a polynomial of degree 3 that is constant below a bound takes a constant
// time.
type upperSums [nodeCount/2 + 1][7]float64

func newUpperSums(nodes *[nodeCount]float64) *upperSums {
	var u upperSums
	var sum [7]float64
	for i := nodeCount - 1; i >= 0; i-- {
		power, z := nodeWeight[i], nodes[i]-nodes[nodeCount/2]
		for k := range sum {
			sum[k] += power
			power *= z
		}
		if i < len(u) {
			u[i] = sum
		}
	}
	return &u
}

// rootOf returns the degree of the inverse of t if that is a power of g, else 0.
func rootOf(t targetscale.Transform) int {
	switch t.Kind() {
	case targetscale.KindIdentity:
		return 1
	case targetscale.KindSqrt:
		return 2
	case targetscale.KindCbrt1p:
		return 3
	}
	return 0
}

// rootVariance is empiricalVariance for y = max(g, least)^root + constant. With c the
// middle node of the scores, h = m + sd c and x = z - c, the difference from y at h is
// the polynomial
//
//	(h + sd x)^root - h^root = a x + b x^2 + c x^3
//
// above the bound, so that its moments are sums of upperSums. If the middle is below the
// bound, few nodes matter and are summed one by one.
func (d *Distribution) rootVariance(root int) float64 {
	nodes := &d.scores.nodes
	least := d.boundLevel()
	cut := 0
	if d.m+d.sd*nodes[0] < least {
		cut = sort.Search(nodeCount, func(i int) bool { return d.m+d.sd*nodes[i] >= least })
	}
	var first, second float64
	if cut < len(d.scores.upper) {
		h := d.m + d.sd*nodes[nodeCount/2]
		s := &d.scores.upper[cut]
		a, b, c := d.sd, 0.0, 0.0
		if root >= 2 {
			a, b = 2*h*d.sd, d.sd*d.sd
		}
		if root == 3 {
			a, b, c = 3*h*h*d.sd, 3*h*d.sd*d.sd, d.sd*d.sd*d.sd
		}
		first = a*s[1] + b*s[2] + c*s[3]
		second = a*a*s[2] + 2*a*b*s[3] + (b*b+2*a*c)*s[4] + 2*b*c*s[5] + c*c*s[6]
		if cut > 0 {
			below := intPower(least, root) - intPower(h, root)
			first += (nodeTotal - s[0]) * below
			second += (nodeTotal - s[0]) * below * below
		}
	} else {
		floor := intPower(least, root)
		for i := cut; i < nodeCount; i++ {
			y := intPower(d.m+d.sd*nodes[i], root) - floor
			first += nodeWeight[i] * y
			second += nodeWeight[i] * y * y
		}
	}
	first /= nodeTotal
	return max(second/nodeTotal-first*first, 0)
}

func intPower(x float64, n int) float64 {
	y := x
	for range n - 1 {
		y *= x
	}
	return y
}
