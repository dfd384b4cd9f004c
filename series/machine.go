package series

import (
	"math"
	"slices"
)

// A machine runs the state-space form of a prior over the nodes of one series. It keeps
// scratch memory and is not safe for concurrent use.
//
// States are the level, the slope, ar, the rise of the drift, and two per harmonic of each
// season; components of negligible variance have none.
type machine struct {
	prior           Prior
	d               int
	slope, ar       int // places of these states, -1 for none
	drift           int
	pair            bool         // the states are the level and ar
	start           []float64    // variances of the states at step 0
	waves, former   []wave       // now, and of the prior before, which the table may still be of
	transitions     []transition // by gap; filled on demand
	far             transition   // of a gap beyond the table
	waveTable       []float64    // by step: the waves
	waveSteps       int
	a, cov, r, n    []float64
	gain            []float64
	nodes           []nodeState
	vectors         []float64 // for each node its loading h and P h; not with two states
	path            []site    // what vectors, and the covariance after them, were computed of
	mean, variance  []float64 // results
	simulated       []float64 // x of a drawn path
	simulatedData   []float64 // and its data
	simulatedPoints []Point
}

// A wave is a pair of states with loadings cos(omega t) and sin(omega t).
type wave struct{ omega float64 }

// A transition is the change of the states over a gap of several steps:
// level += gain slope, slope *= damp, ar *= decay, plus noise.
type transition struct {
	known                              bool
	gain, damp, decay                  float64
	levelNoise, slopeNoise, crossNoise float64
	arNoise                            float64
}

type nodeState struct {
	gap        int32
	innovation float64 // y - h'a
	total      float64 // h'P h + 1/w; 0 for a node without data
	predicted  float64 // h'a
	spread     float64 // h'P h
	inverse    float64 // 1/total
	ph0, ph1   float64 // P h of two states
}

// A site is what the covariances of a node depend on.
type site struct {
	step      int32
	precision float64
}

func newMachine(p Prior) *machine {
	m := new(machine)
	m.reset(p)
	return m
}

// reset gives the machine another prior. It keeps the memory.
func (m *machine) reset(p Prior) {
	m.prior, m.slope, m.ar, m.drift, m.d = p, -1, -1, -1, 1
	m.start, m.waves, m.former = append(m.start[:0], p.Level), m.former[:0], m.waves
	m.transitions, m.path = m.transitions[:0], m.path[:0]
	if p.Slope > negligible || p.SlopeWalk > negligible {
		m.slope = m.d
		m.d, m.start = m.d+1, append(m.start, p.Slope)
	}
	if p.AR > negligible {
		m.ar = m.d
		m.d, m.start = m.d+1, append(m.start, p.AR)
	}
	if p.DriftSpan > 0 {
		m.drift = m.d
		m.d, m.start = m.d+1, append(m.start, p.DriftVar)
	}
	for _, s := range p.Seasons {
		if s.Var <= negligible {
			continue
		}
		for k := 1; k <= s.Harmonics; k++ {
			m.waves = append(m.waves, wave{2 * math.Pi * float64(k) / s.Period})
			v := s.variance(k)
			m.d, m.start = m.d+2, append(m.start, v, v)
		}
	}
	if !slices.Equal(m.waves, m.former) {
		m.waveTable, m.waveSteps = m.waveTable[:0], 0
	}
	m.pair = m.d == 2 && m.ar == 1
	d := m.d
	m.a, m.cov, m.r, m.n, m.gain = resized(m.a, d), resized(m.cov, d*d), resized(m.r, d), resized(m.n, d*d), resized(m.gain, d)
}

// resized returns a slice of length n, with the memory of s if there is enough of it. Its
// content is undefined.
func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// maxTable limits the tables of transitions and waves.
const maxTable = 1 << 14

// transition returns the change over a gap. It is valid until the next call.
func (m *machine) transition(gap int32) *transition {
	if int(gap) < len(m.transitions) && m.transitions[gap].known {
		return &m.transitions[gap]
	}
	p, g := &m.prior, float64(gap)
	t := transition{known: true, decay: 1, damp: 1, levelNoise: p.Walk * g}
	if m.ar >= 0 {
		t.decay = math.Pow(p.Phi, g)
		t.arNoise = p.AR * (1 - t.decay*t.decay)
	}
	switch {
	case m.slope < 0:
	case gap >= longGap:
		slopes := p.slopesOver(gap)
		slopes.known, slopes.decay, slopes.arNoise = true, t.decay, t.arNoise
		slopes.levelNoise += t.levelNoise
		t = slopes
	default:
		// One step is level += slope', slope' = Damping slope + noise.
		for range gap {
			t.damp *= p.Damping
			t.gain += t.damp
			level := t.levelNoise + 2*p.Damping*t.crossNoise + p.Damping*p.Damping*t.slopeNoise + p.SlopeWalk
			cross := p.Damping*t.crossNoise + p.Damping*p.Damping*t.slopeNoise + p.SlopeWalk
			t.slopeNoise = p.Damping*p.Damping*t.slopeNoise + p.SlopeWalk
			t.levelNoise, t.crossNoise = level, cross
		}
	}
	if gap < maxTable {
		for len(m.transitions) <= int(gap) {
			m.transitions = append(m.transitions, transition{})
		}
		m.transitions[gap] = t
		return &m.transitions[gap]
	}
	m.far = t
	return &m.far
}

// longGap is the gap from which the change of level and slope is computed by doubling, in O(log gap).
const longGap = 1 << 10

// slopesOver returns the change of level and slope over a gap, without the walk of the level.
func (p *Prior) slopesOver(gap int32) transition {
	step := transition{gain: p.Damping, damp: p.Damping, levelNoise: p.SlopeWalk, crossNoise: p.SlopeWalk, slopeNoise: p.SlopeWalk}
	all := transition{damp: 1}
	for ; gap > 0; gap /= 2 {
		if gap%2 == 1 {
			all = all.then(step)
		}
		step = step.then(step)
	}
	return all
}

// then returns the change of level and slope by t and u after it.
func (t transition) then(u transition) transition {
	return transition{
		gain:       t.gain + u.gain*t.damp,
		damp:       t.damp * u.damp,
		levelNoise: t.levelNoise + 2*u.gain*t.crossNoise + u.gain*u.gain*t.slopeNoise + u.levelNoise,
		crossNoise: u.damp*(t.crossNoise+u.gain*t.slopeNoise) + u.crossNoise,
		slopeNoise: u.damp*u.damp*t.slopeNoise + u.slopeNoise,
	}
}

// loading writes the loadings of the states at a step to h.
func (m *machine) loading(h []float64, step int32) {
	h[0] = 1
	at := 1
	if m.slope >= 0 {
		h[m.slope] = 0
		at++
	}
	if m.ar >= 0 {
		h[m.ar] = 1
		at++
	}
	if m.drift >= 0 {
		h[m.drift] = m.prior.rise(step)
		at++
	}
	if len(m.waves) == 0 {
		return
	}
	width := 2 * len(m.waves)
	if step >= 0 && step < maxTable {
		for ; m.waveSteps <= int(step); m.waveSteps++ {
			for _, w := range m.waves {
				sin, cos := math.Sincos(w.omega * float64(m.waveSteps))
				m.waveTable = append(m.waveTable, cos, sin)
			}
		}
		copy(h[at:], m.waveTable[int(step)*width:][:width])
		return
	}
	for i, w := range m.waves {
		h[at+2*i+1], h[at+2*i] = math.Sincos(w.omega * float64(step))
	}
}

// predictMean moves the mean over a gap.
func (m *machine) predictMean(gap int32) {
	t := m.transition(gap)
	if s := m.slope; s >= 0 {
		m.a[0] += t.gain * m.a[s]
		m.a[s] *= t.damp
	}
	if k := m.ar; k >= 0 {
		m.a[k] *= t.decay
	}
}

// predictCovariance moves the covariance over a gap.
func (m *machine) predictCovariance(gap int32) {
	t, d := m.transition(gap), m.d
	if s := m.slope; s >= 0 {
		for j := range d { // rows
			m.cov[j] += t.gain * m.cov[s*d+j]
			m.cov[s*d+j] *= t.damp
		}
		for i := range d { // columns
			m.cov[i*d] += t.gain * m.cov[i*d+s]
			m.cov[i*d+s] *= t.damp
		}
		m.cov[s*d+s] += t.slopeNoise
		m.cov[s] += t.crossNoise
		m.cov[s*d] += t.crossNoise
	}
	if k := m.ar; k >= 0 {
		for j := range d {
			m.cov[k*d+j] *= t.decay
		}
		for i := range d {
			m.cov[i*d+k] *= t.decay
		}
		m.cov[k*d+k] += t.arNoise
	}
	m.cov[0] += t.levelNoise
}

// A Point is a step of a series with a site; precision 0 means that there is none.
type Point struct {
	Step      int32
	Value     float64
	Precision float64
}

// filter runs forward over points in the order of their steps, and stores what smooth and
// evidence need. It costs O(d^2) per point for d states, and O(d) for those whose steps and
// precisions are those of a series before: covariances do not depend on the values.
func (m *machine) filter(points []Point) {
	if m.pair {
		m.nodes = grown(m.nodes, len(points), 0)
		m.filterPair(points)
		return
	}
	d, same := m.d, m.samePath(points)
	m.nodes = grown(m.nodes, len(points), len(m.path))
	m.vectors = grown(m.vectors, 2*d*len(points), 2*d*len(m.path))
	clear(m.a)
	if m.drift >= 0 {
		m.a[m.drift] = m.prior.Drift
	}
	for i, p := range points[:same] {
		node := &m.nodes[i]
		if node.gap > 0 {
			m.predictMean(node.gap)
		}
		m.correct(node, p, m.vectors[2*d*i:][:d], m.vectors[2*d*i+d:][:d])
	}
	last := int32(0)
	if same > 0 {
		last = points[same-1].Step
	}
	for i := same; i < len(points); i++ {
		p := points[i]
		gap := p.Step - last
		last = p.Step
		if gap > 0 {
			m.predictMean(gap)
			m.predictCovariance(gap)
		}
		h, ph := m.vectors[2*d*i:][:d], m.vectors[2*d*i+d:][:d]
		m.loading(h, p.Step)
		node := nodeState{gap: gap}
		for r := range d {
			sum := 0.0
			for c, v := range m.cov[r*d:][:d] {
				sum += v * h[c]
			}
			ph[r] = sum
			node.spread += h[r] * sum
		}
		if p.Precision > 0 {
			node.total = node.spread + 1/p.Precision
			for r := range d {
				f := ph[r] / node.total
				row := m.cov[r*d:][:d]
				for c := range row {
					row[c] -= f * ph[c]
				}
			}
		}
		m.correct(&node, p, h, ph)
		m.nodes[i] = node
		m.path = append(m.path, site{p.Step, p.Precision})
	}
}

// samePath returns how many points have the steps and precisions of the path: all of them, or as many as the
// path has. If they part before, the path begins anew.
func (m *machine) samePath(points []Point) int {
	n := min(len(points), len(m.path))
	for i, p := range points[:n] {
		if m.path[i] != (site{p.Step, p.Precision}) {
			n = 0
			break
		}
	}
	if n == 0 {
		m.path = m.path[:0]
		clear(m.cov)
		for i, v := range m.start {
			m.cov[i*m.d+i] = v
		}
	}
	return n
}

// correct takes in the value of a node, whose loading is h.
func (m *machine) correct(node *nodeState, p Point, h, ph []float64) {
	node.predicted = 0
	for r, v := range m.a {
		node.predicted += h[r] * v
	}
	if p.Precision <= 0 {
		return
	}
	node.innovation = p.Value - node.predicted
	by := node.innovation / node.total
	for r, v := range ph {
		m.a[r] += v * by
	}
}

// grown is resized that keeps the first elements of the memory.
func grown[T any](s []T, n, keep int) []T {
	if cap(s) >= n {
		return s[:n]
	}
	return append(make([]T, 0, 2*n), s[:keep]...)[:n]
}

// evidence returns the log evidence of the sites that filter has passed.
func (m *machine) evidence() float64 {
	logZ := 0.0
	volume := 1.0 // product of the variances of the innovations, so that there are few logarithms
	for i := range m.nodes {
		node := &m.nodes[i]
		if node.total == 0 {
			continue
		}
		logZ -= node.innovation * node.innovation / node.total / 2
		if volume *= 2 * math.Pi * node.total; volume > 1e200 || volume < 1e-200 {
			logZ -= math.Log(volume) / 2
			volume = 1
		}
	}
	return logZ - math.Log(volume)/2
}
