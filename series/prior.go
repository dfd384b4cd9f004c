package series

import (
	"fmt"
	"math"
)

// A Prior is the distribution of a series before its data:
//
//	level(t+1)  = level(t) + slope(t+1) + N(0, Walk),    level(0) ~ N(0, Level)
//	slope(t+1)  = Damping slope(t) + N(0, SlopeWalk),    slope(0) ~ N(0, Slope)
//	drift(t)    = rise (t / DriftSpan - 1/2),            rise ~ N(Drift, DriftVar)
//	ar(t+1)     = Phi ar(t) + N(0, AR (1 - Phi^2)),      ar(0) ~ N(0, AR)
//	season(t)   = sum_k  a_k cos(2 pi k t / Period) + b_k sin(2 pi k t / Period),
//
// with a_k, b_k ~ N(0, Var / Harmonics), or variances in proportion to 1/k^2 with the same sum if
// the season is smooth. A variance of 0 leaves its component out, but the level is always there; a
// DriftSpan of 0 leaves the drift out. The rise of a series over DriftSpan steps is shrunk to
// Drift, which all series share. Steps count from 0, the first step of the table.
//
// With a ScaleSpread s above 0 a series is x(t) = c z(t), where z has this prior and the
// scale c of the series is learned, log c ~ N(0, s^2). The scale of a series without data
// is 1.
type Prior struct {
	Level     float64  `json:"level"`
	Walk      float64  `json:"walk"`
	AR        float64  `json:"ar"`
	Phi       float64  `json:"phi"`
	Slope     float64  `json:"slope,omitempty"`
	SlopeWalk float64  `json:"slope_walk,omitempty"`
	Damping   float64  `json:"damping,omitempty"`
	Drift     float64  `json:"drift,omitempty"`
	DriftVar  float64  `json:"drift_variance,omitempty"`
	DriftSpan float64  `json:"drift_span,omitempty"` // in steps
	Seasons   []Season `json:"seasons,omitempty"`

	ScaleSpread float64 `json:"scale_spread,omitempty"`
}

// A Season is a periodic component.
type Season struct {
	Period    float64 `json:"period"` // in steps
	Harmonics int     `json:"harmonics"`
	Var       float64 `json:"variance"`
	Smooth    bool    `json:"smooth,omitempty"` // higher harmonics have smaller variances
}

// variance returns the prior variance of the coefficients of harmonic k.
func (s *Season) variance(k int) float64 {
	if !s.Smooth {
		return s.Var / float64(s.Harmonics)
	}
	sum := 0.0
	for i := 1; i <= s.Harmonics; i++ {
		sum += 1 / float64(i*i)
	}
	return s.Var / (sum * float64(k*k))
}

// negligible is the variance, relative to a target of variance 1, below which a component
// has no state.
const negligible = 1e-7

// Limits of what a prior may hold; they bound the work of a file from a stranger.
const (
	maxSeasons   = 4
	maxHarmonics = 16
	maxVariance  = 1e12
	mostDrift    = 1e6
	mostSpread   = 10
)

// Check returns an error unless all values are possible.
func (p *Prior) Check() error {
	variances := []float64{p.Level, p.Walk, p.AR, p.Slope, p.SlopeWalk, p.DriftVar}
	for _, s := range p.Seasons {
		variances = append(variances, s.Var)
		if !(s.Period >= 2 && s.Period <= 1e9) || s.Harmonics < 1 || s.Harmonics > maxHarmonics {
			return fmt.Errorf("series: a season of period %g with %d harmonics; periods start at 2 and harmonics are 1 to %d", s.Period, s.Harmonics, maxHarmonics)
		}
	}
	for _, v := range variances {
		if !(v >= 0 && v <= maxVariance) {
			return fmt.Errorf("series: the variance %g of a component is not between 0 and %g", v, maxVariance)
		}
	}
	for _, c := range []float64{p.Phi, p.Damping} {
		if !(c >= 0 && c < 1) {
			return fmt.Errorf("series: the coefficient %g is not between 0 and 1", c)
		}
	}
	if !(math.Abs(p.Drift) <= mostDrift && (p.DriftSpan == 0 || p.DriftSpan >= 1 && p.DriftSpan <= 1e9)) {
		return fmt.Errorf("series: a drift of %g over %g steps; it is at most %g over 1 to 1e9 steps", p.Drift, p.DriftSpan, float64(mostDrift))
	}
	if !(p.ScaleSpread >= 0 && p.ScaleSpread <= mostSpread) {
		return fmt.Errorf("series: the spread %g of the logarithms of scales is not between 0 and %d", p.ScaleSpread, mostSpread)
	}
	if len(p.Seasons) > maxSeasons {
		return fmt.Errorf("series: %d seasons; there may be %d", len(p.Seasons), maxSeasons)
	}
	return nil
}

// Variance returns the variance of x(t). O(t) with a trend, otherwise O(1).
func (p *Prior) Variance(t int32) float64 {
	v := p.Level + p.AR
	for _, s := range p.Seasons {
		v += s.Var
	}
	if p.DriftSpan > 0 {
		g := p.rise(t)
		v += g * g * p.DriftVar
	}
	if p.Slope <= negligible && p.SlopeWalk <= negligible {
		return v + p.Walk*float64(t)
	}
	m := newMachine(*p)
	v -= p.Level
	var s2 [3]float64 // variances of level and slope, and their covariance
	s2[0], s2[1] = p.Level, p.Slope
	tr := m.transition(t)
	return v + s2[0] + 2*tr.gain*s2[2] + tr.gain*tr.gain*s2[1] + tr.levelNoise
}

// rise returns the share of the rise of a drift at a step.
func (p *Prior) rise(t int32) float64 { return float64(t)/p.DriftSpan - 0.5 }

// theta returns the parameters that are learned, on an unbounded scale: logarithms of
// variances, logits of coefficients, the shared drift. Components that were left out are
// not learned.
func (p *Prior) theta() []float64 {
	var t []float64
	p.each(func(v *float64) { t = append(t, math.Log(*v)) }, func(v *float64) { t = append(t, logit(*v)) },
		func(v *float64) { t = append(t, *v) })
	return t
}

// withTheta returns the prior with other parameters.
func (p Prior) withTheta(t []float64) Prior {
	p.Seasons = append([]Season(nil), p.Seasons...)
	i := 0
	p.each(func(v *float64) { *v = math.Exp(min(max(t[i], math.Log(leastVariance)), math.Log(mostVariance))); i++ },
		func(v *float64) { *v = min(max(1/(1+math.Exp(-t[i])), leastCoefficient), mostCoefficient); i++ },
		func(v *float64) { *v = min(max(t[i], -mostDrift), mostDrift); i++ })
	return p
}

// Learned parameters stay within these limits.
const (
	leastVariance    = 1e-6
	mostVariance     = 1e4
	leastCoefficient = 0.02
	mostCoefficient  = 0.998
)

// each visits the learned parameters in a fixed order.
func (p *Prior) each(variance, coefficient, number func(*float64)) {
	variance(&p.Level)
	if p.Walk > 0 {
		variance(&p.Walk)
	}
	if p.AR > 0 {
		variance(&p.AR)
		coefficient(&p.Phi)
	}
	if p.Slope > 0 {
		variance(&p.Slope)
		coefficient(&p.Damping)
		if p.SlopeWalk > 0 {
			variance(&p.SlopeWalk)
		}
	}
	if p.DriftSpan > 0 {
		number(&p.Drift)
		variance(&p.DriftVar)
	}
	for i := range p.Seasons {
		if p.Seasons[i].Var > 0 {
			variance(&p.Seasons[i].Var)
		}
	}
}

// Scaled returns the prior of series whose variances are multiplied by a factor.
func (p Prior) Scaled(factor float64) Prior {
	p.Seasons = append([]Season(nil), p.Seasons...)
	for _, v := range []*float64{&p.Level, &p.Walk, &p.AR, &p.Slope, &p.SlopeWalk, &p.DriftVar} {
		*v *= factor
	}
	p.Drift *= math.Sqrt(factor)
	for i := range p.Seasons {
		p.Seasons[i].Var *= factor
	}
	return p
}

func logit(p float64) float64 { return math.Log(p / (1 - p)) }

// numbers returns the places of the parameters without those of the seasons.
func (p *Prior) numbers() []*float64 {
	return []*float64{&p.Level, &p.Walk, &p.AR, &p.Phi, &p.Slope, &p.SlopeWalk, &p.Damping, &p.Drift, &p.DriftVar}
}

// Values returns the learned parameters as numbers, and SetValues restores them.
func (p *Prior) Values() []float32 {
	var out []float32
	for _, at := range p.numbers() {
		out = append(out, float32(*at))
	}
	for _, s := range p.Seasons {
		out = append(out, float32(s.Var))
	}
	return out
}

// SetValues sets the parameters from the result of Values of a prior with as many
// seasons, and returns the number of values.
func (p *Prior) SetValues(v []float32) int {
	numbers := p.numbers()
	for i, at := range numbers {
		*at = float64(v[i])
	}
	for i := range p.Seasons {
		p.Seasons[i].Var = float64(v[len(numbers)+i])
	}
	return len(numbers) + len(p.Seasons)
}
