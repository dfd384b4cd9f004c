package series

import (
	"math"
	"math/rand/v2"
)

// Draw writes a draw of series e at the given ascending steps from its posterior. A path
// x+ is drawn from the prior, with data y+ at the sites; then
//
//	x+ + E[x | y - y+]
//
// has the distribution of the posterior. The path is drawn step by step from the first,
// so the same random numbers give the same path whatever steps are asked for. O(T + n d^2)
// for a last step T.
func (r *Reader) Draw(rng *rand.Rand, e int, steps []int32, dst []float32) {
	r.merge(e, steps)
	m := r.m
	m.simulate(rng, r.points)
	m.simulatedPoints = append(m.simulatedPoints[:0], r.points...)
	for i := range m.simulatedPoints {
		m.simulatedPoints[i].Value -= m.simulatedData[i]
	}
	m.filter(m.simulatedPoints)
	m.smooth(0)
	c := r.p.scale(e)
	for q, at := range r.places {
		dst[q] = float32(c * (m.simulated[at] + m.mean[at]))
	}
}

// simulate draws x and the data of the sites at the points from the prior.
func (m *machine) simulate(rng *rand.Rand, points []Point) {
	state := m.a
	for i, v := range m.start {
		state[i] = rng.NormFloat64() * math.Sqrt(v)
	}
	m.simulated, m.simulatedData = m.simulated[:0], m.simulatedData[:0]
	step := int32(0)
	for _, p := range points {
		for ; step < p.Step; step++ {
			m.advance(rng, state)
		}
		h, x := m.gain, 0.0
		m.loading(h, p.Step)
		for i, v := range h {
			x += v * state[i]
		}
		data := x
		if p.Precision > 0 {
			data += rng.NormFloat64() / math.Sqrt(p.Precision)
		}
		m.simulated, m.simulatedData = append(m.simulated, x), append(m.simulatedData, data)
	}
}

// advance draws the states of the next step.
func (m *machine) advance(rng *rand.Rand, state []float64) {
	p := &m.prior
	if m.slope >= 0 {
		state[m.slope] = p.Damping*state[m.slope] + math.Sqrt(p.SlopeWalk)*rng.NormFloat64()
		state[0] += state[m.slope]
	}
	state[0] += math.Sqrt(p.Walk) * rng.NormFloat64()
	if m.ar >= 0 {
		state[m.ar] = p.Phi*state[m.ar] + math.Sqrt(p.AR*(1-p.Phi*p.Phi))*rng.NormFloat64()
	}
}
