package tt_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/entity"
	"github.com/kernel-fried-tensor/kft/tt/regression"
)

// The variance without cross terms is that of the published expression, computed from
// the weights in float64, for every variant and form of field: at trained entities,
// entities without training data, combinations that did not occur and unknown ids. That of
// a cell does not depend on the cells beside it.
func TestVarianceWithoutCrossTerms(t *testing.T) {
	t.Parallel()
	b := cpu.New(cpu.Paths()[0], 1)
	for _, tc := range posteriors() {
		if tc.family != tt.MeanField {
			continue
		}
		rng := rand.New(rand.NewPCG(7, 7))
		codes := cells(rng, 30)
		f := tc.field(t, b, codes, rng)
		for m := range codes {
			for range 30 {
				codes[m] = append(codes[m], int32(rng.IntN(sizes[m]+1))-1)
			}
		}
		got := moments(b, codes, f.EvaluateWithoutCrossTerms)
		for i := range got.Var {
			if want := varianceWithoutCrossTerms(f, codes, i); math.Abs(float64(got.Var[i])-want) > 1e-4*want+1e-6 {
				t.Errorf("%s, cell %d: got variance %g, want %g", tc.name, i, got.Var[i], want)
			}
			if alone := moments(b, cellOf(codes, i), f.EvaluateWithoutCrossTerms); alone.Var[0] != got.Var[i] {
				t.Errorf("%s, cell %d: got variance %g alone and %g beside others, want equal", tc.name, i, alone.Var[0], got.Var[i])
			}
		}
	}
}

// The variance without cross terms at codes of an extension is that of their own
// regression, and that of an unknown id stays the same.
func TestVarianceWithoutCrossTermsOfNewCodes(t *testing.T) {
	t.Parallel()
	b := cpu.New(cpu.Paths()[0], 1)
	for _, variant := range variants {
		rng := rand.New(rand.NewPCG(11, 11))
		tc := posterior{"", []grouping{{[][]int{{0}, {1}}, 3}}, variant, tt.MeanField}
		f := tc.field(t, b, cells(rng, 60), rng)
		unknown := [][]int32{{-1}, {0}, {0}, {0}}
		before := moments(b, unknown, f.EvaluateWithoutCrossTerms).Var[0]
		n, c := sizes[0], f.Terms[0].Cores[0]
		wider := normal(rng, n+2, 3)
		copy(wider.a, c.Operators()[0].Matrix())
		if err := c.Extend(b, entity.Axes([]int{0}, []int{n + 2}), []regression.Operator{wider}, [][]int32{{int32(n), int32(n + 1)}}); err != nil {
			t.Fatal(err)
		}
		if after := moments(b, unknown, f.EvaluateWithoutCrossTerms).Var[0]; after != before {
			t.Errorf("%s: got variance %g for an unknown id after an extension, want %g as before", variant, after, before)
		}
		codes := [][]int32{{int32(n), int32(n + 1)}, {0, 1}, {0, 0}, {0, 0}}
		for i, got := range moments(b, codes, f.EvaluateWithoutCrossTerms).Var {
			if want := varianceWithoutCrossTerms(f, codes, i); math.Abs(float64(got)-want) > 1e-4*want {
				t.Errorf("%s, new code %d: got variance %g, want %g", variant, i, got, want)
			}
		}
	}
}

// varianceWithoutCrossTerms computes the published expression at a cell.
func varianceWithoutCrossTerms(f *tt.Field, codes [][]int32, cell int) float64 {
	mean, variance := make([]float32, 1), make([]tt.Moments, len(f.Terms))
	for k, term := range f.Terms {
		one := &tt.Field{Terms: []*tt.Train{term}}
		one.Evaluate(cpu.New(cpu.Paths()[0], 1), mean, cellOf(codes, cell))
		sum := 0.0
		for product := range 3 {
			row := []float64{1}
			for _, c := range term.Cores {
				free, freeVar, side, sideVar := factors(c, codes, cell)
				next := make([]float64, c.Slices.Right)
				for i := range free {
					g := []float64{free[i] * free[i] * sideVar[i], side[i] * side[i] * freeVar[i], freeVar[i] * sideVar[i]}[product]
					next[i%c.Slices.Right] += row[i/c.Slices.Right] * g
				}
				row = next
			}
			sum += row[0]
		}
		variance[k] = tt.Moments{Mean: []float32{mean[0]}, Var: []float32{float32(sum)}}
	}
	_, v := f.Combine(variance, 0)
	return v
}

// factors returns the moments of V' and T in the core's slice of a cell. The parts
// of an additive core count as V'.
func factors(c *tt.Core, codes [][]int32, cell int) (free, freeVar, side, sideVar []float64) {
	size := c.Slices.Slice()
	free, freeVar, side, sideVar = make([]float64, size), make([]float64, size), make([]float64, size), make([]float64, size)
	combo, known := make([]int32, len(c.Modes)), true
	for i, name := range c.Modes {
		for m, mode := range modes {
			if mode == name {
				combo[i] = codes[m][cell]
			}
		}
		known = known && combo[i] >= 0
	}
	entity := -1
	for e := range c.TrainedEntities() {
		if fmt.Sprint(c.Index.Combinations()[e*len(combo):][:len(combo)]) == fmt.Sprint(combo) {
			entity = e
		}
	}
	for i := range size {
		free[i], side[i] = 1, 1
		if c.Free != nil {
			at := len(c.Free) - size + i
			if entity >= 0 {
				at = entity*size + i
			}
			free[i], freeVar[i] = float64(c.Free[at]), float64(c.FreePosterior.Var[at])
		}
	}
	if c.Map == nil {
		return free, freeVar, side, sideVar
	}
	if known {
		side, sideVar = regressionOf(c, combo)
	} else {
		clear(side)
		n := c.TrainedEntities()
		for pass := range 2 {
			for e := range n {
				t, s := regressionOf(c, c.Index.Combinations()[e*len(combo):][:len(combo)])
				for i := range size {
					if pass == 0 {
						side[i] += t[i] / float64(n)
					} else {
						sideVar[i] += (math.Pow(t[i]-side[i], 2) + s[i]) / float64(n)
					}
				}
			}
		}
	}
	if c.Variant == tt.Additive {
		for i := range size {
			free[i], freeVar[i] = free[i]+side[i], freeVar[i]+sideVar[i]
			side[i], sideVar[i] = 1, 0
		}
	}
	return free, freeVar, side, sideVar
}

// regressionOf returns the moments of T at a combination of codes.
func regressionOf(c *tt.Core, combo []int32) (t, s []float64) {
	size := c.Slices.Slice()
	t, s = make([]float64, size), make([]float64, size)
	rows := len(c.Weight) / size
	for row := range rows {
		a, rest, after := 1.0, row, rows
		for q, op := range c.Operators() {
			columns := map[string]int{"store": sizes[0], "item": sizes[1], "month": sizes[2], "channel": sizes[3]}[c.Modes[q]]
			if op != nil {
				columns = op.Columns()
			}
			after /= columns
			k := rest / after
			rest %= after
			switch {
			case op != nil:
				a *= float64(op.Matrix()[int(combo[q])*columns+k])
			case k != int(combo[q]):
				a = 0
			}
		}
		for i := range size {
			t[i] += a * float64(c.Weight[row*size+i])
			s[i] += a * a * float64(c.WeightPosterior.Var[row*size+i])
		}
	}
	return t, s
}
