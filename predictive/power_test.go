package predictive

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

var powers = []float64{0, 0.05, 0.2, 1.0 / 3, 0.5, 0.8, 1}

// TestPowerFunction checks that the inverse inverts, that both are increasing, and the
// derivatives, for targets of both signs in small and large units.
func TestPowerFunction(t *testing.T) {
	t.Parallel()
	for _, p := range powers {
		for _, unit := range []float64{1e-3, 1, 1e6} {
			f := Power(p, unit)
			before := math.Inf(-1)
			for x := -50.0; x <= 50; x += 0.31 {
				y := x * unit
				g := f.Forward(y)
				if !f.InDomain(y) || g <= before || math.Abs(f.Inverse(g)-y) > 1e-12*math.Abs(y) {
					t.Fatalf("%v: g(%g) = %g after %g, inverse %g", f, y, g, before, f.Inverse(g))
				}
				before = g
				step := 1e-5 * (unit + math.Abs(y))
				slope := (f.Forward(y+step) - f.Forward(y-step)) / (2 * step)
				if math.Abs(math.Exp(f.logDerivative(g))/slope-1) > 1e-5 || math.Abs(f.inverseDerivative(g)*slope-1) > 1e-5 {
					t.Fatalf("%v at %g: the slope is %g, got %g and %g", f, y, slope, math.Exp(f.logDerivative(g)), 1/f.inverseDerivative(g))
				}
			}
		}
	}
	for y := 0.0; y < 100; y += 0.7 {
		if math.Abs(Power(0, 1).Forward(y)-math.Log1p(y)) > 1e-14 || Power(1, 1).Forward(y) != y {
			t.Errorf("powers 0 and 1 of %g are %g and %g", y, Power(0, 1).Forward(y), Power(1, 1).Forward(y))
		}
	}
	if near, limit := Power(1e-9, 1).Forward(30), Power(0, 1).Forward(30); math.Abs(near-limit) > 1e-6 {
		t.Errorf("g(30) is %g near the power 0 and %g at it", near, limit)
	}
}

// TestPowerMoments compares mean and standard deviations with fine sums.
func TestPowerMoments(t *testing.T) {
	t.Parallel()
	expect := func(f func(t float64) float64) (sum float64) {
		const n = 2000
		for i := range n + 1 {
			at := 18*float64(i)/n - 9
			sum += 18.0 / n * normalDensity(at) * f(at)
		}
		return sum
	}
	for _, p := range powers {
		for _, m := range []float64{-2, -0.03, 0, 0.4, 1.31, 3, 12} {
			for _, v := range []struct{ model, noise float64 }{{0.1, 0.3}, {1, 0.2}, {0.2, 0}, {0, 0.5}} {
				f := Power(p, 2.5)
				d := Gaussian(f, m, v.model, v.noise)
				mean := expect(func(t float64) float64 { return f.Inverse(m + d.sd*t) })
				if got := d.Mean(); math.Abs(got-mean) > 2e-5*(1+math.Abs(mean)) {
					t.Errorf("%v, m %g, variances %v: the mean is %.9g, want %.9g", f, m, v, got, mean)
				}
				for _, d := range []Distribution{d, d.NonNegative()} {
					value := func(t float64) float64 { return d.fromScore(t) }
					first := expect(value)
					total := expect(func(t float64) float64 { return (value(t) - first) * (value(t) - first) })
					got := d.Moments()
					if want := math.Sqrt(total); math.Abs(got.SD-want) > 1e-3*want+1e-5 {
						t.Errorf("%v, m %g, variances %v, clamped %v: sd %.6g, want %.6g", f, m, v, d.clamped, got.SD, want)
					}
					if math.Abs(math.Hypot(got.SDModel, got.SDNoise)-got.SD) > 1e-9*got.SD || v.model == 0 && got.SDModel != 0 || v.noise == 0 && got.SDNoise != 0 {
						t.Errorf("%v, m %g, variances %v: sd %g has parts %g and %g", f, m, v, got.SD, got.SDModel, got.SDNoise)
					}
				}
			}
		}
	}
	// The parts of the variance, by draws of f.
	rng := randstream.New(1, "parts")
	for _, clamped := range []bool{false, true} {
		d := Gaussian(Power(0.3, 1), 0.5, 0.6, 0.4)
		if clamped {
			d = d.NonNegative()
		}
		const n = 4000
		var sum, squares float64
		for range n {
			m, given := 0.5+math.Sqrt(0.6)*rng.NormFloat64(), 0.0
			for i, at := range nodeT {
				y := d.transform.Inverse(m + math.Sqrt(0.4)*at)
				if clamped {
					y = max(y, 0)
				}
				given += nodeWeight[i] * y
			}
			sum += given / n
			squares += given * given / n
		}
		if got, want := d.Moments().SDModel, math.Sqrt(squares-sum*sum); math.Abs(got-want) > 0.05*want {
			t.Errorf("clamped %v: the standard deviation of E[y|f] is %g, by draws %g", clamped, got, want)
		}
	}
}

// TestPowerIsRootScale checks that a power of 1/3 in the unit 1 describes non-negative
// targets as cbrt1p does.
func TestPowerIsRootScale(t *testing.T) {
	t.Parallel()
	for _, m := range []float64{0.9, 1.5, 3} {
		for _, scores := range []*ScoreDistribution{nil, skewedScores(999)} {
			root := Gaussian(Cbrt1p, m, 0.05, 0.1).NonNegative().WithScores(scores)
			p := Gaussian(Power(1.0/3, 1), 3*(m-1), 9*0.05, 9*0.1).NonNegative().WithScores(scores)
			for _, y := range []float64{0, 0.4, 1, 7, 40} {
				a, b := root.Evaluate(y), p.Evaluate(y)
				for i := range a.Quantiles {
					if math.Abs(a.Quantiles[i]-b.Quantiles[i]) > 1e-9 {
						t.Errorf("m %g: quantiles %v, want %v", m, b.Quantiles, a.Quantiles)
					}
				}
				if math.Abs(a.CRPS-b.CRPS) > 1e-9 || math.Abs(a.LogDensity-b.LogDensity) > 1e-9 || math.Abs(a.UpTo-b.UpTo) > 1e-12 || math.Abs(a.Below-b.Below) > 1e-12 {
					t.Errorf("m %g, y %g: %+v, want %+v", m, y, b, a)
				}
			}
		}
	}
}

// TestPowerDensity checks that the density is the derivative of the distribution function
// and that CRPS agrees with its definition, with negative values.
func TestPowerDensity(t *testing.T) {
	t.Parallel()
	for _, p := range powers {
		d := Gaussian(Power(p, 0.5), 0.7, 0.4, 1.1)
		for _, y := range []float64{-4, -0.3, 0.2, 3, 9} {
			slope := (d.CDF(y+1e-6) - d.CDF(y-1e-6)) / 2e-6
			if got := d.Density(y); math.Abs(got-slope) > 1e-6 {
				t.Errorf("power %g: the density at %g is %g, the slope of the distribution function %g", p, y, got, slope)
			}
			const n = 20_000
			sum := 0.0
			for i := range n {
				q := (float64(i) + 0.5) / n
				x := d.Quantile(q)
				side := -q
				if y < x {
					side = 1 - q
				}
				sum += 2 * side * (x - y) / n
			}
			if got := d.CRPS(y); math.Abs(got-sum) > 2e-3*(sum+1) {
				t.Errorf("power %g: the CRPS of %g is %g, want %g", p, y, got, sum)
			}
		}
	}
}

// TestPowerText checks names, and that a file keeps the power and the unit.
func TestPowerText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Transform{"power:0.33": {kind: power, power: 0.33}, "power:0:2.5": Power(0, 2.5), "power:1": {kind: power, power: 1}, "power:1/6": {kind: power, power: 1.0 / 6}, "power:1/3:10": Power(1.0/3, 10)} {
		if got, err := ParseTransform(text); err != nil || got != want || got.String() != text {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"power", "power:", "power:x", "power:-0.1", "power:1.2", "power:NaN", "power:0.3:", "power:0.3:0", "power:0.3:-1", "power:0.3:Inf", "power:0.3:1:2"} {
		if got, err := ParseTransform(text); err == nil {
			t.Errorf("%s: %v, want an error", text, got)
		}
	}
	s := Scale{Transform: Power(0.31, 0.1), Center: 2, Spread: 3}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var again Scale
	if err := json.Unmarshal(text, &again); err != nil || again != s {
		t.Errorf("%s: %+v, %v", text, again, err)
	}
	if err := again.Validate(); err != nil {
		t.Error(err)
	}
	for _, bad := range []Scale{{Transform: Transform{kind: power, power: 0.3}, Spread: 1}, {Spread: 0}, {Spread: math.NaN()}, {Spread: 1, Center: math.Inf(1)}} {
		if bad.Validate() == nil {
			t.Errorf("%+v is valid", bad)
		}
	}
}

// TestTargetUnit checks that the unit follows the units of the target, that counts have
// the unit 1, and that a fitted scale has it.
func TestTargetUnit(t *testing.T) {
	t.Parallel()
	rng := randstream.New(1, "unit")
	draw := func(f func() float64) []float32 {
		y := make([]float32, 5000)
		for i := range y {
			y[i] = float32(f())
		}
		return y
	}
	normal := draw(rng.NormFloat64)
	logNormal := draw(func() float64 { return math.Exp(rng.NormFloat64()) })
	counts := draw(func() float64 { return math.Floor(math.Exp(2 * rng.Float64())) })
	for _, c := range []struct {
		name      string
		y         []float32
		low, high float64
	}{
		{"normal", normal, 0.6, 0.72}, {"log-normal", logNormal, 0.08, 0.11}, {"counts", counts, 1, 1},
		{"zeros", []float32{0, 0}, 1, 1},
	} {
		if got := TargetUnit(c.y, nil); !(got >= c.low && got <= c.high) {
			t.Errorf("%s: the unit is %g, want %g to %g", c.name, got, c.low, c.high)
		}
		for _, factor := range []float32{1.0 / 1024, 1 << 20} {
			scaled := make([]float32, len(c.y))
			for i, v := range c.y {
				scaled[i] = v * factor
			}
			want := TargetUnit(c.y, nil) * float64(factor)
			if c.name == "zeros" {
				want = 1
			}
			if got := TargetUnit(scaled, nil); math.Abs(got/want-1) > 1e-6 {
				t.Errorf("%s times %g: the unit is %g, want %g", c.name, factor, got, want)
			}
		}
	}
	doubled, weights := append(append([]float32{}, normal...), normal[:100]...), make([]float32, len(normal))
	for i := range weights {
		weights[i] = 1
		if i < 100 {
			weights[i] = 2
		}
	}
	if a, b := TargetUnit(doubled, nil), TargetUnit(normal, weights); a != b {
		t.Errorf("the unit is %g with repeated rows and %g with weights", a, b)
	}
	f, _ := ParseTransform("power:0.4")
	s, err := NewScale(f, logNormal, nil)
	if err != nil || s.Transform != Power(0.4, TargetUnit(logNormal, nil)) {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestRoundPower checks that rounded powers are near and have polynomials as inverses.
func TestRoundPower(t *testing.T) {
	for p := 0.08; p <= 1; p += 0.005 {
		got := RoundPower(p)
		_, exact := polynomialDegree(got)
		if p > 0.5+1e-9 && got != p || p <= 0.5 && !(exact && got <= 1.126*p && got > p/1.6) {
			t.Errorf("%g is rounded to %g", p, got)
		}
	}
	for _, p := range []float64{0, 0.04} {
		if got := RoundPower(p); got != p {
			t.Errorf("%g is rounded to %g", p, got)
		}
	}
}
