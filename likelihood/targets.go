package likelihood

import (
	"fmt"
	"math"
)

// TargetError says which target no count likelihood can take.
type TargetError struct {
	Position int // index into the targets checked, from 0
	Value    float64
	Problem  string // what is wrong with it and what to do
}

func (e *TargetError) Error() string {
	return fmt.Sprintf("target %d is %g: %s", e.Position, e.Value, e.Problem)
}

// CheckCounts returns a *TargetError for the first target that is no count. Fractions are
// refused: amounts in litres or dollars that reach a count likelihood are nearly always a
// mistake, and what it says about their noise would depend on the unit. Where fractions
// are meant, as in averages of counts, the log likelihoods here still are what is called
// quasi likelihoods; use CheckNonnegative then.
func CheckCounts(y []float32) error {
	return check(y, func(v float64) bool { return v == math.Floor(v) })
}

// CheckNonnegative returns a *TargetError for the first target that is negative or not
// finite.
func CheckNonnegative(y []float32) error {
	return check(y, func(float64) bool { return true })
}

func check(y []float32, whole func(float64) bool) error {
	for i, v32 := range y {
		v := float64(v32)
		problem := ""
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			problem = "not finite; remove the row or fill in a count"
		case v < 0:
			problem = "counts are not negative; use the gaussian likelihood, or remove returns and corrections"
		case !whole(v):
			problem = "counts are whole numbers; use the gaussian likelihood (with the log1p or sqrt scale for amounts)"
		default:
			continue
		}
		return &TargetError{Position: i, Value: v, Problem: problem}
	}
	return nil
}
