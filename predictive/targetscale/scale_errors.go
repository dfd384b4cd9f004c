package targetscale

import (
	"errors"
	"fmt"
	"strconv"
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
		return fmt.Sprintf("the target %s is not a count: a likelihood of counts requires whole numbers of 0 or more; correct the value, or use likelihood gaussian", TargetText(e.Value))
	case ordinal:
		return fmt.Sprintf("the target %s is not one of the values that the ordinal likelihood was fitted to; correct the value, or fit the model again with such rows", TargetText(e.Value))
	case logit:
		return fmt.Sprintf("the target %s is neither 0 nor 1: the bernoulli likelihood requires 0 and 1, or words such as no and yes; correct the value, or use likelihood gaussian", TargetText(e.Value))
	case KindLog1p:
		domain = "values above -1"
	case KindCbrt1p:
		domain = "values of -1 or more"
	}
	return fmt.Sprintf("the target %s is outside the domain of transform %s, which requires %s; correct the value, or use transform identity", TargetText(e.Value), e.Transform, domain)
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
	return fmt.Sprintf("the target is %s in all %d training rows, so there is nothing to learn; choose another target column", TargetText(e.Value), e.N)
}

// FieldPath returns the path of the specification field that names the target.
func (e *ConstantError) FieldPath() string { return "data.target" }

// TargetText writes a value of a target as a table has it. Most targets are kept as 32-bit
// numbers, of which 64 bits show digits that nobody wrote: 19.1299991607666 for 19.13.
func TargetText(v float64) string {
	if float64(float32(v)) == v {
		return strconv.FormatFloat(v, 'g', -1, 32)
	}
	return strconv.FormatFloat(v, 'g', 12, 64)
}
