package predictive

import (
	"math"
	"sync"

	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// The variance of a power or of log1p under a score distribution is a sum over its nodes z
// with weights w. Above 0, with T, A and tau of powerExpansion,
//
//	y - y(m) = A (T(tau z) - 1),
//
// so that the sums of w (T(tau z) - 1) and of its square are functions of tau alone. They are
// Taylor polynomials in tau, one pair per cell of tau, made when the first distribution needs
// it. That costs 97 exponentials and 5,000 multiplications, some 10 us, and 220 bytes; a score
// distribution of many rows needs two or three cells. Nodes near and below y = 0 are added
// one by one.
//
// Where T is a polynomial of degree D, the sums are polynomials of degree D and 2 D in P tau, for any first node.

const (
	cellsPerUnit = 16
	mostCells    = 2*cellsPerUnit + 1 // up to tau = 2
	cellDegree   = 12
	// The sums begin at every fourth node: at the nearest to the first one above 0.
	edgeStep = 4
)

// scoreCells are the polynomials of a power by first node and tau, some 10 KiB. They are the head
// of a list over powers, of which a score distribution has one.
type scoreCells struct {
	once  sync.Once // sets the other fields
	power float64
	exact [][][2]float64 // coefficients in P tau by first node, if T is a polynomial; else cells
	cells *[nodeCount/2/edgeStep + 2][mostCells]lazyCell
	next  *scoreCells
}

type lazyCell struct {
	once sync.Once
	cell *scoreCell
}

// A scoreCell has the coefficients of the sums of w (T - 1) and w (T - 1)^2 in tau less the
// middle of the cell. It is not known if the polynomials do not converge.
type scoreCell struct {
	coefficients [cellDegree + 1][2]float64
	known        bool
}

// twoSums returns the values of two polynomials of even degree at x.
func twoSums(coefficients [][2]float64, x float64) (first, second float64) {
	// Even and odd powers apart, so that one does not wait for the other.
	square := x * x
	degree := len(coefficients) - 1
	even, odd := coefficients[degree], coefficients[degree-1]
	for k := degree - 2; k > 0; k -= 2 {
		a, b := &coefficients[k], &coefficients[k-1]
		even[0], even[1] = even[0]*square+a[0], even[1]*square+a[1]
		odd[0], odd[1] = odd[0]*square+b[0], odd[1]*square+b[1]
	}
	a := &coefficients[0]
	return (even[0]*square + a[0]) + odd[0]*x, (even[1]*square + a[1]) + odd[1]*x
}

// cell returns the coefficients of the sums over the nodes from a node near cut on, where they are
// to be evaluated, and that node; nil if the polynomials do not converge.
func (s *ScoreDistribution) cell(power float64, cut int, tau float64) (coefficients [][2]float64, at float64, from int) {
	all := &s.cells
	for {
		all.once.Do(func() {
			all.power, all.next = power, new(scoreCells)
			if degree, whole := targetscale.PolynomialDegree(power); whole {
				all.exact = exactSums(degree, &s.nodes)
			} else {
				all.cells = new([nodeCount/2/edgeStep + 2][mostCells]lazyCell)
			}
		})
		if all.power == power {
			break
		}
		all = all.next
	}
	if all.exact != nil {
		return all.exact[cut], power * tau, cut
	}
	place := math.Round(tau * cellsPerUnit)
	if !(place < mostCells) {
		return nil, 0, 0
	}
	from = (cut + edgeStep/2) / edgeStep * edgeStep
	c := &all.cells[from/edgeStep][int(place)]
	c.once.Do(func() { c.cell = newScoreCell(power, place/cellsPerUnit, s.nodes[from:], nodeWeight[from:]) })
	if !c.cell.known {
		return nil, 0, 0
	}
	return c.cell.coefficients[:], tau - place/cellsPerUnit, from
}

// exactSums returns the coefficients of the sums of w ((1 + x z)^degree - 1) and of its square in x, by first node.
func exactSums(degree int, nodes *[nodeCount]float64) [][][2]float64 {
	byFirst := make([][][2]float64, nodeCount/2+1)
	memory := make([][2]float64, len(byFirst)*(2*degree+1))
	sums := make([]float64, 2*degree+1) // of w z^k
	for i := nodeCount - 1; i >= 0; i-- {
		power := nodeWeight[i]
		for k := range sums {
			sums[k] += power
			power *= nodes[i]
		}
		if i >= len(byFirst) {
			continue
		}
		byFirst[i] = memory[i*len(sums):][:len(sums):len(sums)]
		one, two := 1.0, 1.0 // binomial coefficients
		for k, sum := range sums {
			if k > 0 {
				byFirst[i][k] = [2]float64{one * sum, (two - 2*one) * sum}
			}
			one *= float64(degree-k) / float64(k+1) // 0 beyond the degree
			two *= float64(2*degree-k) / float64(k+1)
		}
	}
	return byFirst
}

// newScoreCell returns the cell around tau. Beyond a node's own series, which must have at least
// twice the radius of the cell, terms decrease by half or faster.
func newScoreCell(p, tau float64, nodes, weights []float64) *scoreCell {
	const half = 0.5 / cellsPerUnit
	var c scoreCell
	for i, z := range nodes {
		base := 1 + p*tau*z
		if base <= 2*half*p*math.Abs(z) {
			return &c
		}
		// w T^(k)(tau z) z^k/k!, and the same of T^2.
		curve := powerCurve(p, tau*z)
		one := weights[i] * curve
		two := one * curve
		for k := range c.coefficients {
			c.coefficients[k][0] += one
			c.coefficients[k][1] += two - 2*one
			by := z / base * seriesInverse[k+1]
			one *= by * (1 - seriesNumber[k]*p)
			two *= by * (2 - seriesNumber[k]*p)
		}
		c.coefficients[0][0] -= weights[i]
		c.coefficients[0][1] += weights[i]
	}
	if tau == 0 { // but for rounding
		c.coefficients[0], c.coefficients[1][1] = [2]float64{}, 0
	}
	_, second := twoSums(c.coefficients[:], -half)
	c.known = math.Abs(c.coefficients[cellDegree][1])*math.Pow(half, cellDegree) <= 1e-8*second
	return &c
}

// weightBelow[i] is the sum of the weights of the nodes before i.
var weightBelow = func() (below [nodeCount + 1]float64) {
	for i, w := range nodeWeight {
		below[i+1] = below[i] + w
	}
	return
}()

// scoreVariance is empiricalVariance for powers and log1p, given T(m) or 0. It reports false if m or
// the median is below 0, or if the polynomials do not converge.
func (d *Distribution) scoreVariance(centre float64) (float64, bool) {
	p, unit, bounded := 0.0, 1.0, d.clamped
	if d.transform.Kind() == targetscale.KindPower {
		p, unit, bounded = d.transform.Exponent(), d.transform.Unit(), true // there is another branch below 0
	}
	if bounded && d.m < 0 {
		return 0, false
	}
	cut := 0
	if bounded {
		if cut = d.firstAbove(); cut > nodeCount/2 {
			return 0, false
		}
	}
	coefficients, at, from := d.scores.cell(p, cut, d.sd/(1+p*d.m))
	if coefficients == nil {
		return 0, false
	}
	if centre == 0 {
		centre = powerCurve(p, d.m)
	}
	first, second := twoSums(coefficients, at)
	first, second = first*centre, second*centre*centre
	add := func(weight, deviation float64) {
		first += weight * deviation
		second += weight * deviation * deviation
	}
	nodes := &d.scores.nodes
	for i := cut; i < from; i++ {
		add(nodeWeight[i], powerCurve(p, d.m+d.sd*nodes[i])-centre)
	}
	for i := from; i < cut; i++ {
		add(-nodeWeight[i], powerCurve(p, max(d.m+d.sd*nodes[i], -1/p))-centre)
	}
	if d.clamped {
		add(weightBelow[cut], 1-centre)
	} else {
		for i := range cut {
			add(nodeWeight[i], 2-powerCurve(p, -d.m-d.sd*nodes[i])-centre)
		}
	}
	first /= nodeTotal
	return max(second/nodeTotal-first*first, 0) * unit * unit, true
}

// firstAbove returns the first node with a value of at least 0. It starts where a normal score
// is -4, because it is near there for most rows of counts.
func (d *Distribution) firstAbove() int {
	const start = int((nodeLast - 4) / nodeStep)
	nodes := &d.scores.nodes
	cut := start
	for cut < nodeCount && d.m+d.sd*nodes[cut] < 0 {
		cut++
	}
	for cut > 0 && d.m+d.sd*nodes[cut-1] >= 0 {
		cut--
	}
	return cut
}
