package targetscale

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/fielderr"
)

// Sums that several processes continue have the bits of one.
func TestScaleSumsInPieces(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	values, w := make([]float64, 1000), make([]float32, 1000)
	for i := range values {
		values[i], w[i] = 1e3+rng.NormFloat64(), rng.Float32()
	}
	for _, weights := range [][]float32{nil, w} {
		part := func(from, to int) []float32 {
			if weights == nil {
				return nil
			}
			return weights[from:to]
		}
		var whole, pieces ScaleSums
		whole.Add(values, weights)
		for _, cut := range [][2]int{{0, 0}, {0, 1}, {1, 700}, {700, 700}, {700, 1000}} {
			pieces.Add(values[cut[0]:cut[1]], part(cut[0], cut[1]))
		}
		if whole != pieces {
			t.Errorf("weights %t: got %v in pieces, want %v", weights != nil, pieces, whole)
		}
	}
}

func TestScaleStandardises(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	for _, transform := range []Transform{Identity, Log1p, Sqrt, Cbrt1p} {
		y := make([]float32, 2000)
		for i := range y {
			y[i] = float32(1e6 + 50*rng.ExpFloat64())
		}
		s, err := NewScale(transform, y, nil)
		if err != nil {
			t.Fatal(err)
		}
		z := make([]float32, len(y))
		if err := s.Forward(z, y); err != nil {
			t.Fatal(err)
		}
		var sum, squares float64
		for i, v := range z {
			sum += float64(v)
			squares += float64(v) * float64(v)
			if got, want := s.Location(v), s.OnScale(float64(y[i])); math.Abs(got-want) > 1e-5*want {
				t.Fatalf("%v: got location %g for %g, want %g", transform, got, y[i], want)
			}
		}
		n := float64(len(z))
		checkNear(t, transform.String()+" mean", sum/n, 0, 1e-4)
		checkNear(t, transform.String()+" mean square", squares/n, 1, 1e-3)
	}
}

func TestCountScale(t *testing.T) {
	t.Parallel()
	y := []float32{0, 1, 5}
	s, err := NewCountScale(y, []float32{1, 1, 2}, nil)
	if want := (Scale{Transform: LogRate, Center: math.Log(2.75), Spread: 1}); err != nil || s != want {
		t.Fatalf("got %+v, %v, want %+v", s, err, want)
	}
	z := make([]float32, len(y))
	if err := s.Forward(z, y); err != nil || z[2] != 5 {
		t.Errorf("got %v, %v, want the counts unchanged", z, err)
	}
	checkNear(t, "prediction on scale", s.PredictionOnScale(0), math.Log1p(2.75), 1e-12)
	checkNear(t, "target on scale", s.OnScale(5), math.Log1p(5), 0)
}

func TestScaleErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		transform Transform
		y, w      []float32
		position  int // of a DomainError; -1 for a ConstantError
		path      string
		text      string
	}{
		{"log1p", Log1p, []float32{1, 2, -1}, nil, 2, "transform", "requires values above -1"},
		{"cbrt1p", Cbrt1p, []float32{1, -1, -1.5}, nil, 2, "transform", "requires values of -1 or more"},
		{"sqrt", Sqrt, []float32{1, -2, 1}, nil, 1, "transform", "the target -2 is outside the domain of transform sqrt, which requires values of 0 or more; correct the value, or use transform identity"},
		{"negative count", LogRate, []float32{1, -2, 1}, nil, 1, "uncertainty.likelihood", "the target -2 is not a count"},
		{"fractional count", LogRate, []float32{1.5}, nil, 0, "uncertainty.likelihood", "use likelihood gaussian"},
		{"constant", Identity, []float32{3, 3, 3}, nil, -1, "data.target", "the target is 3 in all 3 training rows"},
		{"one row", Identity, []float32{3}, nil, -1, "data.target", "nothing to learn"},
		{"large constant", Identity, []float32{1e7, 1e7}, nil, -1, "data.target", "nothing to learn"},
		{"constant except for weight 0", Identity, []float32{1, 2}, []float32{1, 0}, -1, "data.target", "nothing to learn"},
	} {
		_, err := NewScale(c.transform, c.y, c.w)
		var domain *DomainError
		var constant *ConstantError
		switch {
		case c.position < 0 && !errors.As(err, &constant):
			t.Errorf("%s: got %v, want a ConstantError", c.name, err)
		case c.position >= 0 && (!errors.As(err, &domain) || domain.Position != c.position):
			t.Errorf("%s: got %v, want a DomainError at %d", c.name, err, c.position)
		case !strings.Contains(err.Error(), c.text):
			t.Errorf("%s: got %q, want %q in it", c.name, err, c.text)
		}
		if got := fielderr.Path(err); got != c.path {
			t.Errorf("%s: got path %q, want %q", c.name, got, c.path)
		}
		if got := CheckDomain(c.transform, c.y); (got != nil) != (c.position >= 0) {
			t.Errorf("%s: got %v from CheckDomain", c.name, got)
		}
	}
}

func TestScaleJSON(t *testing.T) {
	t.Parallel()
	for _, transform := range []Transform{Identity, Log1p, Sqrt, Cbrt1p, LogRate} {
		want := Scale{Transform: transform, Center: 1.5, Spread: 2}
		text, err := json.Marshal(want)
		if form := `{"transform":"` + transform.String() + `","center":1.5,"spread":2}`; err != nil || string(text) != form {
			t.Errorf("got %s, %v, want %s", text, err, form)
		}
		var got Scale
		if err := json.Unmarshal(text, &got); err != nil || got != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
	var s Scale
	if err := json.Unmarshal([]byte(`{"transform":"tanh"}`), &s); err == nil || !strings.Contains(err.Error(), `unknown transform "tanh"`) {
		t.Errorf("unknown transform: got %v", err)
	}
}

func TestParseTransform(t *testing.T) {
	t.Parallel()
	for _, name := range Transforms() {
		if got, err := ParseTransform(name); err != nil || got.String() != name {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
	for _, name := range []string{"", "log", "log-rate"} {
		if got, err := ParseTransform(name); err == nil {
			t.Errorf("%q: got %v, want an error", name, got)
		}
	}
}

func TestTransformInverse(t *testing.T) {
	t.Parallel()
	for _, transform := range []Transform{Identity, Log1p, Sqrt, Cbrt1p} {
		for _, y := range []float64{0, 0.5, 3, 1e4} {
			checkNear(t, transform.String()+" inverse", transform.Inverse(transform.Forward(y)), y, 1e-12*max(y, 1))
		}
		if got := transform.Forward(-2); transform != Identity && !math.IsInf(got, -1) {
			t.Errorf("%v of -2: got %g, want -Inf", transform, got)
		}
	}
}

func TestTargetText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value float64
		want  string
	}{{float64(float32(19.13)), "19.13"}, {19.13, "19.13"}, {-3, "-3"}, {123456789.25, "123456789.25"}, {float64(float32(1234567.9)) + 0.01499, "1234567.88999"}, {math.Inf(1), "+Inf"}} {
		if got := TargetText(c.value); got != c.want {
			t.Errorf("TargetText(%v) = %s, want %s", c.value, got, c.want)
		}
	}
	if got := (&DomainError{Transform: Log1p, Value: float64(float32(-19.13))}).Error(); !strings.HasPrefix(got, "the target -19.13 is outside") {
		t.Errorf("got error %q, want the value as it was written", got)
	}
}

func checkNear(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: got %g, want %g within %g", what, got, want, tolerance)
	}
}
