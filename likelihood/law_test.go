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
	}
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
					if c.law.Damped() {
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
