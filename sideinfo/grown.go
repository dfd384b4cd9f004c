package sideinfo

// grown is an operator with more rows than it was built on, for prediction.
type grown struct {
	Operator
	matrix []float32
	lost   []float32 // by row; nil means none
}

// WithMatrix returns the operator with another matrix: its own, followed by rows
// that NewRows gave, and the prior variance that rows lost, nil for none. It gives
// the same NewRows and has nothing to learn; State and Restore keep its matrix.
func WithMatrix(op Operator, matrix, lost []float32) Operator {
	return &grown{origin(op), matrix, lost}
}

// Lost returns the prior variance that rows of an operator lost, nil for none.
func Lost(op Operator) []float32 {
	if g, ok := op.(*grown); ok {
		return g.lost
	}
	return nil
}

// Lost is what package tt looks for.
func (g *grown) Lost() []float32 { return g.lost }

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
