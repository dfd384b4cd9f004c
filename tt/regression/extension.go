package regression

import "slices"

// Alike reports whether two maps of as many weights give common codes the same slices.
func (m *LinearMap) Alike(other *LinearMap) bool {
	return slices.EqualFunc(m.stages, other.stages, func(s, o stage) bool {
		if s.op == nil || o.op == nil {
			return s.op == nil && o.op == nil && s.columns == o.columns
		}
		rows := min(s.op.Rows(), o.op.Rows())
		return s.columns == o.columns && slices.Equal(s.op.Matrix()[:rows*s.columns], o.op.Matrix()[:rows*o.columns])
	})
}

// AxisColumns returns the number of columns of axis q: those of its operator, or its codes if it has none.
func (m *LinearMap) AxisColumns(q int) int { return m.stages[q].columns }

// Places returns where a map with more codes of the axes without operator has the rows of W.
func (m *LinearMap) Places(wider *LinearMap) []int {
	place := make([]int, m.Rows())
	for row := range place {
		after := 1
		for q := len(wider.stages) - 1; q >= 0; q-- {
			columns := m.stages[q].columns
			place[row] += row / (m.Rows() / m.stages[q].prefix / columns) % columns * after
			after *= wider.stages[q].columns
		}
	}
	return place
}

// SetWidth changes the number of entries of a slice.
func (m *LinearMap) SetWidth(width int) { m.width = width }
