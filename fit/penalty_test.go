package fit

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/tt"
)

// drawn returns a problem's data with weights away from their start.
func drawn(t *testing.T, c variantCase) *data {
	t.Helper()
	d, err := newData(c.problem(t, true))
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(6, 1))
	for _, term := range d.field.Terms {
		term.Draw(d.b, rng, 1)
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

// What adam adds to a gradient for the penalty is the penalty's derivative, by
// central differences, in every block of every variant.
func TestAdamPenaltyGradient(t *testing.T) {
	const h = 1.0 / 64
	for _, tc := range variantCases() {
		for _, ridge := range []Ridge{{Uniform, 0.7}, {Frequency, 0.02}} {
			d := drawn(t, tc)
			n := float64(len(d.y))
			for k, term := range d.field.Terms {
				for p, c := range term.Cores {
					for _, b := range c.Blocks() {
						a := &adam{d: d, ridge: ridge, run: &Run{Memory: [][]float32{make([]float32, len(b.Value)), make([]float32, len(b.Value))}}}
						a.descend(c, b, make([]float32, len(b.Value)), d.counts[k][p], 0, 0, 1) // at rate 0 it moves nothing
						for i := 0; i < len(b.Value); i += 1 + len(b.Value)/15 {
							if entity := i / c.Slices.Slice(); b.Map == nil && (entity == c.Slices.N-1 || d.counts[k][p][entity] == 0) {
								continue // the prior's
							}
							old := b.Value[i]
							b.Value[i] = old + h
							up := ridge.total(d.field, d.counts)
							b.Value[i] = old - h
							down := ridge.total(d.field, d.counts)
							b.Value[i] = old
							want := (up - down) / (2 * h) / n
							got := float64(a.run.Memory[0][i]) / (1 - decayMean)
							if math.Abs(got-want) > 1e-3*math.Abs(want)+1e-6 {
								t.Errorf("%s, %v, %s, weight %d: %g, by differences %g", tc.name, ridge, b.Name, i, got, want)
							}
						}
					}
				}
			}
		}
	}
}

// Weights of a regression are held to 1, other free weights to 0: that is what
// they pay for, and where a large penalty takes them.
func TestWhereThePenaltyHolds(t *testing.T) {
	for _, tc := range []struct {
		variant tt.Variant
		at      float32
	}{{tt.WLR, 1}, {tt.Additive, 0}} {
		d := drawn(t, variantCase{world: matrixOfTwo, variant: tc.variant, terms: []int{0}})
		ridge := Ridge{Uniform, 1e7}
		c, counts := d.field.Terms[0].Cores[1], d.counts[0][1]
		at := 0
		for i, b := range c.Blocks() {
			if b.Map == nil {
				at = i
			}
		}
		b := c.Blocks()[at]
		solveAt := func(ridge Ridge) {
			p := matrixOfTwo.problem(t, 3, true)
			a := newALS(d, p.Train, 20)
			a.begin(&Run{}, ridge)
			for i, name := range a.block {
				if name == (blockName{0, 1, at}) {
					a.update(i)
				}
			}
		}
		solveAt(ridge)
		for i, v := range b.Value[:len(b.Value)-c.Slices.Slice()] {
			if math.Abs(float64(v-tc.at)) > 1e-2 {
				t.Fatalf("%s: weight %d is %g, not near %g", tc.variant, i, v, tc.at)
			}
		}
		for i := range b.Value {
			b.Value[i] = tc.at
		}
		if paid := ridge.paid(c, b, counts); paid != 0 {
			t.Errorf("%s: weights of %g pay %g", tc.variant, tc.at, paid)
		}
		b.Value[0] += 0.5
		want := 0.25 * ridge.Lambda
		if tc.variant == tt.WLR {
			want *= norms(c)[0] // in units of its regression
		}
		if paid := ridge.paid(c, b, counts); math.Abs(paid-want) > 1e-6*paid {
			t.Errorf("%s: a weight off by 1/2 pays %g", tc.variant, paid)
		}
	}
}

// even makes |v'_ab| = |w_ab| and leaves the core as it is.
func TestEven(t *testing.T) {
	for _, norm := range []bool{false, true} {
		d := drawn(t, variantCase{world: matrixOfTwo, variant: tt.WLR, coupled: true, terms: []int{0}, norm: norm})
		c := d.field.Terms[0].Cores[0]
		for i := range c.Weight {
			c.Weight[i] *= float32(3 + i%4)
		}
		c.Refresh(d.b, true)
		before := append([]float32(nil), c.Slices.Mean...)
		even(c)
		one := func(int) float64 { return 1 }
		v, w := squares(c, 0, one), norms(c)
		for k := range v {
			if math.Abs(v[k]-w[k]) > 1e-4*w[k] {
				t.Errorf("norm %v, pair %d: |v'|^2 is %g, |w|^2 is %g", norm, k, v[k], w[k])
			}
		}
		c.Refresh(d.b, true)
		for i, g := range c.Slices.Mean {
			if math.Abs(float64(g-before[i])) > 1e-4*math.Abs(float64(before[i]))+1e-5 {
				t.Fatalf("norm %v: slice entry %d was %g, is %g", norm, i, before[i], g)
			}
		}
	}
}

// A coupled penalty on W counts the entities with data alone.
func TestCoupledPenaltyOfEntitiesWithoutData(t *testing.T) {
	d := drawn(t, variantCase{world: matrixOfTwo, variant: tt.WLR, coupled: true, terms: []int{0}})
	c, counts := d.field.Terms[0].Cores[0], d.counts[0][0]
	size := c.Slices.Slice()
	counts[3] = 0
	want := 0.0
	for e := range c.Slices.N - 1 {
		if e != 3 {
			want += float64(c.Free[e*size]) * float64(c.Free[e*size])
		}
	}
	for _, b := range c.Blocks() {
		if got := (Ridge{Uniform, 1}).of(c, b, counts).at(0, 0); b.Map != nil && math.Abs(got-want) > 1e-5*want {
			t.Errorf("W pays %g, want %g", got, want)
		}
	}
}
