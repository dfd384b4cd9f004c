package regression

// A TruncatedOperator approximates a kernel by a limited number of columns. Its row
// l of an entity x then holds less than the prior variance k(x, x).
type TruncatedOperator interface {
	Operator
	// ResidualVariance returns k(x, x) - |l|^2 by row. It is 0 for the rows on which
	// the operator was built, and nil if it is 0 everywhere.
	ResidualVariance() []float32
}

// AddResidualVariance adds tau (prod_q k_q - prod_q |l_q|^2) to the variance of
// every entry of an entity. The part of the prior that the operators do not span
// is as uncertain as before the data.
func (m *LinearMap) AddResidualVariance(dst []float32, tau float64) {
	residual := m.residualVariances()
	if residual == nil {
		return
	}
	m.entityCodes(func(e int, code func(q int) int32) {
		if lost := m.lost(residual, code); lost > 0 {
			row := dst[e*m.width:][:m.width]
			for k := range row {
				row[k] += float32(tau * lost)
			}
		}
	})
}

// residualVariances returns those of the operators, nil if none has any.
func (m *LinearMap) residualVariances() [][]float32 {
	residual := make([][]float32, len(m.stages))
	any := false
	for q, s := range m.stages {
		if o, ok := s.op.(TruncatedOperator); ok {
			residual[q] = o.ResidualVariance()
			any = any || residual[q] != nil
		}
	}
	if !any {
		return nil
	}
	return residual
}

// lost returns prod_q k_q - prod_q |l_q|^2 at a combination of codes.
func (m *LinearMap) lost(residual [][]float32, code func(q int) int32) float64 {
	whole, kept := 1.0, 1.0
	for q, s := range m.stages {
		square, missing := 1.0, 0.0
		if s.op != nil {
			square = 0
			for _, v := range s.op.Matrix()[int(code(q))*s.columns:][:s.columns] {
				square += float64(v) * float64(v)
			}
		}
		if residual[q] != nil {
			missing = float64(residual[q][code(q)])
		}
		whole, kept = whole*(square+missing), kept*square
	}
	return whole - kept
}

// Lost returns the part of the prior variance of a weight's unit that the operators do not span at a combination
// of codes: that beyond the fitted values.
func (m *LinearMap) Lost(combo []int32) float64 {
	residual := m.residualVariances()
	if residual == nil {
		return 0
	}
	return max(m.lost(residual, func(q int) int32 { return combo[q] }), 0)
}
