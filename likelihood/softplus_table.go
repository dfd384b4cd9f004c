package likelihood

import (
	"math"
	"sync"
)

// The derivatives of F(mu, v) = E log(1 + exp psi), psi ~ N(mu, v), with respect to mu are those that
// are needed, and more of them make those with respect to v: dF/dv = F”/2. A table has the first of
// them at points of mu and v, from which a polynomial leads to any mu and v near them. At half a step
// from a point, 1/32 in mu and 1/64 in v/2, the terms left out are below 1e-7 of the third result.
const (
	tableMean     = -9.0 // down to this mu
	tableVariance = 1.0  // up to this v
	tableSteps    = 16   // per unit of mu, and of v
	tableRow      = -tableMean*tableSteps + 1
	tableRows     = tableVariance*tableSteps + 1
	derivatives   = 12
)

// An expectationTable has the derivatives 0 to 11 at mu = -i/16, for v = j/16 row by row.
type expectationTable [tableRow * tableRows][derivatives]float64

// softplusTable returns the table of softplus, which is computed at the first call in some 10 ms. It takes 231 KiB.
var softplusTable = sync.OnceValue(func() *expectationTable {
	// The derivative k of log(1+exp), k > 0, is a polynomial in s = sigma, because s' = s - s^2.
	var polynomials [derivatives][derivatives + 1]float64
	polynomials[1][1] = 1
	for k := 2; k < derivatives; k++ {
		for i, c := range polynomials[k-1][:derivatives] {
			polynomials[k][i] += float64(i) * c
			polynomials[k][i+1] -= float64(i) * c
		}
	}
	const step, reach = 0.5, 16 // of the trapezoidal rule: in sigmas, and nodes on each side
	table := new(expectationTable)
	for at := range table {
		mu, s := -float64(at%tableRow)/tableSteps, math.Sqrt(float64(at/tableRow)/tableSteps)
		for node := -reach; node <= reach; node++ {
			z := step * float64(node)
			w, p := step*math.Exp(-z*z/2)/math.Sqrt(2*math.Pi), math.Exp(mu+s*z)
			table[at][0] += w * math.Log1p(p)
			for k := 1; k < derivatives; k++ {
				value := 0.0
				for i := k; i > 0; i-- { // of degree k
					value = value*(p/(1+p)) + polynomials[k][i]
				}
				table[at][k] += w * value * p / (1 + p)
			}
		}
	}
	return table
})

// at is softplus for tableMean < mu <= 0 and 0 <= v < tableVariance.
func (e *expectationTable) at(mu, v float64) (s0, s1, s2 float64) {
	i, j := int(0.5-mu*tableSteps), int(0.5+v*tableSteps)
	f := &e[j*tableRow+i]
	x := mu + float64(i)/tableSteps
	t := (v - float64(j)/tableSteps) / 2
	half, third := t/2, t/3
	g0 := f[0] + t*(f[2]+half*(f[4]+third*f[6]))
	g1 := f[1] + t*(f[3]+half*(f[5]+third*f[7]))
	g2 := f[2] + t*(f[4]+half*(f[6]+third*f[8]))
	g3 := f[3] + t*(f[5]+half*(f[7]+third*f[9]))
	g4 := f[4] + t*(f[6]+half*(f[8]+third*f[10]))
	g5 := f[5] + t*(f[7]+half*(f[9]+third*f[11]))
	half, third = x/2, x/3
	quarter := x / 4
	s0 = g0 + x*(g1+half*(g2+third*(g3+quarter*g4)))
	s1 = g1 + x*(g2+half*(g3+third*(g4+quarter*g5)))
	s2 = g2 + x*(g3+half*(g4+third*g5))
	return s0, s1, s2
}
