package solver

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend/ref"
	"github.com/kernel-fried-tensor/kft/solver/moments"
	"github.com/kernel-fried-tensor/kft/solver/penalty"
	"github.com/kernel-fried-tensor/kft/tt"
)

// drawnData returns the data of a case with weights away from their start values.
func drawnData(t *testing.T, c variantCase) *data {
	t.Helper()
	d := newTestData(t, c.problem(t, true))
	rng := rand.New(rand.NewPCG(6, 1))
	for _, term := range d.field.Terms {
		term.Initialize(d.b, rng, 1)
		for _, core := range term.Cores {
			for _, values := range [][]float32{core.Free, core.Weight} {
				for i := range values {
					values[i] += float32(0.3 * rng.NormFloat64())
				}
			}
			core.Refresh(d.b, core.Map != nil)
		}
	}
	return d
}

// The gradient that adam adds for the penalty is the derivative of the penalty, by
// central differences, in every block of every variant.
func TestAdamPenaltyGradient(t *testing.T) {
	t.Parallel()
	const h = 1.0 / 64
	for _, tc := range variantCases() {
		for _, ridge := range []Ridge{{Kind: Uniform, Lambda: 0.7}, {Kind: Frequency, Lambda: 0.02}} {
			d := drawnData(t, tc)
			n := float64(len(d.y))
			for k, term := range d.field.Terms {
				for p, c := range term.Cores {
					for _, b := range c.Blocks() {
						a := &adam{d: d, ridge: ridge, run: &Run{Memory: [][]float32{make([]float32, len(b.Value)), make([]float32, len(b.Value))}}}
						a.updateWeights(c, b, make([]float32, len(b.Value)), d.entityWeights[k][p], 0, 0, 1) // a learning rate of 0 changes no weight
						for i := 0; i < len(b.Value); i += 1 + len(b.Value)/15 {
							if entity := i / c.Slices.Slice(); b.Map == nil && (entity == c.Slices.N-1 || d.entityWeights[k][p][entity] == 0) {
								continue // belongs to the prior
							}
							old := b.Value[i]
							b.Value[i] = old + h
							up := ridge.FieldPenalty(d.b, d.field, d.entityWeights)
							b.Value[i] = old - h
							down := ridge.FieldPenalty(d.b, d.field, d.entityWeights)
							b.Value[i] = old
							want := (up - down) / (2 * h) / n
							got := float64(a.run.Memory[0][i]) / (1 - moments.DecayMean)
							if math.Abs(got-want) > 1e-3*math.Abs(want)+1e-6 {
								t.Errorf("%s, %v, %s, weight %d: got %g, want %g by differences", tc.name, ridge, b.Name, i, got, want)
							}
						}
					}
				}
			}
		}
	}
}

// The factors of a weighted regression are shrunk towards 1, other free weights
// towards 0: there the penalty is zero, and a large penalty moves them there.
func TestPenaltyCenters(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		variant tt.Variant
		at      float32
	}{{tt.WLR, 1}, {tt.Additive, 0}} {
		d := drawnData(t, variantCase{data: twoCores, variant: tc.variant, terms: []int{0}})
		ridge := Ridge{Kind: Uniform, Lambda: 1e7}
		c, entityWeights := d.field.Terms[0].Cores[1], d.entityWeights[0][1]
		at := 0
		for i, b := range c.Blocks() {
			if b.Map == nil {
				at = i
			}
		}
		b := c.Blocks()[at]
		solveAt := func(ridge Ridge) {
			p := twoCores.problem(t, 3, true)
			a := newALS(d, p.Train, 20)
			a.begin(&Run{}, ridge)
			for i, name := range a.ids {
				if name == (blockID{0, 1, at}) {
					a.update(i)
				}
			}
		}
		solveAt(ridge)
		for i, v := range b.Value[:len(b.Value)-c.Slices.Slice()] {
			if math.Abs(float64(v-tc.at)) > 1e-2 {
				t.Fatalf("%s: weight %d: got %g, want about %g", tc.variant, i, v, tc.at)
			}
		}
		for i := range b.Value {
			b.Value[i] = tc.at
		}
		if got := ridge.BlockPenalty(ref.Backend{}, c, b, entityWeights); got != 0 {
			t.Errorf("%s: weights of %g: got penalty %g, want 0", tc.variant, tc.at, got)
		}
		b.Value[0] += 0.5
		want := 0.25 * ridge.Lambda
		if tc.variant == tt.WLR {
			want *= penalty.ColumnNorms(c)[0] // relative to its regression
		}
		if got := ridge.BlockPenalty(ref.Backend{}, c, b, entityWeights); math.Abs(got-want) > 1e-6*got {
			t.Errorf("%s: a weight off by 1/2: got penalty %g, want %g", tc.variant, got, want)
		}
	}
}

// balanceCoupled makes |v'_ab| = |w_ab| and does not change the core.
func TestBalanceCoupled(t *testing.T) {
	t.Parallel()
	for _, norm := range []bool{false, true} {
		d := drawnData(t, variantCase{data: twoCores, variant: tt.WLR, coupled: true, terms: []int{0}, norm: norm})
		c := d.field.Terms[0].Cores[0]
		for i := range c.Weight {
			c.Weight[i] *= float32(3 + i%4)
		}
		c.Refresh(d.b, true)
		before := append([]float32(nil), c.Slices.Mean...)
		penalty.BalanceCoupled(c)
		one := func(int) float64 { return 1 }
		v, w := penalty.ColumnSquares(c, 0, one), penalty.ColumnNorms(c)
		for k := range v {
			if math.Abs(v[k]-w[k]) > 1e-4*w[k] {
				t.Errorf("norm %v, pair %d: got |v'|^2 = %g and |w|^2 = %g, want equal", norm, k, v[k], w[k])
			}
		}
		c.Refresh(d.b, true)
		for i, g := range c.Slices.Mean {
			if math.Abs(float64(g-before[i])) > 1e-4*math.Abs(float64(before[i]))+1e-5 {
				t.Fatalf("norm %v: slice entry %d changed from %g to %g", norm, i, before[i], g)
			}
		}
	}
}

// A coupled penalty on W includes only entities with data.
func TestCoupledPenaltyOmitsEntitiesWithoutData(t *testing.T) {
	t.Parallel()
	d := drawnData(t, variantCase{data: twoCores, variant: tt.WLR, coupled: true, terms: []int{0}})
	c, entityWeights := d.field.Terms[0].Cores[0], d.entityWeights[0][0]
	size := c.Slices.Slice()
	entityWeights[3] = 0
	want := 0.0
	for e := range c.Slices.N - 1 {
		if e != 3 {
			want += float64(c.Free[e*size]) * float64(c.Free[e*size])
		}
	}
	for _, b := range c.Blocks() {
		if got := (Ridge{Kind: Uniform, Lambda: 1}).Of(c, b, entityWeights).At(0, 0); b.Map != nil && math.Abs(got-want) > 1e-5*want {
			t.Errorf("got factor %g for W, want %g", got, want)
		}
	}
}
