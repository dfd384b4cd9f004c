package tt

import (
	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/tt/regression"
)

// EvaluateMomentsOf is EvaluateMoments with another limit of large cores.
func (f *Field) EvaluateMomentsOf(b backend.Backend, dst Moments, codes [][]int32, large int) {
	f.evaluateMoments(b, dst, codes, large)
}

// Operators returns the operators of a regression.
func (c *Core) Operators() []regression.Operator { return c.Map.Operators() }

// OtherWork is exported for tests.
var OtherWork = otherWork
