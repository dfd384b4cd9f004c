package model

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

func TestScaleStandardises(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, transform := range Transforms() {
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
			if back := s.Median(v); math.Abs(back-float64(y[i])) > 1e-5*float64(y[i]) {
				t.Fatalf("%s: %g came back as %g", transform, y[i], back)
			}
		}
		n := float64(len(z))
		if math.Abs(sum/n) > 1e-4 || math.Abs(squares/n-1) > 1e-3 {
			t.Errorf("%s: mean %g, mean square %g", transform, sum/n, squares/n)
		}
	}
}

// The mean goes back by the distribution: against draws from it.
func TestScaleMeanIsTheMean(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for _, transform := range Transforms() {
		s := Scale{Transform: transform, Center: 2, Spread: 0.5, Noise: 0.3}
		const z = 0.7
		sum := 0.0
		const draws = 400000
		for range draws {
			g := s.Level(z) + math.Sqrt(s.Noise)*rng.NormFloat64()
			switch transform {
			case "log1p":
				sum += math.Expm1(g)
			case "sqrt":
				sum += g * g
			default:
				sum += g
			}
		}
		if got, want := s.Mean(z), sum/draws; math.Abs(got-want) > 0.01*want {
			t.Errorf("%s: mean %g, draws %g", transform, got, want)
		}
	}
}

func TestScaleRefuses(t *testing.T) {
	var domain *DomainError
	if _, err := NewScale("log1p", []float32{1, 2, -1}, nil); !errors.As(err, &domain) || domain.Position != 2 {
		t.Errorf("log1p of -1: %v", err)
	}
	if _, err := NewScale("sqrt", []float32{1, -2, 1}, nil); !errors.As(err, &domain) || domain.Position != 1 {
		t.Errorf("sqrt of -2: %v", err)
	}
	var constant *ErrConstant
	for _, y := range [][]float32{{3, 3, 3}, {3}, {1e7, 1e7}} {
		if _, err := NewScale("identity", y, nil); !errors.As(err, &constant) {
			t.Errorf("constant target %v: %v", y, err)
		}
	}
	if _, err := NewScale("identity", []float32{1, 2}, []float32{1, 0}); !errors.As(err, &constant) {
		t.Errorf("constant but for weight 0: %v", err)
	}
}
