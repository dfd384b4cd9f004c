package tt

// A Lossy operator has rows that hold less of the prior's variance than their
// kernel says: Lost is k(x, x) - |row|^2 by row, 0 for rows it was built on.
type Lossy interface {
	Operator
	Lost() []float32
}

// addLost adds tau (prod_q k_q - prod_q |l_q|^2) to the variance of every entry of
// an entity: what is not in the span of the operators is as uncertain as before
// data.
func (m *Map) addLost(dst []float32, tau float64) {
	lost := make([][]float32, len(m.stages))
	any := false
	for q, s := range m.stages {
		if o, ok := s.op.(Lossy); ok {
			lost[q] = o.Lost()
			any = any || lost[q] != nil
		}
	}
	if !any {
		return
	}
	m.entityCodes(func(e int, code func(q int) int32) {
		whole, kept := 1.0, 1.0
		for q, s := range m.stages {
			square, gone := 1.0, 0.0
			if s.op != nil {
				square = 0
				for _, v := range s.op.Matrix()[int(code(q))*s.columns:][:s.columns] {
					square += float64(v) * float64(v)
				}
			}
			if lost[q] != nil {
				gone = float64(lost[q][code(q)])
			}
			whole, kept = whole*(square+gone), kept*square
		}
		if whole > kept {
			row := dst[e*m.width:][:m.width]
			for k := range row {
				row[k] += float32(tau * (whole - kept))
			}
		}
	})
}
