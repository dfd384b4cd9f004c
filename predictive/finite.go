package predictive

import "math"

// A FiniteDistribution is the distribution of one of few values given f.
type FiniteDistribution interface {
	Values() []float64            // in increasing order, at least two
	CDF(k int, f float64) float64 // P(Y <= Values()[k] | f)
}

// finiteMixture is a distribution of few values mixed over f.
type finiteMixture struct {
	values []float64
	level  []float64 // P(Y <= values[k])
	mean   float64
	model  float64 // Var(E[y|f])
	noise  float64 // E[Var(y|f)]
}

// FiniteMixture returns the predictive distribution of one of few values: the given
// distribution mixed over f ~ N(m, v). It costs the distribution at 25 or more values of f.
func FiniteMixture(given FiniteDistribution, m, v float64) Distribution {
	x := &finiteMixture{values: given.Values()}
	x.level = make([]float64, len(x.values))
	sd := math.Sqrt(max(v, 0))
	// The nodes are dense enough for functions that change over a unit of f.
	stride, first, last := 1, 0, nodeCount-1
	switch {
	case sd < minSD:
		first, last = nodeCount/2, nodeCount/2
	case sd <= 1:
		stride = 4
	case sd <= 2:
		stride = 2
	}
	var total, second, square float64 // of the weights, E[y^2], E[E[y|f]^2]
	for i := first; i <= last; i += stride {
		t, w := nodeT[i], nodeWeight[i]
		total += w
		below, mean, squares := 0.0, 0.0, 0.0
		for k, value := range x.values {
			upTo := given.CDF(k, m+sd*t)
			x.level[k] += w * upTo
			mean += (upTo - below) * value
			squares += (upTo - below) * value * value
			below = upTo
		}
		x.mean += w * mean
		second += w * squares
		square += w * mean * mean
	}
	for k := range x.level {
		x.level[k] = min(x.level[k]/total, 1)
	}
	x.level[len(x.level)-1] = 1
	x.mean /= total
	x.model = max(square/total-x.mean*x.mean, 0)
	x.noise = max(second/total-square/total, 0)
	return Distribution{m: m, model: v, sd: sd, scores: standardNormal, finite: x}
}

// quantile returns the smallest value with a level of at least p.
func (x *finiteMixture) quantile(p float64) float64 {
	for k, level := range x.level {
		if level >= p {
			return x.values[k]
		}
	}
	return x.values[len(x.values)-1]
}

// limits returns P(Y < y) and P(Y <= y).
func (x *finiteMixture) limits(y float64) (below, upTo float64) {
	for k, value := range x.values {
		if value < y {
			below = x.level[k]
		}
		if value <= y {
			upTo = x.level[k]
		}
	}
	return below, upTo
}

// crps returns the integral of (F(x) - 1{y <= x})^2 between the smallest and the largest
// value. For values 0 and 1 it is the squared error of the probability.
func (x *finiteMixture) crps(y float64) float64 {
	sum := 0.0
	for k := range len(x.values) - 1 {
		f := x.level[k]
		if y <= x.values[k] {
			f--
		}
		sum += f * f * (x.values[k+1] - x.values[k])
	}
	return sum
}
