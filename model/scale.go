package model

import (
	"fmt"
	"math"
)

// Transforms are the scales a target may be modelled on.
func Transforms() []string { return []string{"identity", "log1p", "sqrt", "cbrt1p"} }

// A Scale carries targets to the modelling scale and back:
//
//	z = (g(y) - Center) / Spread,   g one of identity, log1p, sqrt, cbrt1p,
//
// with Center and Spread the mean and standard deviation of g(y) over the
// training data, so that z is standardised. The scale of counts is that of
// their logarithmic rate, LogRate: Center is the logarithm of their mean, and
// Spread 1.
type Scale struct {
	Transform string  `json:"transform"`
	Center    float64 `json:"center"`
	Spread    float64 `json:"spread"`
}

// LogRate is the scale of counts.
const LogRate = "log-rate"

// A DomainError says that a target lies outside its transform's domain.
type DomainError struct {
	Transform string
	Position  int // among the targets
	Value     float64
}

func (e *DomainError) Error() string {
	least := "of 0 or more"
	if e.Transform == LogRate {
		return fmt.Sprintf("the target %g is no count: a poisson or negative-binomial likelihood needs whole numbers of 0 or more; correct it, or fit with --likelihood gaussian", e.Value)
	}
	if e.Transform == "log1p" {
		least = "above -1"
	}
	if e.Transform == "cbrt1p" {
		least = "of -1 or more"
	}
	return fmt.Sprintf("the target %g cannot be taken to the %s scale, which needs values %s; correct it, or fit with --transform identity", e.Value, e.Transform, least)
}

// ErrConstant says that there is nothing to learn.
type ErrConstant struct {
	Value float64
	N     int
}

func (e *ErrConstant) Error() string {
	return fmt.Sprintf("the target is %g in all %d training rows: there is nothing to learn; choose another --target", e.Value, e.N)
}

// CheckDomain returns a *DomainError for the first target that the transform
// cannot take.
func CheckDomain(transform string, y []float32) error {
	s := Scale{Transform: transform}
	for i, v := range y {
		if _, err := s.forward(i, v); err != nil {
			return err
		}
	}
	return nil
}

// NewScale fits a scale to training targets with weights, nil for 1.
func NewScale(transform string, y, w []float32) (Scale, error) {
	s := Scale{Transform: transform, Spread: 1}
	var sum, squares, total float64
	for i, v := range y {
		z, err := s.forward(i, v)
		if err != nil {
			return s, err
		}
		weight := 1.0
		if w != nil {
			weight = float64(w[i])
		}
		// Shifting by the first value keeps the difference of squares exact
		// for targets far from zero.
		if i == 0 {
			s.Center = z
		}
		z -= s.Center
		sum += weight * z
		squares += weight * z * z
		total += weight
	}
	mean := sum / total
	variance := squares/total - mean*mean
	if !(variance > 1e-14*squares/total) {
		return s, &ErrConstant{Value: float64(y[0]), N: len(y)}
	}
	s.Center += mean
	s.Spread = math.Sqrt(variance)
	return s, nil
}

// NewCountScale returns the scale of counts with weights, nil for 1.
func NewCountScale(y, w []float32) (Scale, error) {
	s, err := NewScale("identity", y, w)
	if err != nil {
		return s, err
	}
	return Scale{Transform: LogRate, Center: math.Log(s.Center), Spread: 1}, nil
}

func (s Scale) forward(i int, v float32) (float64, error) {
	y := float64(v)
	switch s.Transform {
	case "log1p":
		if y <= -1 {
			return 0, &DomainError{s.Transform, i, y}
		}
		return math.Log1p(y), nil
	case "sqrt":
		if y < 0 {
			return 0, &DomainError{s.Transform, i, y}
		}
		return math.Sqrt(y), nil
	case "cbrt1p":
		if y < -1 {
			return 0, &DomainError{s.Transform, i, y}
		}
		return math.Cbrt(1 + y), nil
	case LogRate:
		if y < 0 || y != math.Trunc(y) {
			return 0, &DomainError{s.Transform, i, y}
		}
	}
	return y, nil
}

// Forward writes the standardised targets to dst; counts stay as they are.
func (s Scale) Forward(dst, y []float32) error {
	for i, v := range y {
		z, err := s.forward(i, v)
		if err != nil {
			return err
		}
		dst[i] = v
		if s.Transform != LogRate {
			dst[i] = float32((z - s.Center) / s.Spread)
		}
	}
	return nil
}

// OnScale returns g(y) for a prediction, moved into the domain if need be.
func (s Scale) OnScale(y float64) float64 {
	switch s.Transform {
	case "log1p", LogRate:
		return math.Log1p(max(y, -1+1e-9))
	case "sqrt":
		return math.Sqrt(max(y, 0))
	case "cbrt1p":
		return math.Cbrt(max(1+y, 0))
	}
	return y
}

// Predicted returns the prediction to compare with OnScale of a target.
func (s Scale) Predicted(z float32) float64 {
	if s.Transform == LogRate {
		return math.Log1p(math.Exp(s.Level(z)))
	}
	return s.Level(z)
}

// Level returns the prediction of g(y) for a standardised prediction.
func (s Scale) Level(z float32) float64 { return s.Center + s.Spread*float64(z) }
