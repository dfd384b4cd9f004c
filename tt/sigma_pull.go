package tt

import "github.com/kernel-fried-tensor/kft/backend"

// toward sums slices over the entities of each code of mode q, their mean over
// (a, b) times the variance along the rows of the other modes.
func (m *Map) toward(b backend.Backend, sigmas []*Sigma, q int, slices []float32) []float64 {
	along := make([][]float64, len(m.stages))
	for p := range m.stages {
		if p != q {
			along[p] = m.stages[p].along(b, sigmas[p])
		}
	}
	codes := m.stages[q].columns
	if op := m.stages[q].op; op != nil {
		codes = op.Rows()
	}
	h := make([]float64, codes)
	m.entityCodes(func(e int, code func(q int) int32) {
		v := 0.0
		for _, c := range slices[e*m.width:][:m.width] {
			v += float64(c)
		}
		v /= float64(m.width)
		for p := range along {
			if p != q {
				v *= along[p][code(p)]
			}
		}
		h[code(q)] += v
	})
	return h
}

// PullSigma returns the derivative of sum g o Var T by Factor, of which only the
// lower triangle is meant, and Diag of mode q: with h the sum of g over all else,
//
//	2 A' diag(h) A B   and   sum_i h_i a_ik^2.
//
// It costs 2 n m^2 for the m leading columns of the operator.
func (m *Map) PullSigma(b backend.Backend, sigmas []*Sigma, q int, g []float32) (factor, diag []float32) {
	s, sigma := &m.stages[q], sigmas[q]
	h := m.toward(b, sigmas, q, g)
	for i := range h {
		h[i] *= float64(m.width)
	}
	lead := sigma.Lead
	factor, diag = make([]float32, len(sigma.Factor)), make([]float32, len(sigma.Diag))
	if s.op == nil {
		for i, v := range h {
			diag[i] = float32(v)
		}
		return factor, diag
	}
	a := s.op.Matrix()
	backend.ParallelFor(b, len(diag), func(k int) {
		sum := 0.0
		for code, w := range h {
			x := float64(a[code*s.columns+lead+k])
			sum += w * x * x
		}
		diag[k] = float32(sum)
	})
	if lead > 0 {
		rows := make([]float32, len(h)*lead)
		b.Gemm(false, false, len(h), lead, lead, 1, a, s.columns, sigma.Factor, lead, 0, rows, lead)
		for i := range rows {
			rows[i] *= float32(h[i/lead])
		}
		b.Gemm(true, false, lead, lead, len(h), 2, a, s.columns, rows, lead, 0, factor, lead)
	}
	return factor, diag
}
