package sideinfo

// withAddedRows is an operator with more rows than it was built on, for prediction.
type withAddedRows struct {
	Operator
	matrix   []float32
	residual []float32 // residual variance by row; nil if it is 0
}

// WithAddedRows returns the operator with rows of further entities. matrix holds its
// own rows followed by rows from NewRows, residual the residual variance of all
// rows, or nil if it is 0. The result has the same NewRows and no parameters to
// learn. State, MatrixTensors and Restore keep its rows.
func WithAddedRows(op Operator, matrix, residual []float32) Operator {
	return &withAddedRows{original(op), matrix, residual}
}

// ResidualVariance returns the residual variance k(x, x) - |row|^2 of the rows of an
// operator, or nil if it is 0.
func ResidualVariance(op Operator) []float32 {
	if g, ok := op.(*withAddedRows); ok {
		return g.residual
	}
	return nil
}

// ResidualVariance implements regression.TruncatedOperator.
func (g *withAddedRows) ResidualVariance() []float32 { return g.residual }

// original returns the operator without added rows.
func original(op Operator) Operator {
	if g, ok := op.(*withAddedRows); ok {
		return g.Operator
	}
	return op
}

func (g *withAddedRows) Rows() int            { return len(g.matrix) / g.Columns() }
func (g *withAddedRows) Matrix() []float32    { return g.matrix }
func (g *withAddedRows) Theta() []float64     { return nil }
func (g *withAddedRows) ThetaNames() []string { return nil }

func (g *withAddedRows) SetTheta(theta []float64) error {
	if len(theta) > 0 {
		panic("sideinfo: an operator with added rows has no parameters to learn")
	}
	return nil
}

func (g *withAddedRows) ThetaGradient(_, _ []float32, _ int) []float64 { return nil }
