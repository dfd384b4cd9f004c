package model

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
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
			if on := s.OnScale(float64(y[i])); math.Abs(on-s.Level(v)) > 1e-5*on {
				t.Fatalf("%s: %g is %g on the scale, and %g by its level", transform, y[i], on, s.Level(v))
			}
		}
		n := float64(len(z))
		if math.Abs(sum/n) > 1e-4 || math.Abs(squares/n-1) > 1e-3 {
			t.Errorf("%s: mean %g, mean square %g", transform, sum/n, squares/n)
		}
	}
}

func TestScaleRefuses(t *testing.T) {
	var domain *DomainError
	if _, err := NewScale("log1p", []float32{1, 2, -1}, nil); !errors.As(err, &domain) || domain.Position != 2 {
		t.Errorf("log1p of -1: %v", err)
	}
	if _, err := NewScale("cbrt1p", []float32{1, -1, -1.5}, nil); !errors.As(err, &domain) || domain.Position != 2 || !strings.Contains(err.Error(), "-1 or more") {
		t.Errorf("cbrt1p of -1.5: %v", err)
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
