package predictive

import "math"

// Integrals over a score distribution are sums over nodes equally spaced in t,
// where p = Phi(t). For integrands that are smooth in t and decay with the normal
// density, the trapezoid rule is exact to far below float32 precision.
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

// nodeTotal is the sum of nodeWeight, which is almost 1.
var nodeTotal = func() (sum float64) {
	for _, w := range nodeWeight {
		sum += w
	}
	return
}()

// legendreX and legendreW are the nodes and weights of Gauss-Legendre quadrature on
// [-1, 1].
var legendreX, legendreW = func() (x, w [24]float64) {
	n := len(x)
	for i := range n {
		// Newton's method on the Legendre polynomial, from the usual initial value.
		r := math.Cos(math.Pi * (float64(i) + 0.75) / (float64(n) + 0.5))
		var slope float64
		for range 50 {
			before, now := 1.0, r
			for k := 2; k <= n; k++ {
				before, now = now, (float64(2*k-1)*r*now-float64(k-1)*before)/float64(k)
			}
			slope = float64(n) * (r*now - before) / (r*r - 1)
			step := now / slope
			r -= step
			if math.Abs(step) < 1e-16 {
				break
			}
		}
		x[i] = r
		w[i] = 2 / ((1 - r*r) * slope * slope)
	}
	return
}()
