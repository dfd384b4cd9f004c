package regression

import "github.com/kernel-fried-tensor/kft/backend"

// sumByCode sums slices over the entities of each code of mode q. A summand is the
// mean of a slice over (a, b) times the row variances of the other modes.
func (m *LinearMap) sumByCode(b backend.Backend, sigmas []*Sigma, q int, slices []float32) []float64 {
	others := make([][]float64, len(m.stages))
	for p := range m.stages {
		if p != q {
			others[p] = m.stages[p].rowVariances(b, sigmas[p])
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
		for p := range others {
			if p != q {
				v *= others[p][code(p)]
			}
		}
		h[code(q)] += v
	})
	return h
}

// SigmaGradient returns the derivatives of sum g o Var T with respect to Factor and
// Diag of mode q. Only the lower triangle of the derivative by Factor is
// meaningful. With h the sum of g over everything else, they are
//
//	2 A' diag(h) A B   and   sum_i h_i a_ik^2.
//
// It costs 2 n m^2 for the m leading columns of the operator.
func (m *LinearMap) SigmaGradient(b backend.Backend, sigmas []*Sigma, q int, g []float32) (factor, diag []float32) {
	s, sigma := &m.stages[q], sigmas[q]
	h := m.sumByCode(b, sigmas, q, g)
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
