package predictive

import (
	"math"

	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// Where 1/P is a whole number D, the inverse of a power is a polynomial, and both series of
// powerExpansion end: the smooth part has D+1 coefficients, and below 0 the derivatives beyond the
// D-th are 0. Then many distributions with m >= 0 and y >= 0 advance together, in vectors; the Go
// code here does the same operations in the same order.

// polynomialScale are the constants of a degree. The assembly knows the order of the fields.
type polynomialScale struct {
	degree  int
	power   float64
	step    [targetscale.MostDegree]float64       // P (1 - (k+1) P)
	hermite [targetscale.MostDegree + 1]float64   // of the derivatives of T: (1 - P) ... (1 - (k-1) P)/sqrt(k!)
	edge    [targetscale.MostDegree + 1]float64   // derivatives of 1 - T at 0, with respect to -g
	square  [2*targetscale.MostDegree + 1]float64 // derivatives of 1 - (T - 1)^2
	inverse [2*targetscale.MostDegree + 1]float64 // 1/n
	root    [hermiteTerms]float64                 // (-1)^k/sqrt(k!)
	number  [hermiteTerms]float64                 // 3 - k
	taylor  [8]float64                            // 1, 1, 1/2, 1/6, ...: 1/k!
	one     float64
	two     float64
	half    float64
	least   float64 // leastEdge
	steps   float64 // normalSteps
	size    float64 // 1/normalSteps
	quiet   float64 // what may be left out of a variance, relative
	three   float64
	four    float64
	five    float64
}

const polynomialQuiet = 1e-9

// polynomialScales are the constants by degree, from 2 on.
var polynomialScales = func() (all [targetscale.MostDegree + 1]polynomialScale) {
	for degree := 2; degree <= targetscale.MostDegree; degree++ {
		s := &all[degree]
		p := 1 / float64(degree)
		*s = polynomialScale{degree: degree, power: p, one: 1, two: 2, half: 0.5, least: leastEdge, steps: normalSteps, size: 1.0 / normalSteps, quiet: polynomialQuiet, three: 3, four: 4, five: 5}
		for k := range degree {
			s.step[k] = p * (float64(degree-k-1) / float64(degree))
		}
		slope, square, sign := 1.0, 1.0, 1.0
		for k := 1; k <= 2*degree; k++ {
			slope *= float64(max(degree-k+1, 0)) / float64(degree)
			square *= float64(2*degree-k+1) / float64(degree)
			if k <= degree {
				s.hermite[k], s.edge[k] = slope*inverseRootFactorial[k], sign*slope
			}
			s.square[k] = sign * (square - 2*slope)
			s.inverse[k] = 1 / float64(k)
			sign = -sign
		}
		for k := range s.root {
			s.root[k], s.number[k] = inverseRootFactorial[k], float64(3-k)
			if k%2 == 1 {
				s.root[k] = -s.root[k]
			}
		}
		s.taylor[0] = 1
		for k := 1; k < len(s.taylor); k++ {
			s.taylor[k] = 1 / math.Round(math.Gamma(float64(k+1)))
		}
	}
	return
}()

// polynomial returns the constants of a distribution that moments is for, else nil.
func (d *Distribution) polynomial() *polynomialScale {
	if d.transform.Kind() != targetscale.KindPower || !d.clamped || !(d.m >= 0) {
		return nil
	}
	if degree, whole := targetscale.PolynomialDegree(d.transform.Exponent()); whole && degree > 1 {
		return &polynomialScales[degree]
	}
	return nil
}

// moments returns the mean of the odd continuation, at least 0, and the parts of the variance as
// powerExpansion defines them, in the unit of the power. rho is the share of f in the variance.
func (s *polynomialScale) moments(m, sd, rho float64) (mean, model, noise float64) {
	degree := s.degree
	base := 1 + s.power*m
	tau := sd / base
	v := tau * tau
	var smooth [targetscale.MostDegree + 1]float64 // I_k, then c_k
	now, next := 1.0, 0.0
	smooth[degree] = now
	for k := degree - 1; k >= 0; k-- {
		now, next = now+s.step[k]*v*next, now
		smooth[k] = now
	}
	factor := intPower(base, degree)
	centre := now * factor
	spread := 0.0
	for k := 1; k <= degree; k++ {
		factor *= tau
		smooth[k] *= factor * s.hermite[k]
		spread += smooth[k] * smooth[k]
	}
	x := 0 - m/sd
	factor = 0
	if x > leastEdge {
		factor = 1
	}
	x = max(x, leastEdge)
	var integral [hermiteTerms + 2*targetscale.MostDegree]float64 // J_n at n + origin
	const origin = hermiteTerms - 2
	integral[origin], integral[origin-1] = normal(x)
	var slope [targetscale.MostDegree + 2]float64
	var even, change, square float64
	for n := 1; n <= 2*degree; n++ {
		j := (x*integral[origin+n-1] + integral[origin+n-2]) * s.inverse[n]
		integral[origin+n] = j
		factor *= sd
		square += factor * s.square[n] * j
		if n <= degree {
			slope[n] = factor * s.edge[n]
			term := slope[n] * j
			change += term
			if n%2 == 0 {
				even += term
			}
		}
	}
	centre -= 1
	mean = max(centre+2*even, 0)
	total := max(spread+square-2*centre*change-change*change, 0)
	share, rest := 1.0, total
	for k := 1; k < hermiteTerms; k++ {
		j := integral[origin+1-k:]
		if k > 2 {
			j[0] = s.number[k]*j[2] - x*j[1]
		}
		first, second := 0.0, 0.0 // of odd and even n, so that one does not wait for the other
		for n := 1; n <= degree; n += 2 {
			first += slope[n] * j[n-1]
			second += slope[n+1] * j[n]
		}
		c := (first + second) * s.root[k]
		if k <= degree {
			c += smooth[k]
		}
		c *= c
		share *= rho
		model += share * c
		rest = max(rest-c, 0)
		if share*rest <= polynomialQuiet*model {
			break
		}
	}
	model = min(model+share*rho*rest, total)
	return mean, model, total - model
}

// momentLanes are distributions whose moments are computed together, and memory for that. The
// assembly knows the order of the fields.
type momentLanes struct {
	m, sd, rho         [cellLanes]float64
	mean, model, noise [cellLanes]float64
	_                  [hermiteTerms][cellLanes]float64                            // smooth
	_                  [hermiteTerms + 2*targetscale.MostDegree][cellLanes]float64 // integral
	_                  [targetscale.MostDegree + 2][cellLanes]float64              // slope
}

// advanceGo sets the moments of the first n distributions.
func (l *momentLanes) advanceGo(s *polynomialScale, n int) {
	for i := range n {
		l.mean[i], l.model[i], l.noise[i] = s.moments(l.m[i], l.sd[i], l.rho[i])
	}
}

// A NormalRow is a distribution of many that [Distribution.MoveTo] moves to.
type NormalRow struct {
	M, Model, Noise float64 // as in Move
	SD              float64 // the root of the sum of the variances

	known                bool
	mean, modelled, rest float64 // gaussianMoments
}

// NewNormalRow returns a row with the given location and variances.
func NewNormalRow(m, modelVar, noiseVar float64) NormalRow {
	return NormalRow{M: m, Model: modelVar, Noise: noiseVar, SD: max(math.Sqrt(modelVar+noiseVar), leastSD)}
}

// MoveTo is Move to a row, whose moments are known after [Distribution.SetMoments].
func (d *Distribution) MoveTo(r *NormalRow) {
	d.m, d.model, d.noise, d.sd, d.heap, d.mixed, d.row = r.M, r.Model, r.Noise, r.SD, nil, mixedMean{}, nil
	if r.known {
		d.row = r
	}
}

// SetMoments computes what Mean and Moments of the distribution need at many rows, in vectors, on
// scales whose inverse is a polynomial. They have the same results without it.
func (d Distribution) SetMoments(rows []NormalRow) {
	d.m = 0
	s := d.polynomial()
	if s == nil {
		return
	}
	var lanes momentLanes
	var filled [cellLanes]*NormalRow
	n := 0
	flush := func() {
		lanes.advance(s, n)
		for i, r := range filled[:n] {
			d.noise = r.Noise
			r.mean, r.modelled, r.rest = d.inUnits(lanes.mean[i], lanes.model[i], lanes.noise[i])
			r.known = true
		}
		n = 0
	}
	for i := range rows {
		if r := &rows[i]; r.M >= 0 {
			lanes.m[n], lanes.sd[n], lanes.rho[n], filled[n] = r.M, r.SD, r.Model/(r.Model+r.Noise), r
			if n++; n == cellLanes {
				flush()
			}
		}
	}
	if n > 0 {
		flush()
	}
}

// polynomialMoments returns gaussianMoments.
func (d *Distribution) polynomialMoments(s *polynomialScale) (mean, model, noise float64) {
	if r := d.row; r != nil {
		return r.mean, r.modelled, r.rest
	}
	mean, model, noise = s.moments(d.m, d.sd, d.model/(d.model+d.noise))
	return d.inUnits(mean, model, noise)
}

// inUnits returns moments in the units of the target, given those in the unit of the power.
func (d *Distribution) inUnits(mean, model, noise float64) (float64, float64, float64) {
	unit := d.transform.Unit()
	if d.noise == 0 {
		model, noise = model+noise, 0
	}
	return mean * unit, model * unit * unit, noise * unit * unit
}
