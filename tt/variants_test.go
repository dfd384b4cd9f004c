package tt_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/ref"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/regression"
)

// wlr with V' = 1 and additive with V' = 0 equal side. Identity side information
// equals no side information.
func TestVariantRelations(t *testing.T) {
	t.Parallel()
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
				t.Fatalf("%s: got %g at cell %d, want %g as for side", v, values[v][i], i, values[tt.Side][i])
			}
		}
	}

	plain := build(t, terms, codes, rng)
	side := build(t, terms, codes, rng)
	for p, c := range side.Terms[0].Cores {
		m, err := regression.NewLinearMap(c.Index, []regression.Operator{identity(sizes[p])}, c.Slices.Slice())
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
			t.Fatalf("identity side information: got %g at cell %d, want %g as for plain", two[i], i, one[i])
		}
	}
}

// Constant side information gives the functions of plain cores: wlr with one column
// of ones at the same ranks, latent scaling at interior ranks R_s + R_b.
func TestConstantSideInformation(t *testing.T) {
	t.Parallel()
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
		m, err := regression.NewLinearMap(c.Index, []regression.Operator{ones}, c.Slices.Slice())
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
			t.Fatalf("wlr: got %g at cell %d, want %g as for plain", two[i], i, one[i])
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
			t.Fatalf("ls: got %g at cell %d, want %g as for plain of the summed ranks", one[i], i, two[i])
		}
	}
}

// place writes src to a block of slice e of dst, for block-diagonal trains.
func place(dst backend.Slices, e, row, column int, src backend.Slices, scale float32) {
	for a := range src.Left {
		for b := range src.Right {
			dst.Mean[(e*dst.Left+row+a)*dst.Right+column+b] = scale * src.Mean[(e*src.Left+a)*src.Right+b]
		}
	}
}
