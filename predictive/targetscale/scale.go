package targetscale

import (
	"cmp"
	"fmt"
	"math"

	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// A Scale maps targets to the standardised modelling scale and back:
//
//	z = (g(y) - Center) / Spread,   g the transform,
//
// where Center and Spread are the mean and standard deviation of g(y) over the
// training data. Counts are modelled by the logarithm of their rate: their
// transform is [LogRate], Center is the logarithm of their mean, and Spread is 1. Values 0
// and 1 likewise have [Logit].
type Scale struct {
	Transform Transform `json:"transform"`
	Center    float64   `json:"center"`
	Spread    float64   `json:"spread"`

	// NonNegative is set if the fitted table has no target below 0. Predictive
	// distributions then have no probability there.
	NonNegative bool `json:"nonnegative,omitempty"`
}

// NewScale fits a scale to training targets. The weights w are optional; nil means
// that every weight is 1. Errors are a [*DomainError] or a [*ConstantError].
func NewScale(t Transform, y, w []float32) (Scale, error) {
	return FitScale(1, t.WithUnit(y, w), len(y), func(i int) float64 { return float64(y[i]) }, w)
}

// FitScale is NewScale for n targets that float32 is too coarse for: y returns them. A
// power must have its unit, see [Transform.WithUnit].
func FitScale(threads int, t Transform, n int, y func(i int) float64, w []float32) (Scale, error) {
	values := make([]float64, n)
	failed := parallel.Reduce(threads, n, func(from, to int) (err error) { return t.Values(values[from:to], y, from) }, func(a, b error) error { return cmp.Or(a, b) })
	if failed != nil {
		return Scale{Transform: t, Spread: 1}, failed
	}
	var sums ScaleSums
	sums.Add(values, w)
	return sums.Scale(t, y)
}

// Values sets values to the transformed targets from one on.
func (t Transform) Values(values []float64, y func(i int) float64, from int) (err error) {
	for i := range values {
		if values[i], err = t.checkedForward(from+i, y(from+i)); err != nil {
			return err
		}
	}
	return nil
}

// ScaleSums are the sums over transformed targets that a scale is fitted to. They depend on the order of the targets.
type ScaleSums struct {
	first, sum, squares, total float64
	n                          int
}

// Add adds targets that follow those before. The weights w are optional.
func (s *ScaleSums) Add(values []float64, w []float32) {
	// Subtracting the first value avoids cancellation in the difference of
	// squares for targets far from zero.
	if s.n == 0 && len(values) > 0 {
		s.first = values[0]
	}
	first, sum, squares, total := s.first, s.sum, s.squares, s.total
	for i, z := range values {
		weight := 1.0
		if w != nil {
			weight = float64(w[i])
		}
		z -= first
		sum += weight * z
		squares += weight * z * z
		total += weight
	}
	s.sum, s.squares, s.total, s.n = sum, squares, total, s.n+len(values)
}

// Scale returns the scale of targets y, whose transformed values were added.
func (s *ScaleSums) Scale(t Transform, y func(i int) float64) (Scale, error) {
	mean := s.sum / s.total
	variance := s.squares/s.total - mean*mean
	if !(variance > 1e-14*s.squares/s.total) {
		return Scale{Transform: t, Center: s.first, Spread: 1}, &ConstantError{Value: y(0), N: s.n}
	}
	return Scale{Transform: t, Center: s.first + mean, Spread: math.Sqrt(variance)}, nil
}

// NewCountScale fits the scale of counts. The weights w are optional; nil means
// that every weight is 1. So are the exposures; the center is the logarithm of the sum
// of counts over the sum of exposures.
func NewCountScale(y, w, exposure []float32) (Scale, error) {
	s, err := NewScale(Identity, y, w)
	if err != nil {
		return s, err
	}
	center := math.Log(s.Center)
	if exposure != nil {
		var sum, total float64
		for i, e := range exposure {
			weight := 1.0
			if w != nil {
				weight = float64(w[i])
			}
			sum += weight * float64(e)
			total += weight
		}
		center -= math.Log(sum / total)
	}
	return Scale{Transform: LogRate, Center: center, Spread: 1}, nil
}

// NewLogitScale fits the scale of values 0 and 1: its center is the logarithm of the odds
// of 1. The weights w are optional.
func NewLogitScale(y, w []float32) (Scale, error) {
	if err := CheckDomain(Logit, y); err != nil {
		return Scale{}, err
	}
	s, err := NewScale(Identity, y, w)
	if err != nil {
		return s, err
	}
	return Scale{Transform: Logit, Center: math.Log(s.Center / (1 - s.Center)), Spread: 1}, nil
}

// CheckDomain returns a [*DomainError] for the first target outside the domain of
// the transform.
func CheckDomain(t Transform, y []float32) error {
	for i, v := range y {
		if !t.InDomain(float64(v)) {
			return &DomainError{t, i, float64(v)}
		}
	}
	return nil
}

// checkedForward returns g of target i, or a [*DomainError].
func (t Transform) checkedForward(i int, y float64) (float64, error) {
	if !t.InDomain(y) {
		return 0, &DomainError{t, i, y}
	}
	return t.forward(y), nil
}

// Forward writes the standardised targets to dst. Those with a link stay unchanged.
func (s Scale) Forward(dst, y []float32) error {
	return s.ForwardEach(dst, func(i int) float64 { return float64(y[i]) })
}

// ForwardEach is Forward for targets that float32 is too coarse for: y returns them.
func (s Scale) ForwardEach(dst []float32, y func(i int) float64) error {
	for i := range dst {
		v := y(i)
		z, err := s.Transform.checkedForward(i, v)
		if err != nil {
			return err
		}
		dst[i] = float32(v)
		if !s.Transform.Linked() {
			dst[i] = float32((z - s.Center) / s.Spread)
		}
	}
	return nil
}

// OnScale returns g(y) for a target or a point prediction y, after moving y into
// the domain of g. For counts g is log1p.
func (s Scale) OnScale(y float64) float64 {
	switch s.Transform.kind {
	case KindLog1p, logRate:
		return math.Log1p(max(y, -1+1e-9))
	case KindSqrt:
		return math.Sqrt(max(y, 0))
	case KindCbrt1p:
		return math.Cbrt(max(1+y, 0))
	case KindPower:
		return s.Transform.powerForward(y)
	}
	return y
}

// PredictionOnScale returns the prediction that is comparable to OnScale of the
// target, from a standardised prediction.
func (s Scale) PredictionOnScale(z float32) float64 { return s.LevelOnScale(s.Location(z)) }

// LevelOnScale is PredictionOnScale of a prediction of g(y), or of the logarithm of
// the expected count.
func (s Scale) LevelOnScale(level float64) float64 {
	switch s.Transform {
	case LogRate:
		return math.Log1p(math.Exp(level))
	case Logit:
		return 1 / (1 + math.Exp(-level))
	}
	return level
}

// Location returns the prediction of g(y), or of the logarithmic rate of counts,
// from a standardised prediction.
func (s Scale) Location(z float32) float64 { return s.Center + s.Spread*float64(z) }

// Validate returns what is wrong with a scale that was read from a file.
func (s Scale) Validate() error {
	switch {
	case s.Transform.kind == KindPower && s.Transform.unit == 0:
		return fmt.Errorf("the transform %s has no unit", s.Transform)
	case math.IsNaN(s.Center) || math.IsInf(s.Center, 0):
		return fmt.Errorf("the center %g is not a number", s.Center)
	case !(s.Spread > 0) || math.IsInf(s.Spread, 1):
		return fmt.Errorf("the spread %g is not above 0", s.Spread)
	}
	return nil
}
