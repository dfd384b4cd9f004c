package division_test

import (
	"math"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/solver/division"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/entity"
	"github.com/kernel-fried-tensor/kft/tt/regression"
)

type operator struct {
	rows, columns int
	matrix        []float32
}

func (o operator) Rows() int         { return o.rows }
func (o operator) Columns() int      { return o.columns }
func (o operator) Matrix() []float32 { return o.matrix }

// newCore returns an additive core of n entities and slices of two entries with G = A W + V',
// all of it in V', and the true W. Entities of the second half are rare and higher by 1.
func newCore(t *testing.T, n, columns int, rare float32) (*tt.Core, []float32) {
	t.Helper()
	rng := randstream.New(1, "division")
	o := operator{rows: n, columns: columns, matrix: make([]float32, n*columns)}
	for i := range o.matrix {
		o.matrix[i] = float32(rng.NormFloat64())
		if i%columns == 0 {
			o.matrix[i] = 1
		}
	}
	codes := make([]int32, n)
	for i := range codes {
		codes[i] = int32(i)
	}
	x, err := entity.NewAxisIndex(1, []entity.Axis{{Mode: 0, Size: n}}, [][]int32{codes})
	if err != nil {
		t.Fatal(err)
	}
	c := tt.NewTrain([][]string{{"item"}, {"store"}}, []*entity.Index{x, x}, []int{2}).Cores[0]
	m, err := regression.NewLinearMap(x, []regression.Operator{o}, 2)
	if err != nil {
		t.Fatal(err)
	}
	trained := make([]bool, n+1)
	for e := range n {
		trained[e] = true
	}
	c.Regress(tt.Additive, m, trained)
	if err := c.SetFamily(tt.MeanField, true); err != nil {
		t.Fatal(err)
	}
	c.FreePosterior.PriorVar[0], c.WeightPosterior.PriorVar[0] = 1, 1
	want := make([]float32, columns*2)
	for i := range want {
		want[i] = float32(rng.NormFloat64())
	}
	c.Rows = make([]float32, n+1)
	for e := range n {
		c.Rows[e] = 100
		shift := float32(0)
		if e >= n/2 {
			c.Rows[e], shift = rare, 1
		}
		for k := range 2 {
			g := shift + 0.1*float32(rng.NormFloat64())
			for j := range columns {
				g += o.matrix[e*columns+j] * want[j*2+k]
			}
			c.Free[e*2+k] = g
		}
	}
	return c, want
}

// The regression finds the weights of frequent entities, the slices stay, and the prior
// variance is that of the weights.
func TestImprove(t *testing.T) {
	t.Parallel()
	b := backend.Backend(cpu.New(cpu.Generic, 1))
	for _, rare := range []float32{1, 100} {
		c, want := newCore(t, 200, 4, rare)
		c.Refresh(b, true)
		before := append([]float32(nil), c.Slices.Mean[:400]...)
		prior := new(division.Divider).Improve(b, c)
		if prior < 0.1 || prior > 5 {
			t.Errorf("rare %g: got prior variance %g", rare, prior)
		}
		for i, g := range before {
			if d := math.Abs(float64(c.Slices.Mean[i] - g)); d > 1e-5 {
				t.Fatalf("rare %g: slice entry %d moved by %g", rare, i, d)
			}
		}
		for i, w := range want {
			if i < 2 && rare == 100 {
				w += 0.5 // all entities count alike
			}
			if d := math.Abs(float64(c.Weight[i] - w)); d > 0.15 {
				t.Errorf("rare %g: got weight %d %.3f, want %.3f", rare, i, c.Weight[i], w)
			}
		}
	}
	c, _ := newCore(t, 50, 4, 1)
	c.Rows = nil
	if new(division.Divider).Improve(b, c) != 0 {
		t.Error("a core without numbers of rows is divided")
	}
}

// The variance of an entity without rows is that about a regression that it did not help to
// determine: with 40 columns for 100 entities about twice what the residuals show.
func TestImproveUnseen(t *testing.T) {
	t.Parallel()
	b := backend.Backend(cpu.New(cpu.Generic, 1))
	c, want := newCore(t, 100, 40, 100)
	c.Refresh(b, true)
	new(division.Divider).Improve(b, c)
	for k := range 2 {
		truth, residual := 0.25+0.01, 0.0
		for j := range 40 {
			d := float64(c.Weight[j*2+k] - want[j*2+k])
			if j == 0 {
				d -= 0.5
			}
			truth += d * d
		}
		for e := range 100 {
			residual += float64(c.Free[e*2+k]*c.Free[e*2+k]) / 100
		}
		got := float64(c.FreePosterior.Var[200+k])
		if math.Abs(got/truth-1) > 0.25 || residual > 0.6*truth {
			t.Errorf("entry %d: got variance %.3f, want %.3f; residuals have %.3f", k, got, truth, residual)
		}
	}
}

// What a divider keeps of a core does not change its results: the second division of other
// slices is that of a new divider.
func TestImproveAgain(t *testing.T) {
	t.Parallel()
	b := backend.Backend(cpu.New(cpu.Generic, 1))
	var kept division.Divider
	again, _ := newCore(t, 100, 4, 10)
	once, _ := newCore(t, 100, 4, 10)
	again.Refresh(b, true)
	kept.Improve(b, again)
	for _, c := range []*tt.Core{again, once} {
		for i := range c.Free {
			c.Free[i] = float32(i % 7)
		}
		clear(c.Weight)
		c.Refresh(b, true)
	}
	got, want := kept.Improve(b, again), new(division.Divider).Improve(b, once)
	if got != want {
		t.Errorf("got prior variance %g, want %g", got, want)
	}
	for i, w := range once.Weight {
		if again.Weight[i] != w {
			t.Fatalf("got weight %d %g, want %g", i, again.Weight[i], w)
		}
	}
	for k, v := range once.FreePosterior.Unseen {
		if again.FreePosterior.Unseen[k] != v {
			t.Errorf("got variance %d of new entities %g, want %g", k, again.FreePosterior.Unseen[k], v)
		}
	}
}
