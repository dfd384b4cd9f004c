package likelihood

import (
	"fmt"
	"math"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/gradcheck"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

// integrate computes E[g(f)], f ~ N(m, v), by Simpson's rule with many points,
// from far below the mean to far above it, past the peaks of exp(f) and exp(-f)
// times the density.
func integrate(m, v float64, g func(f float64) float64) float64 {
	s := math.Sqrt(v)
	low, high := m-v-12*s, m+v+12*s
	const steps = 4000
	h := (high - low) / steps
	sum := 0.0
	for k := 0; k <= steps; k++ {
		f := low + float64(k)*h
		z := (f - m) / s
		w := 2.0
		if k%2 == 1 {
			w = 4
		}
		if k == 0 || k == steps {
			w = 1
		}
		sum += w * math.Exp(-z*z/2) * g(f)
	}
	return sum * h / 3 / s / math.Sqrt(2*math.Pi)
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: got %.12g, want %.12g (difference %.3g, allowed %.3g)", what, got, want, got-want, tolerance)
	}
}

func TestSoftplusAgainstIntegration(t *testing.T) {
	t.Parallel()
	sigma := func(f float64) float64 { return 1 / (1 + math.Exp(-f)) }
	worst := [3]float64{}
	for _, s := range []float64{1e-3, 0.1, 0.2, 0.2449, 0.245, 0.3, 0.4, 0.401, 0.7, 0.999, 1, 1.001, 1.5, 2, 2.01, 3.9, 4.1, 7.9, 8.1, 15.9} {
		for _, mu := range []float64{-300, -100, -30, -12, -5, -2.5, -1, -0.1, 0, 0.5, 2, 6, 20, 120} {
			s0, s1, s2 := softplus(mu, s*s)
			what := fmt.Sprintf("mu %g s %g", mu, s)
			for k, c := range []struct {
				got float64
				g   func(f float64) float64
			}{
				{s0, func(f float64) float64 { return max(f, 0) + math.Log1p(math.Exp(-math.Abs(f))) }},
				{s1, sigma},
				{s2, func(f float64) float64 { return sigma(f) * sigma(-f) }},
			} {
				want := integrate(mu, s*s, c.g)
				worst[k] = max(worst[k], math.Abs(c.got/want-1))
				near(t, what, c.got, want, 1e-7*want)
			}
		}
	}
	t.Logf("largest relative errors %.2g", worst)
}

func TestExpectAgainstIntegration(t *testing.T) {
	t.Parallel()
	for _, y := range []float64{0, 1, 7, 350} {
		for _, m := range []float64{-4, -1, 0.5, 2, 5} {
			for _, v := range []float64{0.01, 0.25, 1, 4} {
				what := fmt.Sprintf("y %g m %g v %g", y, m, v)
				p := Poisson{}.Expect(y, m, v)
				near(t, "poisson "+what, p.Value, integrate(m, v, func(f float64) float64 { return Poisson{}.LogProb(y, f) }), 1e-7*(1+math.Abs(p.Value)))
				for _, r := range []float64{0.2, 1, 8, 200, 1e5} {
					n := NegativeBinomial{r}
					plain := func(f float64) float64 {
						return logGamma(y+r) - logGamma(r) - logGamma(y+1) + r*math.Log(r) + y*f - (y+r)*math.Log(r+math.Exp(f))
					}
					e := n.Expect(y, m, v)
					near(t, fmt.Sprintf("r %g %s", r, what), e.Value, integrate(m, v, plain), 1e-7*(1+math.Abs(e.Value)))
				}
			}
		}
	}
}

func TestDerivatives(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		expect func(y, m, v float64) Expectation
	}{
		{"poisson", Poisson{}.Expect},
		{"r 0.3", NegativeBinomial{0.3}.Expect},
		{"r 5", NegativeBinomial{5}.Expect},
		{"r 1e4", NegativeBinomial{1e4}.Expect},
	} {
		for _, y := range []float64{0, 3, 90} {
			for _, at := range [][]float32{{-3, 0.5}, {0, 0.02}, {1.5, 2}, {4, 0.9}, {0.5, 20}} {
				x := []float32{at[0], at[1]}
				e := c.expect(y, float64(x[0]), float64(x[1]))
				gradcheck.Check(t, fmt.Sprintf("%s y %g at %v", c.name, y, at), x,
					[]float32{float32(e.ByMean), float32(e.ByVariance)},
					func() float64 { return c.expect(y, float64(x[0]), float64(x[1])).Value }, 1e-3, 2, 1e-4)
			}
		}
	}
}

// TestSitesAreFiniteEverywhere checks that precisions are positive and all
// results are finite float32 values for any input of the solver.
func TestSitesAreFiniteEverywhere(t *testing.T) {
	t.Parallel()
	var cells Cells
	for _, y := range []float32{0, 1, 1e3, 1e7} {
		for _, m := range []float32{-1e6, -700, -100, -30, -3, 0, 3, 30, 100, 700, 1e6} {
			for _, v := range []float32{-1e-9, 0, 1e-12, 0.5, 9, 300, 1e8} {
				cells.Y, cells.Mean, cells.Variance = append(cells.Y, y), append(cells.Mean, m), append(cells.Variance, v)
			}
		}
	}
	out := Sites{make([]float32, len(cells.Y)), make([]float32, len(cells.Y))}
	fill := map[string]func() float64{"poisson": func() float64 { return Poisson{}.Sites(cells, out, nil) }}
	for _, r := range []float64{MinSize, 1, 50, MaxSize} {
		fill[fmt.Sprint("r ", r)] = func() float64 { return NegativeBinomial{r}.Sites(cells, out, nil) }
		fill[fmt.Sprint("bound, r ", r)] = func() float64 { return NegativeBinomial{r}.Bound(cells, out, nil) }
	}
	for name, f := range fill {
		value := f()
		if math.IsNaN(value) || math.IsInf(value, 0) {
			t.Errorf("%s: value is %g, want a finite number", name, value)
		}
		for i := range cells.Y {
			p, target := float64(out.Precision[i]), float64(out.Target[i])
			if !(p > 0) || math.IsInf(p, 0) || math.IsNaN(target) || math.IsInf(target, 0) {
				t.Errorf("%s: y %g m %g v %g: got target %g and precision %g, want finite numbers and a positive precision", name, cells.Y[i], cells.Mean[i], cells.Variance[i], target, p)
			}
		}
	}
}

// TestPoissonBeyondTheLimits checks that beyond the limits of the exponent the
// value of the Poisson is continued consistently with its derivatives.
func TestPoissonBeyondTheLimits(t *testing.T) {
	t.Parallel()
	for _, m := range []float64{-50, 60} {
		e := Poisson{}.Expect(3, m, 1)
		up, down := Poisson{}.Expect(3, m+0.5, 1).Value, Poisson{}.Expect(3, m-0.5, 1).Value
		near(t, fmt.Sprint("m ", m), up-down, e.ByMean, 1e-9*math.Abs(e.ByMean))
	}
}

func TestNegativeBinomialBecomesPoisson(t *testing.T) {
	t.Parallel()
	for _, y := range []float64{0, 2, 40} {
		p := Poisson{}.Expect(y, 1.2, 0.4)
		last := math.Inf(1)
		for _, r := range []float64{1e2, 1e4, 1e6} {
			n := NegativeBinomial{r}.Expect(y, 1.2, 0.4)
			gap := math.Abs(n.Value-p.Value) + math.Abs(n.ByMean-p.ByMean) + math.Abs(n.ByVariance-p.ByVariance)
			if gap > last/50 {
				t.Errorf("y %g r %g: the difference from the Poisson is %g, want at most a fiftieth of %g", y, r, gap, last)
			}
			last = gap
		}
		near(t, fmt.Sprint("y ", y), last, 0, 3e-3)
	}
}

func TestSitesWeightsAndLoops(t *testing.T) {
	t.Parallel()
	cells := synthetic(3*blockCells+17, 4, 0.3)
	cells.Weight = make([]float32, len(cells.Y))
	rng := randstream.New(2, "weights")
	for i := range cells.Weight {
		cells.Weight[i] = float32(rng.IntN(3))
	}
	n := NegativeBinomial{4}
	out := Sites{make([]float32, len(cells.Y)), make([]float32, len(cells.Y))}
	value := n.Sites(cells, out, nil)
	want := 0.0
	for i, y := range cells.Y {
		m, w := float64(cells.Mean[i]), float64(cells.Weight[i])
		e := n.Expect(float64(y), m, float64(cells.Variance[i]))
		want += w * e.Value
		target, precision := e.Site(m)
		if float32(target) != out.Target[i] || float32(w*precision) != out.Precision[i] {
			t.Fatalf("cell %d: got target %g and precision %g, want %g and %g", i, out.Target[i], out.Precision[i], target, w*precision)
		}
	}
	near(t, "sum", value, want, 1e-9*math.Abs(want))
	backwards := func(n int, work func(i int)) {
		for i := n - 1; i >= 0; i-- {
			work(i)
		}
	}
	if again := n.Sites(cells, out, backwards); again != value {
		t.Errorf("another order of work gives %v, want %v", again, value)
	}
}

// TestBound checks that the bound is below the expectation and equal to it at v
// = 0, and that its sites have the derivatives of its value.
func TestBound(t *testing.T) {
	t.Parallel()
	for _, r := range []float64{0.5, 3, 100} {
		n := NegativeBinomial{r}
		one := func(y, m, v float32) (value, target, precision float64) {
			out := Sites{make([]float32, 1), make([]float32, 1)}
			value = n.Bound(Cells{Y: []float32{y}, Mean: []float32{m}, Variance: []float32{v}}, out, nil)
			return value, float64(out.Target[0]), float64(out.Precision[0])
		}
		for _, y := range []float32{0, 2, 30} {
			for _, m := range []float32{-2, 0.5, 4} {
				value, _, _ := one(y, m, 0)
				near(t, "v = 0", value, n.LogProb(float64(y), float64(m)), 1e-9)
				for _, v := range []float32{0.125, 1, 8} {
					value, target, precision := one(y, m, v)
					if exact := n.Expect(float64(y), float64(m), float64(v)).Value; value > exact {
						t.Errorf("r %g y %g m %g v %g: bound is %g, want at most %g", r, y, m, v, value, exact)
					}
					const h = 1.0 / 256
					up, _, _ := one(y, m+h, v)
					down, _, _ := one(y, m-h, v)
					near(t, "by m", precision*(target-float64(m)), (up-down)/(2*h), 1e-3*(1+precision))
					up, _, _ = one(y, m, v+h)
					down, _, _ = one(y, m, v-h)
					near(t, "by v", -precision/2, (up-down)/(2*h), 1e-3*(1+precision))
				}
			}
		}
	}
}

func TestLogisticBoundAgainstFunctions(t *testing.T) {
	t.Parallel()
	for _, mu := range []float64{-800, -25, -9.01, -8.99, -3, -0.301, -0.299, -0.01, 0, 1e-9, 0.2, 1.7, 40} {
		for _, v := range []float64{0, 1e-6, 0.3, 5} {
			xi := math.Sqrt(mu*mu + v)
			precision := 0.25
			if xi > 1e-5 {
				precision = math.Tanh(xi/2) / (2 * xi)
			}
			got, cosh := logisticBound(mu, v)
			what := fmt.Sprintf("mu %g v %g", mu, v)
			near(t, "tanh(xi/2)/(2 xi), "+what, got, precision, 1e-7*precision)
			want := xi/2 + math.Log1p(math.Exp(-xi))
			near(t, "log(2 cosh(xi/2)), "+what, cosh, want, 1e-7*want)
		}
	}
}

func TestTabulatedConstants(t *testing.T) {
	t.Parallel()
	for _, r := range []float64{MinSize, 0.7, 31, 33, 1e4, MaxSize} {
		n := NegativeBinomial{Size: r}
		constants := n.constants()
		for _, y := range []float64{0, 1, 2, 17, 255, 256, 2.5} {
			want := n.constant(y)
			near(t, fmt.Sprintf("r %g y %g", r, y), constants(y), want, 1e-12*(1+math.Abs(want)))
		}
	}
}

// A fit that diverges has an error, so that a mean or a variance that is NaN must not panic.
func TestExpectationsOfNaN(t *testing.T) {
	t.Parallel()
	for _, law := range []interface {
		Expect(y, m, v float64) Expectation
	}{Poisson{}, NegativeBinomial{Size: 2}, Hurdle{Size: 2, Shift: 1, Slope: 1}, Bernoulli{}} {
		for _, at := range [][2]float64{{math.NaN(), 0.5}, {math.NaN(), 4}, {0.3, math.NaN()}, {-40, math.NaN()}} {
			if e := law.Expect(1, at[0], at[1]); !math.IsNaN(e.Value) {
				t.Errorf("%#v at %v: got %g, want NaN", law, at, e.Value)
			}
		}
	}
}
