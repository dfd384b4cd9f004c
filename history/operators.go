package history

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/tt/entity"
	"github.com/kernel-fried-tensor/kft/tt/regression"
)

// Smooth reports whether a core with the given axes is over a covariate that a kernel smooths.
func Smooth(axes []entity.Axis, modes []dataset.Mode) bool {
	return modes != nil && slices.ContainsFunc(axes, func(a entity.Axis) bool { return a.Group == nil && modes[a.Mode].Smooth() })
}

// Operators returns the operators of the axes of a core, given those of the modes, nil
// for the identity. A core over such a covariate has those of its covariates alone: a
// curve per combination of its other ids.
func Operators(axes []entity.Axis, modes []dataset.Mode, of func(mode int) regression.Operator) []regression.Operator {
	operators := make([]regression.Operator, len(axes))
	only := Smooth(axes, modes)
	for i, a := range axes {
		if a.Group == nil && (!only || modes[a.Mode].Smooth()) {
			operators[i] = of(a.Mode)
		}
	}
	return operators
}
