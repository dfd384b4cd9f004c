package regression

import "slices"

// A system is what the codes of the modes without operator share: the weights of one curve.

// Columns returns the number of rows of W in a system.
func (m *LinearMap) Columns() int {
	n := 1
	for q := range m.stages {
		if s := &m.stages[q]; s.op != nil {
			n *= s.columns
		}
	}
	return n
}

// System returns the codes of a combination along the axes without operator.
func (m *LinearMap) System(combo []int32) []int32 {
	system := make([]int32, 0, len(combo))
	for q := range m.stages {
		if m.stages[q].op == nil {
			system = append(system, combo[q])
		}
	}
	return system
}

// SystemRows returns the rows of W of a system, in the order of Factors.
func (m *LinearMap) SystemRows(system []int32) []int {
	rows := []int{0}
	for q := range m.stages {
		s := &m.stages[q]
		var next []int
		for _, row := range rows {
			if s.op == nil {
				next = append(next, row*s.columns+int(system[0]))
				continue
			}
			for k := range s.columns {
				next = append(next, row*s.columns+k)
			}
		}
		if rows = next; s.op == nil {
			system = system[1:]
		}
	}
	return rows
}

// Factors returns the factors of the rows of W of its system in T at a combination of codes.
func (m *LinearMap) Factors(combo []int32) []float32 {
	factors := []float32{1}
	for q := range m.stages {
		s := &m.stages[q]
		if s.op == nil {
			continue
		}
		row := s.op.Matrix()[int(combo[q])*s.columns:][:s.columns]
		if len(factors) == 1 && factors[0] == 1 {
			factors = slices.Clone(row)
			continue
		}
		next := make([]float32, 0, len(factors)*len(row))
		for _, f := range factors {
			for _, v := range row {
				next = append(next, f*v)
			}
		}
		factors = next
	}
	return factors
}
