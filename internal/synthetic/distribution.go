package synthetic

import "math"

// Distribution is the distribution of a value given the field f: y increases with a
// standard normal e, so that its quantile p is Value(f, z) where z is the normal
// quantile p.
type Distribution struct {
	SD   float64 // of the noise, on the scale of the field
	half bool    // ratings in half stars from 0.5 to 5; otherwise counts ceil(exp(f + SD e))

	mean, square, log []float64 // moments of y and of log1p(y) on a grid of fields
}

const (
	gridStart = -10.0
	gridStep  = 1.0 / 64
	gridSize  = 26 * 64
)

// newDistribution tabulates the moments, because a set has more rows than the grid
// has points.
func newDistribution(sd float64, half bool) *Distribution {
	l := &Distribution{SD: sd, half: half}
	expected := func(f float64, g func(float64) float64) float64 { return expect(f, sd, g) }
	if half {
		expected = l.expectStars
	}
	for k := range gridSize {
		f := gridStart + float64(k)*gridStep
		l.mean = append(l.mean, expected(f, func(y float64) float64 { return y }))
		l.square = append(l.square, expected(f, func(y float64) float64 { return y * y }))
		l.log = append(l.log, expected(f, math.Log1p))
	}
	return l
}

// Value returns y for a field and a standard normal e.
func (l *Distribution) Value(f, e float64) float64 {
	if l.half {
		return min(max(math.Round(2*(f+l.SD*e))/2, 0.5), 5)
	}
	return math.Ceil(math.Exp(f + l.SD*e))
}

func (l *Distribution) expectStars(f float64, g func(float64) float64) float64 {
	total, below := 0.0, 0.0
	for y := 0.5; y <= 5; y += 0.5 {
		upTo := 1.0
		if y < 5 {
			upTo = 0.5 * math.Erfc((f-y-0.25)/(l.SD*math.Sqrt2))
		}
		total += (upTo - below) * g(y)
		below = upTo
	}
	return total
}

// Moments returns the mean and standard deviation of y and the mean of log1p(y),
// the predictions with the smallest expected squared error on the two scales. The
// relative error of the interpolation is about 1e-4.
func (l *Distribution) Moments(f float64) (mean, sd, logMean float64) {
	at := min(max((f-gridStart)/gridStep, 0), gridSize-1.001)
	k := int(at)
	t := at - float64(k)
	between := func(values []float64) float64 { return values[k] + t*(values[k+1]-values[k]) }
	mean = between(l.mean)
	return mean, math.Sqrt(max(between(l.square)-mean*mean, 0)), between(l.log)
}
