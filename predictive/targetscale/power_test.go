package targetscale

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
				if math.Abs(math.Exp(f.LogDerivativeAt(g))/slope-1) > 1e-5 || math.Abs(f.InverseDerivative(g)*slope-1) > 1e-5 {
					t.Fatalf("%v at %g: the slope is %g, got %g and %g", f, y, slope, math.Exp(f.LogDerivativeAt(g)), 1/f.InverseDerivative(g))
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

// TestPowerText checks names, and that a file keeps the power and the unit.
func TestPowerText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Transform{"power:0.33": {kind: KindPower, power: 0.33}, "power:0:2.5": Power(0, 2.5), "power:1": {kind: KindPower, power: 1}, "power:1/6": {kind: KindPower, power: 1.0 / 6}, "power:1/3:10": Power(1.0/3, 10)} {
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
	for _, bad := range []Scale{{Transform: Transform{kind: KindPower, power: 0.3}, Spread: 1}, {Spread: 0}, {Spread: math.NaN()}, {Spread: 1, Center: math.Inf(1)}} {
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
		_, exact := PolynomialDegree(got)
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
