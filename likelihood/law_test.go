package likelihood

import (
	"fmt"
	"math"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/gradcheck"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

// lawCases are the laws beyond counts, with values to observe.
func lawCases() []struct {
	law Law
	y   []float32
} {
	return []struct {
		law Law
		y   []float32
	}{
		{Bernoulli{}, []float32{0, 1, 1, 0, 1, 1, 1}},
		{StudentT{Variance: 0.5, DF: 4}, []float32{0.3, -0.5, 12, 1}},
		{Censored{Variance: 0.5}, []float32{0.3, -0.5, 2}},
		{NewOrdinal([]float64{1, 2, 4, 5}, []float64{10, 5, 30, 12}), []float32{1, 2, 5, 4, 4}},
		{ZeroInflated{Zero: 0.3, Size: 2}, []float32{0, 0, 1, 7, 0}},
		{Hurdle{Size: 2, Shift: -0.5, Slope: 0.7}, []float32{0, 1, 0, 7, 2}},
		{allCensored{Censored{Variance: 0.5}}, []float32{0.3, -0.5, 2, 4}},
	}
}

// allCensored is Censored with marks at all cells.
type allCensored struct{ Censored }

func (c allCensored) Sites(cells Cells, out Sites, loop Loop) float64 {
	cells.Censored = marks(len(cells.Y))
	return c.Censored.Sites(cells, out, loop)
}

func (c allCensored) Bound(cells Cells, out Sites, loop Loop) float64 {
	cells.Censored = marks(len(cells.Y))
	return c.Censored.Bound(cells, out, loop)
}

func (c allCensored) LogProb(y, f float64) float64 { return c.LogAbove(y, f) }

func marks(n int) []float32 {
	m := make([]float32, n)
	for i := range m {
		m[i] = 1
	}
	return m
}

// one evaluates a law at one cell.
func one(law func(Cells, Sites, Loop) float64, y float32, m, v float64) (value, target, precision float64) {
	out := Sites{make([]float32, 1), make([]float32, 1)}
	value = law(Cells{Y: []float32{y}, Mean: []float32{float32(m)}, Variance: []float32{float32(v)}}, out, nil)
	return value, float64(out.Target[0]), float64(out.Precision[0])
}

// Expected log likelihoods agree with integrals, bounds are below them and equal to them
// without variance, and sites have positive precisions.
func TestLawExpectations(t *testing.T) {
	t.Parallel()
	for _, c := range lawCases() {
		for _, y := range c.y {
			for _, m := range []float64{-6, -1, 0.25, 2, 7} {
				for _, v := range []float64{0.0625, 1, 4} {
					what := fmt.Sprintf("%T y %g m %g v %g", c.law, y, m, v)
					exact := integrate(m, v, func(f float64) float64 { return c.law.LogProb(float64(y), f) })
					value, _, precision := one(c.law.Sites, y, m, v)
					bound, _, boundPrecision := one(c.law.Bound, y, m, v)
					_, inflated := c.law.(ZeroInflated) // whose sites are those of a bound at zeros
					if c.law.Damped() && !inflated {
						near(t, what, value, exact, 2e-6*(1+math.Abs(exact)))
					}
					if bound > exact+1e-6*(1+math.Abs(exact)) || !(precision > 0) || !(boundPrecision > 0) {
						t.Errorf("%s: bound %g, expectation %g, precisions %g and %g", what, bound, exact, precision, boundPrecision)
					}
				}
				if bound, _, _ := one(c.law.Bound, y, m, 0); math.Abs(bound-c.law.LogProb(float64(y), m)) > 1e-6*(1+math.Abs(bound)) {
					t.Errorf("%T y %g m %g: bound %g without variance, log probability %g", c.law, y, m, bound, c.law.LogProb(float64(y), m))
				}
			}
		}
	}
}

// Sites have the derivatives of the expectation: target and precision give dE/dm and
// dE/dv.
func TestLawSitesHaveTheDerivatives(t *testing.T) {
	t.Parallel()
	for _, c := range lawCases() {
		for _, y := range c.y {
			for _, at := range [][]float32{{-3, 0.5}, {0, 0.02}, {1.5, 2}, {3, 0.9}} {
				x := []float32{at[0], at[1]}
				_, target, precision := one(c.law.Sites, y, float64(x[0]), float64(x[1]))
				slope := precision * (target - float64(x[0]))
				gradcheck.Check(t, fmt.Sprintf("%T y %g at %v", c.law, y, at), x, []float32{float32(slope), float32(-precision / 2)}, func() float64 {
					value, _, _ := one(c.law.Sites, y, float64(x[0]), float64(x[1]))
					return value
				}, 1e-3, 2, 1e-3)
			}
		}
	}
}

// Full steps with the bound never lower the ELBO, and damped steps with the sites reach at
// least as high.
func TestLawStepsClimb(t *testing.T) {
	t.Parallel()
	for _, c := range lawCases() {
		_, _, bound := climb(c.y, c.law.Bound, 1, 80)
		for k := 1; k < len(bound); k++ {
			if bound[k] < bound[k-1]-1e-5*(1+math.Abs(bound[k])) {
				t.Fatalf("%T: step %d lowers the ELBO from %g to %g", c.law, k, bound[k-1], bound[k])
			}
		}
		if _, _, exact := climb(c.y, c.law.Sites, 0.5, 80); exact[79] < bound[79]-1e-4 {
			t.Errorf("%T: sites reach %g, those of the bound %g", c.law, exact[79], bound[79])
		}
	}
}

// Parameters are 0 at the start and determine the law.
func TestLawParameters(t *testing.T) {
	t.Parallel()
	for _, c := range append(lawCases(), []struct {
		law Law
		y   []float32
	}{{NegativeBinomial{1}, nil}, {Poisson{}, nil}}...) {
		p := make([]float64, len(c.law.Parameters()))
		for i := range p {
			p[i] = 0.25 * float64(i+1)
		}
		if got := c.law.At(p).Parameters(); fmt.Sprintf("%.9f", got) != fmt.Sprintf("%.9f", p) {
			t.Errorf("%T: got parameters %v, want %v", c.law, got, p)
		}
	}
}

// Probabilities that are too sure are calibrated, and few rows change little.
func TestBernoulliCalibration(t *testing.T) {
	t.Parallel()
	rng := randstream.New(4, "calibration")
	draw := func(n int) Cells {
		var c Cells
		for range n {
			f := 1.5 * rng.NormFloat64()
			c.Y = append(c.Y, float32(Bernoulli{}.Draw(rng, 0.3+f)))
			c.Mean, c.Variance = append(c.Mean, float32(1.6*f)), append(c.Variance, 0.01)
		}
		return c
	}
	many := Bernoulli{}.Calibrated(draw(20000), nil)
	near(t, "slope", many.Slope, 1/1.6, 0.04)
	near(t, "shift", many.Shift, 0.3, 0.06)
	few := Bernoulli{}.Calibrated(draw(5), nil)
	near(t, "slope of few rows", few.Slope, 1, 0.1)
	near(t, "shift of few rows", few.Shift, 0, 0.1)
	if got, want := many.Mean(0.7), 1/(1+math.Exp(-many.Shift-many.Slope*0.7)); math.Abs(got-want) > 1e-12 {
		t.Errorf("got probability %g, want %g", got, want)
	}
}

// The parameters of continuous laws are recovered from draws, also with weights.
func TestLearnRecoversParameters(t *testing.T) {
	t.Parallel()
	rng := randstream.New(6, "learn")
	const n = 20000
	student, normal := StudentT{Variance: 0.3, DF: 4}, Censored{Variance: 0.3}
	var heavy, cut Cells
	for i := range n {
		w := 0.5 + float64(i%3)
		f := rng.NormFloat64()
		s := math.Sqrt(0.3 / w)
		for _, c := range []struct {
			to *Cells
			y  float64
		}{{&heavy, f + s*student.Noise(rng)}, {&cut, f + s*rng.NormFloat64()}} {
			mark, limit := float32(0), 0.8
			if c.to == &cut && c.y > limit {
				c.y, mark = limit, 1
			}
			c.to.Y, c.to.Mean, c.to.Variance = append(c.to.Y, float32(c.y)), append(c.to.Mean, float32(f)), append(c.to.Variance, 0)
			c.to.Weight, c.to.Censored = append(c.to.Weight, float32(w)), append(c.to.Censored, mark)
		}
	}
	var a, b Law = NewStudentT(), NewCensored()
	for range 12 {
		a, b = a.Learn(heavy, nil), b.Learn(cut, nil)
	}
	near(t, "log variance of a Student distribution", math.Log(a.(StudentT).Variance/student.Variance), 0, 0.06)
	near(t, "log degrees of freedom", math.Log(a.(StudentT).DF/student.DF), 0, 0.12)
	near(t, "log variance with censored values", math.Log(b.(Censored).Variance/normal.Variance), 0, 0.04)
}

// Probabilities and quantiles of the Student distribution agree with integrals of its
// density.
func TestStudentProbabilities(t *testing.T) {
	t.Parallel()
	for _, df := range []float64{2.1, 5, 30, 200} {
		s := StudentT{Variance: 1, DF: df}
		sum, step := 0.0, 1e-3
		for k := range 3000 {
			z := float64(k) * step
			sum += step * (math.Exp(s.LogDensity(z)) + 4*math.Exp(s.LogDensity(z+step/2)) + math.Exp(s.LogDensity(z+step))) / 6
		}
		near(t, fmt.Sprintf("df %g", df), s.CDF(3)-s.CDF(0), sum, 1e-9)
		for _, p := range []float64{1e-12, 1e-4, 0.05, 0.3, 0.5, 0.9, 0.999} {
			near(t, fmt.Sprintf("df %g level %g", df, p), s.CDF(s.Quantile(p)), p, 1e-9*max(p, 1e-3))
		}
	}
}

// The parameters of counts with many zeros are recovered from draws, also with weights.
func TestLearnRecoversZeros(t *testing.T) {
	t.Parallel()
	rng := randstream.New(11, "zeros")
	inflated, hurdle := ZeroInflated{Zero: 0.35, Size: 2.5}, Hurdle{Size: 3, Shift: -0.8, Slope: 0.6}
	var a, b Cells
	for i := range 30000 {
		f := 0.5 + rng.NormFloat64()
		for _, c := range []struct {
			to *Cells
			y  float64
		}{{&a, inflated.Draw(rng, f)}, {&b, hurdle.Draw(rng, f)}} {
			c.to.Y, c.to.Mean, c.to.Variance = append(c.to.Y, float32(c.y)), append(c.to.Mean, float32(f)), append(c.to.Variance, 0)
			c.to.Weight = append(c.to.Weight, 0.5+float32(i%3))
		}
	}
	var x, y Law = NewZeroInflated(), NewHurdle()
	for range 12 {
		x, y = x.Learn(a, nil), y.Learn(b, nil)
	}
	near(t, "share of further zeros", x.(ZeroInflated).Zero, inflated.Zero, 0.015)
	near(t, "log size with further zeros", math.Log(x.(ZeroInflated).Size/inflated.Size), 0, 0.1)
	near(t, "shift", y.(Hurdle).Shift, hurdle.Shift, 0.06)
	near(t, "slope", y.(Hurdle).Slope, hurdle.Slope, 0.06)
	near(t, "log size of a hurdle", math.Log(y.(Hurdle).Size/hurdle.Size), 0, 0.2)
}

// Cut points are recovered from draws.
func TestLearnRecoversCuts(t *testing.T) {
	t.Parallel()
	rng := randstream.New(8, "cuts")
	truth := Ordinal{Levels: []float64{1, 2, 3, 4, 5}, Cuts: []float64{-1.5, -1.2, 0.2, 1.4}}
	var cells Cells
	counts := make([]float64, 5)
	for range 30000 {
		f := rng.NormFloat64()
		y := truth.Draw(rng, f)
		counts[int(y)-1]++
		cells.Y, cells.Mean, cells.Variance = append(cells.Y, float32(y)), append(cells.Mean, float32(f)), append(cells.Variance, 0)
	}
	var law Law = NewOrdinal(truth.Levels, counts)
	for range 8 {
		law = law.Learn(cells, nil)
	}
	for k, c := range law.(Ordinal).Cuts {
		near(t, fmt.Sprintf("cut %d", k), c, truth.Cuts[k], 0.04)
	}
}
