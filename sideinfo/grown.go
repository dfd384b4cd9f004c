package sideinfo

// grown is an operator with more rows than it was built on, for prediction.
type grown struct {
	Operator
	matrix []float32
}

// WithMatrix returns the operator with another matrix: its own, followed by rows
// that NewRows gave. It gives the same NewRows and has nothing to learn; State
// and Restore keep it.
func WithMatrix(op Operator, matrix []float32) Operator {
	return &grown{origin(op), matrix}
}

// origin returns the operator as it was built.
func origin(op Operator) Operator {
	if g, ok := op.(*grown); ok {
		return g.Operator
	}
	return op
}

func (g *grown) Rows() int            { return len(g.matrix) / g.Columns() }
func (g *grown) Matrix() []float32    { return g.matrix }
func (g *grown) Theta() []float64     { return nil }
func (g *grown) ThetaNames() []string { return nil }

func (g *grown) SetTheta(theta []float64) error {
	if len(theta) > 0 {
		panic("sideinfo: an operator with added rows has nothing to learn")
	}
	return nil
}

func (g *grown) PullTheta(_, _ []float32, _ int) []float64 { return nil }
