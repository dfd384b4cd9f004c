package tt_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/ref"
	"github.com/kernel-fried-tensor/kft/internal/gradcheck"
	"github.com/kernel-fried-tensor/kft/tt"
)

// matrix is an operator given by its entries.
type matrix struct {
	n, m int
	a    []float32
}

func (o matrix) Rows() int         { return o.n }
func (o matrix) Columns() int      { return o.m }
func (o matrix) Matrix() []float32 { return o.a }

func normal(rng *rand.Rand, n, m int) matrix {
	o := matrix{n, m, make([]float32, n*m)}
	for i := range o.a {
		o.a[i] = float32(rng.NormFloat64())
	}
	return o
}

func identity(n int) matrix {
	o := matrix{n, n, make([]float32, n*n)}
	for i := range n {
		o.a[i*n+i] = 1
	}
	return o
}

// sideOf returns the operators of a core's modes: every mode but month has one.
func sideOf(rng *rand.Rand, core []int) []tt.Operator {
	var ops []tt.Operator
	for _, m := range core {
		if modes[m] == "month" {
			ops = append(ops, nil)
			continue
		}
		ops = append(ops, normal(rng, sizes[m], 3))
	}
	return ops
}

// regress turns the cores of a field that have side information into a variant.
func regress(t *testing.T, f *tt.Field, terms []grouping, v tt.Variant, rng *rand.Rand) {
	t.Helper()
	for k, g := range terms {
		for p, core := range g.cores {
			c := f.Terms[k].Cores[p]
			ops := sideOf(rng, core)
			if len(ops) == 1 && ops[0] == nil {
				continue
			}
			m, err := tt.NewMap(c.Index, ops, c.Slices.Slice())
			if err != nil {
				t.Fatal(err)
			}
			trained := make([]bool, c.Slices.N)
			for e := range trained {
				trained[e] = e < (c.Slices.N-1)*4/5 // they come first
			}
			c.Regress(v, m, trained)
		}
		f.Terms[k].Draw(ref.Backend{}, rng, 1)
	}
}

// T at every entity is the sum over all columns, written out; and A' is the
// adjoint of A, squared or not.
func TestMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	codes := cells(rng, 60)
	for _, core := range [][]int{{0}, {0, 1}, {1, 2}, {2, 0}, {0, 1, 3}, {3, 2, 1}} {
		for engine, b := range engines() {
			x, err := tt.NewIndex(core, sizes, codes)
			if err != nil {
				t.Fatal(err)
			}
			ops := sideOf(rng, core)
			const width = 4
			m, err := tt.NewMap(x, ops, width)
			if err != nil {
				t.Fatal(err)
			}
			w := normal(rng, m.Weights(), 1).a
			n := x.Entities() - 1
			got, want := make([]float32, (n+1)*width), make([]float32, n*width)
			for _, squared := range []bool{false, true} {
				m.Apply(b, got, w, squared)
				explicit(want, x, ops, w, width, squared)
				for i := range want {
					if math.Abs(float64(got[i]-want[i])) > 1e-4*(1+math.Abs(float64(want[i]))) {
						t.Fatalf("%v on %s, squared %v: entry %d is %g, want %g", core, engine, squared, i, got[i], want[i])
					}
				}
				g := normal(rng, n+1, width).a
				back := make([]float32, len(w))
				m.Adjoint(b, back, g, squared)
				var left, right float64
				for i := range want {
					left += float64(g[i]) * float64(got[i])
				}
				for i := range w {
					right += float64(back[i]) * float64(w[i])
				}
				if math.Abs(left-right) > 1e-4*(1+math.Abs(left)) {
					t.Errorf("%v on %s, squared %v: g.Aw = %g, A'g.w = %g", core, engine, squared, left, right)
				}
			}
		}
	}
}

func explicit(dst []float32, x *tt.Index, ops []tt.Operator, w []float32, width int, squared bool) {
	modes := len(ops)
	combos := x.Combinations()
	columns := make([]int, modes)
	total := len(w) / width
	left := total
	for q := modes - 1; q >= 0; q-- {
		if ops[q] != nil {
			columns[q] = ops[q].Columns()
			left /= columns[q]
		}
	}
	for q := range columns {
		if ops[q] == nil {
			columns[q] = left // one identity at most in these cases
		}
	}
	for e := range len(combos) / modes {
		for k := range width {
			sum := 0.0
			for row := range total {
				factor, rest := 1.0, row
				for q := modes - 1; q >= 0; q-- {
					a, code := rest%columns[q], int(combos[e*modes+q])
					rest /= columns[q]
					v := 0.0
					if ops[q] != nil {
						v = float64(ops[q].Matrix()[code*columns[q]+a])
					} else if a == code {
						v = 1
					}
					if squared {
						v *= v
					}
					factor *= v
				}
				sum += factor * float64(w[row*width+k])
			}
			dst[e*width+k] = float32(sum)
		}
	}
}

var variants = []tt.Variant{tt.Side, tt.WLR, tt.Additive}

// Every block of every variant of every form of field has the gradient that
// central differences give, through its map and multiplier.
func TestBlockGradients(t *testing.T) {
	for name, terms := range fields {
		for _, v := range variants {
			rng := rand.New(rand.NewPCG(5, 5))
			codes := cells(rng, 60)
			f := build(t, terms, codes, rng)
			if len(terms) > 1 {
				f.Group = []int{0, 0, 1} // a product of two terms, and a third
			}
			regress(t, f, terms, v, rng)
			b := ref.Backend{}
			chunk := f.NewChunk(codes)
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
						value() // what the check before this one moved is back in place
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

// maskUntrained replaces the gradient of free slices that take the prior: those
// are not weights, and what depends on them moves with the trained ones. Such
// blocks are checked on the trained cells alone by leaving the prior out.
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
		if c.Trained[e] && c.Variant != tt.WLR { // there the prior is 1, whatever the others are
			for k := range size {
				g[e*size+k] += sum[k] / float32(trained)
			}
		}
	}
}

// An entity without training data takes V' = 1 where that is the prior mean, so
// that it is its regression, and the mean of the others where V' has no scale of
// its own: then moving scale between V' and W changes nothing.
func TestPriorOfWeightedRegression(t *testing.T) {
	for _, coupled := range []bool{false, true} {
		x, err := tt.IndexOf([]int{0}, []int{3}, []int32{0, 1, 2})
		if err != nil {
			t.Fatal(err)
		}
		train := tt.NewTrain([][]string{{"store"}}, []*tt.Index{x}, nil)
		c := train.Cores[0]
		m, err := tt.NewMap(x, []tt.Operator{identity(3)}, 1)
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
			field.Evaluate(ref.Backend{}, got, [][]int32{{0, 2, tt.Unknown}})
			return got
		}
		want := []float32{6, 7, 4} // the last by the mean of the regressions of trained entities
		if coupled {
			want = []float32{6, 28, 16}
			if got := at(4); !slices.Equal(got, want) {
				t.Errorf("coupled, another scale: %v, want %v", got, want)
			}
		}
		if got := at(1); !slices.Equal(got, want) {
			t.Errorf("coupled %v: %v, want %v", coupled, got, want)
		}
	}
}

// wlr with V' = 1 is side; additive with V' = 0 is side; identity side
// information equals none.
func TestVariantRelations(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	codes := cells(rng, 80)
	terms := fields["three"]
	values := map[tt.Variant][]float32{}
	for _, v := range variants {
		f := build(t, terms, codes, rand.New(rand.NewPCG(2, 2)))
		regress(t, f, terms, v, rand.New(rand.NewPCG(3, 3)))
		for _, c := range f.Terms[0].Cores {
			draw := rand.New(rand.NewPCG(4, uint64(len(c.Name()))))
			for i := range c.Weight {
				c.Weight[i] = float32(draw.NormFloat64())
			}
			if c.Map == nil {
				for i := range c.Free {
					c.Free[i] = float32(draw.NormFloat64())
				}
			} else if c.Free != nil {
				for i := range c.Free {
					c.Free[i] = map[tt.Variant]float32{tt.WLR: 1, tt.Additive: 0}[v]
				}
			}
			c.Refresh(ref.Backend{}, true)
		}
		values[v] = make([]float32, 80)
		f.Evaluate(ref.Backend{}, values[v], codes)
	}
	for _, v := range []tt.Variant{tt.WLR, tt.Additive} {
		for i := range values[v] {
			if math.Abs(float64(values[v][i]-values[tt.Side][i])) > 1e-5 {
				t.Fatalf("%s: cell %d is %g, side gives %g", v, i, values[v][i], values[tt.Side][i])
			}
		}
	}

	plain := build(t, terms, codes, rng)
	side := build(t, terms, codes, rng)
	for p, c := range side.Terms[0].Cores {
		m, err := tt.NewMap(c.Index, []tt.Operator{identity(sizes[p])}, c.Slices.Slice())
		if err != nil {
			t.Fatal(err)
		}
		c.Regress(tt.Side, m, nil)
		from := plain.Terms[0].Cores[p]
		for e, code := range c.Index.Combinations() {
			copy(c.Weight[int(code)*c.Slices.Slice():][:c.Slices.Slice()], from.Free[e*c.Slices.Slice():])
		}
		c.Refresh(ref.Backend{}, true)
	}
	one, two := make([]float32, 80), make([]float32, 80)
	plain.Evaluate(ref.Backend{}, one, codes)
	side.Evaluate(ref.Backend{}, two, codes)
	for i := range one {
		if math.Abs(float64(one[i]-two[i])) > 1e-5 {
			t.Fatalf("identity side information: cell %d is %g, plain %g", i, two[i], one[i])
		}
	}
}

// Constant side information leaves plain's functions: wlr with one column of
// ones at the same ranks, latent scaling at interior ranks R_s + R_b.
func TestConstantSideInformation(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	codes := cells(rng, 80)
	terms := fields["three"]
	plain := build(t, terms, codes, rng)
	wlr := build(t, terms, codes, rng)
	for p, c := range wlr.Terms[0].Cores {
		ones := matrix{sizes[p], 1, make([]float32, sizes[p])}
		for i := range ones.a {
			ones.a[i] = 1
		}
		m, err := tt.NewMap(c.Index, []tt.Operator{ones}, c.Slices.Slice())
		if err != nil {
			t.Fatal(err)
		}
		c.Regress(tt.WLR, m, nil)
		for i := range c.Weight {
			c.Weight[i] = 2
		}
		for i, v := range plain.Terms[0].Cores[p].Free {
			c.Free[i] = v / 2
		}
		c.Refresh(ref.Backend{}, true)
	}
	one, two := make([]float32, 80), make([]float32, 80)
	plain.Evaluate(ref.Backend{}, one, codes)
	wlr.Evaluate(ref.Backend{}, two, codes)
	for i := range one {
		if math.Abs(float64(one[i]-two[i])) > 1e-5 {
			t.Fatalf("wlr: cell %d is %g, plain %g", i, two[i], one[i])
		}
	}

	// Latent scaling with a constant f_r = r is the train whose slices are the
	// blocks of f_s (scaled) and f_b.
	ls := &tt.Field{Group: []int{0, 0, 1}}
	for _, rank := range []int{2, 1, 3} {
		ls.Terms = append(ls.Terms, build(t, []grouping{{terms[0].cores, rank}}, codes, rng).Terms[0])
	}
	const r = 1.5
	for p, c := range ls.Terms[1].Cores {
		for i := range c.Free {
			c.Free[i] = 1
			if p == 0 {
				c.Free[i] = r
			}
		}
	}
	sum := build(t, []grouping{{terms[0].cores, 5}}, codes, rng)
	for p, c := range sum.Terms[0].Cores {
		s, b := ls.Terms[0].Cores[p].Slices, ls.Terms[2].Cores[p].Slices
		clear(c.Free)
		for e := range c.Slices.N {
			place(c.Slices, e, 0, 0, s, map[bool]float32{true: r, false: 1}[p == 0])
			place(c.Slices, e, c.Slices.Left-b.Left, c.Slices.Right-b.Right, b, 1)
		}
	}
	ls.Evaluate(ref.Backend{}, one, codes)
	sum.Evaluate(ref.Backend{}, two, codes)
	for i := range one {
		if math.Abs(float64(one[i]-two[i])) > 1e-4 {
			t.Fatalf("ls: cell %d is %g, plain of the summed ranks %g", i, one[i], two[i])
		}
	}
}

// place writes a block of a slice, for block-diagonal trains.
func place(dst backend.Slices, e, row, column int, src backend.Slices, scale float32) {
	for a := range src.Left {
		for b := range src.Right {
			dst.Mean[(e*dst.Left+row+a)*dst.Right+column+b] = scale * src.Mean[(e*src.Left+a)*src.Right+b]
		}
	}
}
