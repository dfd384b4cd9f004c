package search

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/internal/testtable"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/predictive"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/train"
)

// levels returns rows of three modes whose targets are a function of a level, the sum of
// their effects.
func levels(n int, target func(level float64, rng *rand.Rand) float64) solver.Observations {
	rng := randstream.New(1, "levels")
	sizes := []int{30, 40, 12}
	var effect [3][]float64
	for m, size := range sizes {
		for range size {
			effect[m] = append(effect[m], rng.NormFloat64())
		}
	}
	o := solver.Observations{Codes: make([][]int32, 3)}
	for range n {
		level := 0.0
		for m, size := range sizes {
			c := rng.IntN(size)
			o.Codes[m] = append(o.Codes[m], int32(c))
			level += effect[m][c]
		}
		y := target(level, rng)
		o.Y, o.Low = append(o.Y, float32(y)), append(o.Low, float32(y-float64(float32(y))))
	}
	return o
}

// TestEstimatedPower checks the power for targets whose scale is known.
func TestEstimatedPower(t *testing.T) {
	t.Parallel()
	logNormal := func(f float64, rng *rand.Rand) float64 { return math.Exp(0.6*f + 0.4*rng.NormFloat64()) }
	for i, c := range []struct {
		name      string
		low, high float64
		target    func(level float64, rng *rand.Rand) float64
	}{
		{"log-normal", 0, 0.1, logNormal},
		{"small units", 0, 0.1, func(f float64, rng *rand.Rand) float64 { return 1e-3 * logNormal(f, rng) }},
		{"large units", 0, 0.1, func(f float64, rng *rand.Rand) float64 { return 1e6 * logNormal(f, rng) }},
		{"normal of both signs", 1, 1, func(f float64, rng *rand.Rand) float64 { return f + rng.NormFloat64() }},
		{"normal far from 0", 1, 1, func(f float64, rng *rand.Rand) float64 { return 200 + f + rng.NormFloat64() }},
		{"normal too far from 0 for float32", 1, 1, func(f float64, rng *rand.Rand) float64 { return 1e10 + f + rng.NormFloat64() }},
		{"square of a normal", 0.35, 0.75, func(f float64, rng *rand.Rand) float64 { return math.Pow(max(6+f+rng.NormFloat64(), 0), 2) }},
		{"log-normal with returns", 0.1, 0.5, func(f float64, rng *rand.Rand) float64 {
			y := 20 * logNormal(f, rng)
			if rng.Float64() < 0.03 {
				y *= -0.5
			}
			return y
		}},
	} {
		rows := levels(3000, c.target)
		found, err := estimatePower(t.Context(), rows, 1, 2)
		if err != nil || !(found.Power >= c.low && found.Power <= c.high) {
			t.Errorf("%s: got %+v, %v, want a power from %g to %g", c.name, found, err, c.low, c.high)
		}
		if i > 0 {
			continue
		}
		again, err := estimatePower(t.Context(), rows, 1, 1)
		if err != nil || again.Power != found.Power || again.Tried[3] != found.Tried[3] {
			t.Errorf("%s: another number of threads gives %+v", c.name, again)
		}
	}
}

// TestPowerWeights checks that rows of weight 0 or nearly 0 have no effect.
func TestPowerWeights(t *testing.T) {
	t.Parallel()
	rows := levels(4000, func(f float64, rng *rand.Rand) float64 {
		if rng.Float64() < 0.5 {
			return 10 + f + rng.NormFloat64()
		}
		return math.Exp(3*f + 0.4*rng.NormFloat64())
	})
	rows.W = make([]float32, rows.Len())
	for i, y := range rows.Y {
		rows.W[i] = 1e-6
		if y > 4 && y < 16 {
			rows.W[i] = 1
		}
	}
	weighted, err := estimatePower(t.Context(), rows, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	rows.W = nil
	plain, err := estimatePower(t.Context(), rows, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	if !(weighted.Power > plain.Power+0.3) {
		t.Errorf("the power is %g with the weights of the normal rows, %g without", weighted.Power, plain.Power)
	}
}

// TestFitPower checks that a fit estimates the power, that the model's specification and
// record have it, and that a file keeps it.
func TestFitPower(t *testing.T) {
	t.Parallel()
	s := salesSpec(testtable.WriteSales(t, 1500))
	s.Transform = "power"
	m, r := mustFit(t, s, train.Options{})
	if r.Power == nil || r.Power.Rows != 900 || r.Power.Unit < 1 || r.Power.Power > 0.5 || len(r.Power.Tried) != 11 {
		t.Fatalf("got the estimate %+v", r.Power)
	}
	want := predictive.Power(r.Power.Power, 1).Name()
	if m.Spec().Transform != want || r.Spec.Transform != want || m.Record().Power == nil || m.Scale().Transform != predictive.Power(r.Power.Power, r.Power.Unit) {
		t.Errorf("got a model with scale %s, unit %g, want %s", m.Spec().Transform, m.Scale().Transform.Unit(), want)
	}
	file := filepath.Join(t.TempDir(), "m.kft")
	if err := m.Save(file); err != nil {
		t.Fatal(err)
	}
	loaded, err := model.Load(file)
	if err != nil || loaded.Scale() != m.Scale() || loaded.Record().Power.Power != r.Power.Power {
		t.Errorf("loaded %+v, %v, want %+v", loaded, err, m.Scale())
	}
	// The specification of the model gives the same model without an estimate.
	fixed, r2 := mustFit(t, m.Spec(), train.Options{})
	var a, b bytes.Buffer
	for _, w := range []struct {
		m *model.Model
		b *bytes.Buffer
	}{{m.WithRecord(model.Record{}), &a}, {fixed.WithRecord(model.Record{}), &b}} {
		if _, err := w.m.WriteTo(w.b); err != nil {
			t.Fatal(err)
		}
	}
	if r2.Power != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("the resolved specification gives another model")
	}
	s.Transform = "identity"
	if _, identity := mustFit(t, s, train.Options{}); !(r.Test.MAE < identity.Test.MAE) {
		t.Errorf("MAE is %g on the estimated scale, %g on identity", r.Test.MAE, identity.Test.MAE)
	}
}

// TestFitPowerConstant checks the error for a target without variation.
func TestFitPowerConstant(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("a,b,y\n")
	for i := range 100 {
		fmt.Fprintf(&text, "a%d,b%d,3\n", i%10, i/10)
	}
	file := filepath.Join(t.TempDir(), "c.csv")
	writeFile(t, file, text.String())
	s := salesSpec(file)
	s.Data.Target, s.Data.Modes, s.Terms, s.Transform = "y", []string{"a", "b"}, nil, "power"
	_, _, err := Fit(t.Context(), s, tableio.Source{}, train.Options{})
	if fielderr.Path(err) != "data.target" {
		t.Errorf("got %v, want an error about data.target", err)
	}
}

// A record holds no infinite numbers: candidates whose distributions have no mean have no CRPS in it.
func TestFinite(t *testing.T) {
	t.Parallel()
	for _, crps := range []float64{math.Inf(1), math.NaN()} {
		if got := finite(crps); got != nil {
			t.Errorf("got %g for %g, want none", *got, crps)
		}
	}
	if got := finite(2); got == nil || *got != 2 {
		t.Errorf("got %v, want 2", got)
	}
}
