package tt_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/entity"
	"github.com/kernel-fried-tensor/kft/tt/regression"
)

// keyOf identifies entities by their codes.
func keyOf(codes [][]int32) func(modes []int, cell int) uint64 {
	return func(modes []int, cell int) uint64 {
		key := uint64(0)
		for _, m := range modes {
			key = key*1000 + uint64(codes[m][cell]+1)
		}
		return key
	}
}

// The draws of a sampler have the mean and the variance of the field, at trained,
// untrained and unknown entities.
func TestSamplerMoments(t *testing.T) {
	t.Parallel()
	const draws, n = 1000, 30
	b := cpu.New(cpu.Paths()[0], 1)
	for _, tc := range posteriors() {
		rng := rand.New(rand.NewPCG(7, 7))
		codes := cells(rng, 60)
		f := tc.field(t, b, codes, rng)
		for m := range codes {
			codes[m] = codes[m][:n/2]
			for range n / 2 {
				codes[m] = append(codes[m], int32(rng.IntN(sizes[m]+1))-1)
			}
		}
		got := tt.Moments{Mean: make([]float32, n), Var: make([]float32, n)}
		f.EvaluateMoments(b, got, codes)
		sampler, err := tt.NewSampler(b, f, 1)
		if err != nil {
			t.Fatal(err)
		}
		prepared, err := sampler.Cells(f, codes, keyOf(codes))
		if err != nil {
			t.Fatal(err)
		}
		mean, variance, value := make([]sums, n), make([]sums, n), make([]float32, n)
		for number := range draws {
			sampler.Draw(b, number).Evaluate(b, value, prepared)
			for i, v := range value {
				mean[i].add(float64(v))
				variance[i].add(math.Pow(float64(v)-float64(got.Mean[i]), 2))
			}
		}
		for i := range n {
			mean[i].check(t, fmt.Sprintf("%s: mean of cell %d", tc.name, i), float64(got.Mean[i]), 5)
			variance[i].check(t, fmt.Sprintf("%s: variance of cell %d", tc.name, i), float64(got.Var[i]), 8) // squares of products have heavy tails
		}
	}
}

// The bits of a draw do not depend on which other entities are drawn: neither on the
// number of cells nor on an extension of the field.
func TestDrawsAreIndependentOfOtherEntities(t *testing.T) {
	t.Parallel()
	b := cpu.New(cpu.Paths()[0], 1)
	for _, variant := range variants {
		rng := rand.New(rand.NewPCG(11, 11))
		tc := posterior{"", []grouping{{[][]int{{0}, {2}}, 3}, {[][]int{{1, 3}}, 1}}, variant, tt.MeanField}
		f := tc.field(t, b, cells(rng, 60), rng)
		sampler, err := tt.NewSampler(b, f, 1)
		if err != nil {
			t.Fatal(err)
		}
		evaluate := func(field *tt.Field, codes [][]int32) []float32 {
			t.Helper()
			prepared, err := sampler.Cells(field, codes, keyOf(codes))
			if err != nil {
				t.Fatal(err)
			}
			value := make([]float32, len(codes[0]))
			sampler.Draw(b, 5).Evaluate(b, value, prepared)
			return value
		}
		codes := cells(rng, 40)
		first := f.Terms[0].Cores[0]
		for i := range codes[0] { // the operator rows of other entities change below
			codes[0][i] = first.Index.Combinations()[i%first.TrainedEntities()]
		}
		codes[0][3], codes[1][5], codes[2][7] = -1, -1, -1
		want := evaluate(f, codes)
		for i := range want {
			one := make([][]int32, len(codes))
			for m := range codes {
				one[m] = codes[m][i : i+1]
			}
			if got := evaluate(f, one)[0]; got != want[i] {
				t.Fatalf("%s: got %v for cell %d alone, want %v as among others", variant, got, i, want[i])
			}
		}

		n := sizes[0]
		rows := normal(rng, n+3, 3)
		added := map[int]float32{}
		for _, more := range []int{1, 3} {
			wider := truncated{matrix{n + more, 3, rows.a[:(n+more)*3]}, make([]float32, n+more)}
			var fresh []int32
			for i := range more {
				wider.residual[n+i] = 0.5
				fresh = append(fresh, int32(n+i))
			}
			core := *first
			if err := core.Extend(b, entity.Axes([]int{0}, []int{n + more}), []regression.Operator{wider}, [][]int32{fresh}); err != nil {
				t.Fatal(err)
			}
			extended := &tt.Field{Terms: []*tt.Train{{Cores: []*tt.Core{&core, f.Terms[0].Cores[1]}}, f.Terms[1]}}
			with := make([][]int32, len(codes))
			for m := range codes {
				with[m] = append(slices.Clone(codes[m]), codes[m][0])
			}
			with[0][len(want)] = int32(n)
			got := evaluate(extended, with)
			if !slices.Equal(got[:len(want)], want) {
				t.Fatalf("%s: %d more codes changed the draw of other cells", variant, more)
			}
			added[more] = got[len(want)]
		}
		if added[1] != added[3] {
			t.Errorf("%s: a new code is drawn as %v alone and as %v with others, want equal", variant, added[1], added[3])
		}
	}
}

// Unknown entities are drawn independently: the draws of two of them have covariance
// 0.
func TestUnknownEntitiesAreIndependent(t *testing.T) {
	t.Parallel()
	const draws = 2000
	b := cpu.New(cpu.Paths()[0], 1)
	rng := rand.New(rand.NewPCG(3, 3))
	tc := posterior{"", []grouping{{[][]int{{0}}, 1}}, tt.Plain, tt.MeanField}
	f := tc.field(t, b, cells(rng, 60), rng)
	sampler, err := tt.NewSampler(b, f, 1)
	if err != nil {
		t.Fatal(err)
	}
	codes := [][]int32{{-1, -1, -1}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}
	prepared, err := sampler.Cells(f, codes, func(_ []int, cell int) uint64 { return uint64(cell / 2) })
	if err != nil {
		t.Fatal(err)
	}
	value := make([]float32, 3)
	var square, product sums
	got := tt.Moments{Mean: make([]float32, 3), Var: make([]float32, 3)}
	f.EvaluateMoments(b, got, codes)
	for number := range draws {
		sampler.Draw(b, number).Evaluate(b, value, prepared)
		if value[0] != value[1] {
			t.Fatalf("got draws %v and %v of the same entity, want equal", value[0], value[1])
		}
		one, other := float64(value[0]-got.Mean[0]), float64(value[2]-got.Mean[0])
		square.add(one * one)
		product.add(one * other)
	}
	square.check(t, "variance", float64(got.Var[0]), 5)
	product.check(t, "covariance", 0, 5)
}
