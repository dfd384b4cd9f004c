package series

import (
	"math"
	"math/rand/v2"
)

// Draw writes a draw of series e at the given ascending steps from its posterior. A path
// x+ is drawn from the prior with data y+ at the sites; then
//
//	x+ + E[x | y - y+]
//
// has the distribution of the posterior. The random numbers that a series uses depend on
// its sites and the steps, so draws of one series at several steps must be made together.
func (r *Reader) Draw(rng *rand.Rand, e int, steps []int32, dst []float32) {
	r.merge(e, steps)
	m := r.m
	m.simulate(rng, r.points)
	m.simulatedPoints = append(m.simulatedPoints[:0], r.points...)
	for i := range m.simulatedPoints {
		if p := &m.simulatedPoints[i]; p.Precision > 0 {
			p.Value -= m.simulated[i] + rng.NormFloat64()/math.Sqrt(p.Precision)
		}
	}
	m.filter(m.simulatedPoints, true)
	m.smooth(m.simulatedPoints)
	for q, at := range r.places {
		dst[q] = float32(m.simulated[at] + m.mean[at])
	}
}

// simulate draws x at the points from the prior.
func (m *machine) simulate(rng *rand.Rand, points []Point) {
	state := m.a
	for i, v := range m.start {
		state[i] = rng.NormFloat64() * math.Sqrt(v)
	}
	h := m.gain
	m.simulated = m.simulated[:0]
	last := int32(0)
	for _, p := range points {
		if gap := p.Step - last; gap > 0 {
			t := m.transition(gap)
			level, slope := rng.NormFloat64(), 0.0
			if m.slope >= 0 {
				slope = rng.NormFloat64()
				state[0] += t.gain * state[m.slope]
				state[m.slope] *= t.damp
			}
			// The noise of level and slope has a covariance; the slope's is drawn first.
			if t.slopeNoise > 0 {
				state[m.slope] += math.Sqrt(t.slopeNoise) * slope
				state[0] += t.crossNoise/math.Sqrt(t.slopeNoise)*slope + math.Sqrt(max(t.levelNoise-t.crossNoise*t.crossNoise/t.slopeNoise, 0))*level
			} else {
				state[0] += math.Sqrt(t.levelNoise) * level
			}
			if m.ar >= 0 {
				state[m.ar] = t.decay*state[m.ar] + math.Sqrt(t.arNoise)*rng.NormFloat64()
			}
		}
		last = p.Step
		m.loading(h, p.Step)
		x := 0.0
		for i, v := range h[:m.d] {
			x += v * state[i]
		}
		m.simulated = append(m.simulated, x)
	}
}
