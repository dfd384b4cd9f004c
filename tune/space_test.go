package tune

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/stream"
)

// mixed has a parameter of each kind.
func mixed() Space {
	return Space{
		{Name: "kernel", Kind: Choice, Choices: []string{"rbf", "matern32", "periodic:12"}},
		{Name: "depth", Kind: Integer, Low: -2, High: 5},
		{Name: "rank", Kind: LogInteger, Low: 1, High: 64},
		{Name: "share", Kind: Uniform, Low: 0, High: 0.9},
		{Name: "lambda", Kind: LogUniform, Low: 1e-4, High: 100},
	}
}

func TestValuesAndPointsAgree(t *testing.T) {
	space, draw := mixed(), stream.New(1, "test")
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
					t.Fatalf("%s: %v came back as %v", p.Name, u[i], point[i])
				}
				continue
			}
			seen[p.Name+"="+values[p.Name]] = true
			if again[p.Name] != values[p.Name] {
				t.Fatalf("%s: %q came back as %q", p.Name, values[p.Name], again[p.Name])
			}
		}
		if r := values.Int("rank"); r < 1 || r > 64 {
			t.Fatalf("rank %d", r)
		}
		if l := values.Float("lambda"); l < 1e-4 || l > 100 {
			t.Fatalf("lambda %v", l)
		}
	}
	if len(seen) != 3+8+64 {
		t.Errorf("%d values of choices and integers were met, of 75", len(seen))
	}
	for _, edge := range []float64{0, 1} {
		values := space.values(slices.Repeat([]float64{edge}, len(space)))
		if _, err := space.point(values); err != nil {
			t.Errorf("at %v: %v", edge, err)
		}
	}
}

func TestSpaceRefuses(t *testing.T) {
	for _, c := range []struct {
		space Space
		want  string
	}{
		{nil, "empty"},
		{Space{{Name: "a: b", Kind: Uniform, High: 1}}, `"a: b" is no name`},
		{Space{{Name: "a\nb", Kind: Uniform, High: 1}}, "is no name"},
		{Space{{Name: "a", Kind: Uniform, High: 1}, {Name: "a", Kind: Uniform, High: 1}}, "twice"},
		{Space{{Name: "a", Kind: "normal", High: 1}}, "no kind"},
		{Space{{Name: "a", Kind: Choice}}, "something to choose"},
		{Space{{Name: "a", Kind: Choice, Choices: []string{"x", "x"}}}, "twice"},
		{Space{{Name: "a", Kind: Uniform, Low: 1, High: 1}}, "nothing between"},
		{Space{{Name: "a", Kind: Uniform, Low: 0, High: math.Inf(1)}}, "not finite"},
		{Space{{Name: "a", Kind: Uniform, Low: math.NaN(), High: 1}}, "not finite"},
		{Space{{Name: "a", Kind: Integer, Low: 0.5, High: 2}}, "whole"},
		{Space{{Name: "a", Kind: LogUniform, Low: 0, High: 2}}, "above 0"},
		{Space{{Name: "a", Kind: LogInteger, Low: 0, High: 2}}, "1 or more"},
	} {
		if err := c.space.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want %q", c.space, err, c.want)
		}
	}
	if err := mixed().Validate(); err != nil {
		t.Error(err)
	}
}
