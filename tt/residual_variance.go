package tt

// A TruncatedOperator approximates a kernel by a limited number of columns. Its row
// l of an entity x then holds less than the prior variance k(x, x).
type TruncatedOperator interface {
	Operator
	// ResidualVariance returns k(x, x) - |l|^2 by row. It is 0 for the rows on which
	// the operator was built, and nil if it is 0 everywhere.
	ResidualVariance() []float32
}

// addResidualVariance adds tau (prod_q k_q - prod_q |l_q|^2) to the variance of
// every entry of an entity. The part of the prior that the operators do not span
// is as uncertain as before the data.
func (m *LinearMap) addResidualVariance(dst []float32, tau float64) {
	residual := make([][]float32, len(m.stages))
	any := false
	for q, s := range m.stages {
		if o, ok := s.op.(TruncatedOperator); ok {
			residual[q] = o.ResidualVariance()
			any = any || residual[q] != nil
		}
	}
	if !any {
		return
	}
	m.entityCodes(func(e int, code func(q int) int32) {
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
		if whole > kept {
			row := dst[e*m.width:][:m.width]
			for k := range row {
				row[k] += float32(tau * (whole - kept))
			}
		}
	})
}
