package predictive

import (
	"sort"
	"sync"
)

// nodeSums are, for a score distribution, the sums over its nodes from node i on of
// w (z - c)^k, with c the middle node, for i up to the middle.
type nodeSums struct {
	once  sync.Once
	above []powerSums
}

func (s *ScoreDistribution) sums() []powerSums {
	s.lazy.once.Do(func() {
		s.lazy.above = make([]powerSums, nodeCount/2+1)
		var sum powerSums
		for i := nodeCount - 1; i >= 0; i-- {
			power, z := nodeWeight[i], s.nodes[i]-s.nodes[nodeCount/2]
			for k := range sum {
				sum[k] += power
				power *= z
			}
			if i < len(s.lazy.above) {
				s.lazy.above[i] = sum
			}
		}
	})
	return s.lazy.above
}

// seriesVariance is empiricalVariance for powers and log1p, by the Taylor polynomials of
// y at the middle node. It reports false if they do not converge, or if the middle is
// below 0.
func (d *Distribution) seriesVariance() (float64, bool) {
	nodes := &d.scores.nodes
	h, p, unit := d.m+d.sd*nodes[nodeCount/2], 0.0, 1.0
	bounded := d.clamped
	if d.transform.kind == power {
		p, unit = d.transform.power, d.transform.unit
		bounded = true // there is another branch below 0
	}
	degree, exact := taylorDegree(p)
	var upper coefficients
	if !upper.setInverse(degree, exact, p, h, d.sd) || bounded && h < 0 {
		return 0, false
	}
	cut := 0
	if bounded && d.m+d.sd*nodes[0] < 0 {
		cut = sort.Search(nodeCount/2, func(i int) bool { return d.m+d.sd*nodes[i] >= 0 })
	}
	all := d.scores.sums()
	centre := upper[0] - 1
	upper[0] = 0
	above := &all[cut]
	first, second := upper.sum(above, degree), upper.squares(above, degree)
	if !exact && !upper.converged(above, second) {
		return 0, false
	}
	if cut > 0 {
		lower, degree := coefficients{-centre}, degree
		if d.clamped {
			degree = 0
		} else if !lower.setBelow(degree, exact, p, h, d.sd, centre) {
			return 0, false
		}
		var below powerSums
		for k := range 2*degree + 1 {
			below[k] = all[0][k] - above[k]
		}
		first += lower.sum(&below, degree)
		second += lower.squares(&below, degree)
		if !d.clamped && !exact && !lower.converged(&below, second) {
			return 0, false
		}
	}
	first /= nodeTotal
	return max(second/nodeTotal-first*first, 0) * unit * unit, true
}
