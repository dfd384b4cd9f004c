package search

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// matrixSpec writes a table whose value is u(a)' M(b) w(c) with a 3 x 3 matrix per b, so
// that only the order with b inside describes it at rank 3.
func matrixSpec(t *testing.T, seed uint64) spec.Spec {
	t.Helper()
	const rank, na, nb, nc = 3, 20, 12, 20
	r := rand.New(rand.NewPCG(seed, 1))
	draw := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		return x
	}
	u, m, w := draw(na*rank), draw(nb*rank*rank), draw(nc*rank)
	var text strings.Builder
	text.WriteString("a,b,c,y\n")
	for i := range na {
		for j := range nb {
			for k := range nc {
				if r.Float64() < 0.4 {
					continue
				}
				y := 0.3 * r.NormFloat64()
				for p := range rank {
					for q := range rank {
						y += u[i*rank+p] * m[(j*rank+p)*rank+q] * w[k*rank+q]
					}
				}
				fmt.Fprintf(&text, "a%d,b%d,c%d,%.4f\n", i, j, k, y)
			}
		}
	}
	file := filepath.Join(t.TempDir(), "matrix.csv")
	writeFile(t, file, text.String())
	return spec.Spec{Data: spec.Data{Files: []string{file}, Target: "y", Modes: []string{"a", "b", "c"}}, Terms: []string{"a", "b,a,c:3"}, Fit: spec.Fit{Sweeps: 15}}
}

// An automatic order is the one with the right mode inside; the given order stays by
// default.
func TestChooseOrder(t *testing.T) {
	t.Parallel()
	for _, inference := range []string{"map", "mean-field"} {
		s := matrixSpec(t, 1)
		s.Uncertainty.Inference = inference
		given, before := mustFit(t, s, train.Options{Threads: 1})
		if got := given.Spec(); got.Order != "given" || got.Terms[1] != "b,a,c:3" || len(before.Orders) > 0 {
			t.Errorf("%s: got order %s, terms %q, choices %v; want those given", inference, got.Order, got.Terms, before.Orders)
		}
		s.Order = "auto"
		m, r := mustFit(t, s, train.Options{Threads: 1})
		if got := m.Spec(); got.Order != "given" || got.Terms[0] != "a" || got.Terms[1] != "c,b,a:3" && got.Terms[1] != "a,b,c:3" {
			t.Errorf("%s: got order %s, terms %q; want b inside", inference, got.Order, got.Terms)
		}
		if r.Test.R2 < before.Test.R2+0.1 {
			t.Errorf("%s: got test R2 %.3f, and %.3f for the given order; want a gain", inference, r.Test.R2, before.Test.R2)
		}
		var taken []model.OrderChoice
		for _, c := range m.Record().Orders {
			if c.Taken {
				taken = append(taken, c)
			}
		}
		if n := len(m.Record().Orders); n != 3 || len(taken) != 1 || taken[0].Term != 2 {
			t.Errorf("%s: got %d choices, taken %v; want 3 of term 2, one taken", inference, n, taken)
		}
		// The choice leaves the fit as it is with that order.
		s.Order, s.Terms = "given", m.Spec().Terms
		if _, again := mustFit(t, s, train.Options{Threads: 1}); again.Test.R2 != r.Test.R2 {
			t.Errorf("%s: got test R2 %v with the chosen order given, want %v", inference, again.Test.R2, r.Test.R2)
		}
	}
}

func TestChooseOrderWithScale(t *testing.T) {
	t.Parallel()
	s := matrixSpec(t, 2)
	s.Order, s.Transform = "auto", "auto"
	m, r := mustFit(t, s, train.Options{Threads: 1})
	if got := m.Spec(); got.Transform != "identity" || !strings.Contains(got.Terms[1], ",b,") || len(r.Orders) != 3 || len(r.Choices) != 4 {
		t.Errorf("got scale %s, terms %q, %d orders and %d scales", got.Transform, got.Terms, len(r.Orders), len(r.Choices))
	}
	s.Split = "random:80/0/20"
	if _, _, err := Fit(t.Context(), s, tableio.Source{}, train.Options{}); fielderr.Path(err) != "split" {
		t.Errorf("no validation set: got error %v", err)
	}
	s.Terms, s.Transform = []string{"a", "b,c:2"}, "identity" // nothing to choose
	mustFit(t, s, train.Options{Threads: 1})
}
