package predictive

import (
	"errors"
	"fmt"
)

// A DomainError reports a target outside the domain of its transform.
type DomainError struct {
	Transform Transform
	Position  int // index among the targets
	Value     float64
}

// ErrDomain is the sentinel of [DomainError].
var ErrDomain = errors.New("the target is outside of the domain")

// Unwrap returns ErrDomain.
func (e *DomainError) Unwrap() error { return ErrDomain }

func (e *DomainError) Error() string {
	domain := "values of 0 or more"
	switch e.Transform.kind {
	case logRate:
		return fmt.Sprintf("the target %g is not a count: a likelihood of counts requires whole numbers of 0 or more; correct the value, or use likelihood gaussian", e.Value)
	case ordinal:
		return fmt.Sprintf("the target %g is not one of the values that the ordinal likelihood was fitted to; correct the value, or fit the model again with such rows", e.Value)
	case logit:
		return fmt.Sprintf("the target %g is neither 0 nor 1: the bernoulli likelihood requires 0 and 1, or words such as no and yes; correct the value, or use likelihood gaussian", e.Value)
	case log1p:
		domain = "values above -1"
	case cbrt1p:
		domain = "values of -1 or more"
	}
	return fmt.Sprintf("the target %g is outside the domain of transform %s, which requires %s; correct the value, or use transform identity", e.Value, e.Transform, domain)
}

// FieldPath returns the path of the specification field that chose the scale.
func (e *DomainError) FieldPath() string {
	if e.Transform.Linked() {
		return "uncertainty.likelihood"
	}
	return "transform"
}

// A ConstantError reports training targets that are all equal.
type ConstantError struct {
	Value float64
	N     int // training rows
}

// ErrConstantTarget is the sentinel of [ConstantError].
var ErrConstantTarget = errors.New("the target is constant")

// Unwrap returns ErrConstantTarget.
func (e *ConstantError) Unwrap() error { return ErrConstantTarget }

func (e *ConstantError) Error() string {
	return fmt.Sprintf("the target is %g in all %d training rows, so there is nothing to learn; choose another target column", e.Value, e.N)
}

// FieldPath returns the path of the specification field that names the target.
func (e *ConstantError) FieldPath() string { return "data.target" }
