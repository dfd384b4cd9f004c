package sideinfo_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend/ref"
	"github.com/kernel-fried-tensor/kft/kernel"
	"github.com/kernel-fried-tensor/kft/sideinfo"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/entity"
	"github.com/kernel-fried-tensor/kft/tt/regression"
)

// T = V x_p K_p x_q K_q = W x_p L_p x_q L_q with W = V x_p L_p' x_q L_q': the
// unwhitened and the whitened form give the same field on joint cores. This holds for
// every variant, with a mode without side information, and for combinations that did
// not occur in training.
func TestUnwhitenedEqualsWhitenedJointly(t *testing.T) {
	t.Parallel()
	sizes := []int{7, 6, 4}
	rng := rand.New(rand.NewPCG(21, 1))
	be := ref.Backend{}
	draw := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		return x
	}
	// Modes 0 and 1 have side information, mode 2 has none.
	unwhitened, white := make([]sideinfo.Operator, 2), make([]sideinfo.Operator, 2)
	for mode := range unwhitened {
		f := sideinfo.Features{N: sizes[mode], C: 2, X: draw(sizes[mode] * 2)}
		opt := sideinfo.Options{Backend: be, Columns: sizes[mode], Seed: 3}
		var err error
		if unwhitened[mode], _, err = sideinfo.DualUnwhitened(f, kernel.Matern12(), opt); err != nil {
			t.Fatal(err)
		}
		if white[mode], _, err = sideinfo.Dual(f, kernel.Matern12(), opt); err != nil {
			t.Fatal(err)
		}
	}
	codes, all := make([][]int32, 3), make([][]int32, 3)
	for i := range sizes[0] * sizes[1] * sizes[2] {
		cell := []int{i % sizes[0], i / sizes[0] % sizes[1], i / sizes[0] / sizes[1]}
		for mode, c := range cell {
			all[mode] = append(all[mode], int32(c))
			if i%3 > 0 {
				codes[mode] = append(codes[mode], int32(c))
			}
		}
	}
	for name, modes := range map[string][][]int{"both informed": {{0, 1}, {2}}, "one informed": {{2}, {1, 2}}, "three": {{0, 2, 1}}} {
		for _, variant := range []tt.Variant{tt.Side, tt.WLR, tt.Additive} {
			// The same draws of V' and V; V is mapped to W for the whitened form.
			seed := rng.Uint64()
			field := func(operators []sideinfo.Operator, mapped bool) *tt.Field {
				rng := rand.New(rand.NewPCG(seed, 2))
				var index []*entity.Index
				var names [][]string
				for _, core := range modes {
					x, err := entity.NewIndex(core, sizes, codes)
					if err != nil {
						t.Fatal(err)
					}
					var text []string
					for _, m := range core {
						text = append(text, string(rune('a'+m)))
					}
					index, names = append(index, x), append(names, text)
				}
				train := tt.NewTrain(names, index, []int{3})
				for p, c := range train.Cores {
					var ops []regression.Operator
					informed := false
					for _, m := range modes[p] {
						var op regression.Operator
						if m < len(operators) {
							op, informed = operators[m], true
						}
						ops = append(ops, op)
					}
					if informed {
						m, err := regression.NewLinearMap(c.Index, ops, c.Slices.Slice())
						if err != nil {
							t.Fatal(err)
						}
						c.Regress(variant, m, nil)
						rows := 1
						for _, m := range modes[p] {
							rows *= sizes[m]
						}
						v := make([]float32, rows*c.Slices.Slice())
						for i := range v {
							v[i] = float32(rng.NormFloat64()) / float32(sizes[0])
						}
						if mapped {
							v = whiten(v, modes[p], sizes, white, c.Slices.Slice())
						}
						copy(c.Weight, v)
					}
					for i := range c.Free {
						c.Free[i] = float32(rng.NormFloat64())
					}
					c.Refresh(be, c.Map != nil)
				}
				return &tt.Field{Terms: []*tt.Train{train}}
			}
			a, b := make([]float32, len(all[0])), make([]float32, len(all[0]))
			field(unwhitened, false).Evaluate(be, a, all)
			field(white, true).Evaluate(be, b, all)
			size := 0.0
			for i := range a {
				size = max(size, math.Abs(float64(a[i])))
				if math.Abs(float64(a[i]-b[i])) > 1e-3*(1+math.Abs(float64(a[i]))) {
					t.Fatalf("%s, %s: got %g whitened at cell %d, want %g as unwhitened", name, variant, b[i], i, a[i])
				}
			}
			if size < 0.1 {
				t.Errorf("%s, %s: got values of at most %g, want at least 0.1 for a meaningful comparison", name, variant, size)
			}
		}
	}
}

// whiten returns V x_p L_p', with the identity for modes without an operator. V has
// one axis per mode, and the last axis holds the entries of a slice.
func whiten(v []float32, modes, sizes []int, white []sideinfo.Operator, width int) []float32 {
	shape := make([]int, len(modes))
	for i, m := range modes {
		shape[i] = sizes[m]
	}
	for axis, m := range modes {
		if m >= len(white) {
			continue
		}
		before, after := 1, width
		for i, n := range shape {
			if i < axis {
				before *= n
			} else if i > axis {
				after *= n
			}
		}
		n, columns, l := shape[axis], white[m].Columns(), white[m].Matrix()
		out := make([]float32, before*columns*after)
		for p := range before {
			for i := range n {
				for a := range columns {
					for q := range after {
						out[(p*columns+a)*after+q] += l[i*columns+a] * v[(p*n+i)*after+q]
					}
				}
			}
		}
		v, shape[axis] = out, columns
	}
	return v
}
