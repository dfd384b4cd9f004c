package tt_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend/ref"
	"github.com/kernel-fried-tensor/kft/internal/gradcheck"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/entity"
	"github.com/kernel-fried-tensor/kft/tt/regression"
)

// regress turns the cores that have side information into a variant.
func regress(t *testing.T, f *tt.Field, terms []grouping, v tt.Variant, rng *rand.Rand) {
	t.Helper()
	for k, g := range terms {
		for p, core := range g.cores {
			c := f.Terms[k].Cores[p]
			ops := sideOf(rng, core)
			if len(ops) == 1 && ops[0] == nil {
				continue
			}
			m, err := regression.NewLinearMap(c.Index, ops, c.Slices.Slice())
			if err != nil {
				t.Fatal(err)
			}
			trained := make([]bool, c.Slices.N)
			for e := range trained {
				trained[e] = e < (c.Slices.N-1)*4/5 // trained entities come first
			}
			c.Regress(v, m, trained)
		}
		f.Terms[k].Initialize(ref.Backend{}, rng, 1)
	}
}

var variants = []tt.Variant{tt.Side, tt.WLR, tt.Additive}

// The gradient of every block, through its map and multiplier, agrees with central
// differences for every variant and form of field.
func TestBlockGradients(t *testing.T) {
	t.Parallel()
	for name, terms := range fields {
		for _, v := range variants {
			rng := rand.New(rand.NewPCG(5, 5))
			codes := cells(rng, 60)
			f := build(t, terms, codes, rng)
			if len(terms) > 1 {
				f.Group = []int{0, 0, 1} // a product of two terms plus a third
			}
			regress(t, f, terms, v, rng)
			b := ref.Backend{}
			chunk := f.NewChunk(b, codes)
			adjoint := normal(rng, 60, 1).a
			mean := make([]float32, 60)
			value := func() float64 {
				for _, term := range f.Terms {
					for _, c := range term.Cores {
						c.Refresh(b, true)
					}
				}
				f.Eval(b, tt.Moments{Mean: mean}, chunk)
				sum := 0.0
				for i := range mean {
					sum += float64(adjoint[i]) * float64(mean[i])
				}
				return sum
			}
			value()
			pull := f.Eval(b, tt.Moments{Mean: mean}, chunk)
			grad := f.NewGradients()
			pull(adjoint, grad)
			for k, term := range f.Terms {
				for p, c := range term.Cores {
					for _, block := range c.Blocks() {
						value() // restores the slices that the previous check changed
						g := append([]float32(nil), grad[k][p].Mean...)
						dst := make([]float32, len(block.Value))
						block.Adjoint(b, dst, g, false)
						maskUntrained(c, block, dst)
						what := fmt.Sprintf("%s %s term %d %s", name, v, k, block.Name)
						gradcheck.Check(t, what, block.Value, dst, func() float64 { return value() }, 0.25, 1<<20, 2e-3)
					}
				}
			}
		}
	}
}

// maskUntrained clears the gradient of free slices that take the prior, because they
// are not weights. It adds their gradient to that of the trained slices whose mean
// they are.
func maskUntrained(c *tt.Core, b tt.Block, g []float32) {
	if b.Map != nil || c.Trained == nil {
		return
	}
	size := c.Slices.Slice()
	n := c.Slices.N - 1
	trained := 0
	sum := make([]float32, size)
	for e := range c.Slices.N {
		if e < n && c.Trained[e] {
			trained++
			continue
		}
		for k := range size {
			sum[k] += g[e*size+k]
			g[e*size+k] = 0
		}
	}
	for e := range n {
		if c.Trained[e] && c.Variant != tt.WLR { // for wlr the prior is 1, independent of the others
			for k := range size {
				g[e*size+k] += sum[k] / float32(trained)
			}
		}
	}
}

// An entity without training data takes V' = 1 if that is the prior mean, so its
// slice is its regression. In a coupled core it takes the mean of the others, so
// that moving scale between V' and W changes nothing.
func TestPriorOfWeightedRegression(t *testing.T) {
	t.Parallel()
	for _, coupled := range []bool{false, true} {
		x, err := entity.RestoreIndex([]int{0}, []int{3}, []int32{0, 1, 2})
		if err != nil {
			t.Fatal(err)
		}
		train := tt.NewTrain([][]string{{"store"}}, []*entity.Index{x}, nil)
		c := train.Cores[0]
		m, err := regression.NewLinearMap(x, []regression.Operator{identity(3)}, 1)
		if err != nil {
			t.Fatal(err)
		}
		c.Regress(tt.WLR, m, []bool{true, true, false, false})
		c.Coupled = coupled
		field := &tt.Field{Terms: []*tt.Train{train}}
		at := func(scale float32) []float32 {
			copy(c.Free, []float32{2 * scale, 6 * scale})
			copy(c.Weight, []float32{3 / scale, 5 / scale, 7 / scale})
			c.Refresh(ref.Backend{}, true)
			got := make([]float32, 3)
			field.Evaluate(ref.Backend{}, got, [][]int32{{0, 2, entity.Unknown}})
			return got
		}
		want := []float32{6, 7, 4} // the last: mean of the regressions of trained entities
		if coupled {
			want = []float32{6, 28, 16}
			if got := at(4); !slices.Equal(got, want) {
				t.Errorf("coupled, another scale: got %v, want %v", got, want)
			}
		}
		if got := at(1); !slices.Equal(got, want) {
			t.Errorf("coupled %v: got %v, want %v", coupled, got, want)
		}
	}
}
