package tune

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

// mixed returns a space with one parameter of each kind.
func mixed() Space {
	return Space{
		{Name: "kernel", Kind: Choice, Choices: []string{"rbf", "matern32", "periodic:12"}},
		{Name: "depth", Kind: Integer, Low: -2, High: 5},
		{Name: "rank", Kind: LogInteger, Low: 1, High: 64},
		{Name: "share", Kind: Uniform, Low: 0, High: 0.9},
		{Name: "lambda", Kind: LogUniform, Low: 1e-4, High: 100},
	}
}

func TestValuesAndPointsRoundTrip(t *testing.T) {
	space, draw := mixed(), randstream.New(1, "test")
	seen := map[string]bool{}
	for range 2000 {
		u := make([]float64, len(space))
		for i := range u {
			u[i] = draw.Float64()
		}
		values := space.values(u)
		point, err := space.point(values)
		if err != nil {
			t.Fatal(err)
		}
		again := space.values(point)
		for i, p := range space {
			if p.Kind == Uniform || p.Kind == LogUniform {
				if math.Abs(point[i]-u[i]) > 1e-12 {
					t.Fatalf("%s: got %v, want %v", p.Name, point[i], u[i])
				}
				continue
			}
			seen[p.Name+"="+values[p.Name]] = true
			if again[p.Name] != values[p.Name] {
				t.Fatalf("%s: got %q, want %q", p.Name, again[p.Name], values[p.Name])
			}
		}
		if r := values.Int("rank"); r < 1 || r > 64 {
			t.Fatalf("rank %d outside 1 to 64", r)
		}
		if l := values.Float("lambda"); l < 1e-4 || l > 100 {
			t.Fatalf("lambda %v outside 1e-4 to 100", l)
		}
	}
	if len(seen) != 3+8+64 {
		t.Errorf("got %d distinct values of choices and integers, want 75", len(seen))
	}
	for _, edge := range []float64{0, 1} {
		values := space.values(slices.Repeat([]float64{edge}, len(space)))
		if _, err := space.point(values); err != nil {
			t.Errorf("at %v: %v", edge, err)
		}
	}
}

func TestSpaceValidate(t *testing.T) {
	for _, c := range []struct {
		space Space
		want  string
	}{
		{nil, "empty"},
		{Space{{Name: "a: b", Kind: Uniform, High: 1}}, `invalid parameter name "a: b"`},
		{Space{{Name: "a\nb", Kind: Uniform, High: 1}}, "invalid parameter name"},
		{Space{{Name: "a", Kind: Uniform, High: 1}, {Name: "a", Kind: Uniform, High: 1}}, "twice"},
		{Space{{Name: "a", Kind: "normal", High: 1}}, "unknown kind"},
		{Space{{Name: "a", Kind: Choice}}, "at least one value"},
		{Space{{Name: "a", Kind: Choice, Choices: []string{"x", "x"}}}, "twice"},
		{Space{{Name: "a", Kind: Uniform, Low: 1, High: 1}}, "is empty"},
		{Space{{Name: "a", Kind: Uniform, Low: 0, High: math.Inf(1)}}, "not finite"},
		{Space{{Name: "a", Kind: Uniform, Low: math.NaN(), High: 1}}, "not finite"},
		{Space{{Name: "a", Kind: Integer, Low: 0.5, High: 2}}, "not integers"},
		{Space{{Name: "a", Kind: LogUniform, Low: 0, High: 2}}, "above 0"},
		{Space{{Name: "a", Kind: LogInteger, Low: 0, High: 2}}, "at least 1"},
	} {
		if err := c.space.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got error %v, want one with %q", c.space, err, c.want)
		}
	}
	if err := mixed().Validate(); err != nil {
		t.Error(err)
	}
}
