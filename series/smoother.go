package series

// smooth runs backward over the points that filter has passed, and sets mean and variance
// of x at each of them from the given one on, given all sites.
func (m *machine) smooth(from int) {
	d, n := m.d, len(m.nodes)
	if cap(m.mean) < n {
		m.mean, m.variance = make([]float64, 2*n), make([]float64, 2*n)
	}
	m.mean, m.variance = m.mean[:n], m.variance[:n]
	if m.pair {
		m.smoothPair(from)
		return
	}
	clear(m.r)
	clear(m.n)
	for i := n - 1; i >= from; i-- {
		node := &m.nodes[i]
		h, ph := m.vectors[2*d*i:][:d], m.vectors[2*d*i+d:][:d]
		if node.total > 0 {
			// r += h (v/F - K'r), N += h h' (1/F + K'N K) - h (N K)' - (N K) h', K = P h / F.
			kr, knk := 0.0, 0.0
			for r := range d {
				kr += ph[r] * m.r[r]
				sum := 0.0
				for c, v := range m.n[r*d:][:d] {
					sum += v * ph[c]
				}
				m.gain[r] = sum / node.total
				knk += ph[r] * m.gain[r]
			}
			knk /= node.total
			by, square := (node.innovation-kr)/node.total, knk+1/node.total
			for r := range d {
				m.r[r] += h[r] * by
				row := m.n[r*d:][:d]
				for c := range row {
					row[c] += h[r]*h[c]*square - h[r]*m.gain[c] - m.gain[r]*h[c]
				}
			}
		}
		mean, variance := node.predicted, node.spread
		for r := range d {
			mean += ph[r] * m.r[r]
			sum := 0.0
			for c, v := range m.n[r*d:][:d] {
				sum += v * ph[c]
			}
			variance -= ph[r] * sum
		}
		m.mean[i], m.variance[i] = mean, max(variance, 0)
		if node.gap > 0 {
			m.back(node.gap)
		}
	}
}

// back moves r and N backward over a gap: r <- T'r, N <- T'N T.
func (m *machine) back(gap int32) {
	t, d := m.transition(gap), m.d
	if s := m.slope; s >= 0 {
		m.r[s] = t.gain*m.r[0] + t.damp*m.r[s]
		for j := range d {
			m.n[s*d+j] = t.gain*m.n[j] + t.damp*m.n[s*d+j]
		}
		for i := range d {
			m.n[i*d+s] = t.gain*m.n[i*d] + t.damp*m.n[i*d+s]
		}
	}
	if k := m.ar; k >= 0 {
		m.r[k] *= t.decay
		for j := range d {
			m.n[k*d+j] *= t.decay
		}
		for i := range d {
			m.n[i*d+k] *= t.decay
		}
	}
}
