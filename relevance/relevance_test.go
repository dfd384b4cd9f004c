package relevance_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/backendtest"
	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/backend/ref"
	"github.com/kernel-fried-tensor/kft/relevance"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/entity"
)

// newTrain returns a train over the given modes of three with 6 codes each.
func newTrain(t *testing.T, codes [][]int32, modes []int, rank int) *tt.Train {
	t.Helper()
	var index []*entity.Index
	var names [][]string
	for _, m := range modes {
		x, err := entity.NewIndex([]int{m}, []int{6, 6, 6}, codes)
		if err != nil {
			t.Fatal(err)
		}
		index, names = append(index, x), append(names, []string{string(rune('a' + m))})
	}
	return tt.NewTrain(names, index, slices.Repeat([]int{rank}, len(modes)-1))
}

func newCodes(rng *rand.Rand, n int) [][]int32 {
	codes := make([][]int32, 3)
	for m := range codes {
		for range n {
			codes[m] = append(codes[m], int32(rng.IntN(6)))
		}
	}
	return codes
}

// A component without signal is not supported, one that carries signal is, and the last
// one stays even without signal.
func TestSupported(t *testing.T) {
	t.Parallel()
	b, rng := ref.Backend{}, rand.New(rand.NewPCG(1, 2))
	codes := newCodes(rng, 500)
	train := newTrain(t, codes, []int{0, 1, 2}, 3)
	field := &tt.Field{Terms: []*tt.Train{train}}
	if err := field.SetFamily(tt.MeanField); err != nil {
		t.Fatal(err)
	}
	train.Initialize(b, rng, 1)
	for _, c := range train.Cores {
		c.FreePosterior.PriorVar[0] = 1
		c.FreePosterior.SetVariance(0.5, c.Slices.Slice())
		c.Refresh(b, false)
	}
	last := train.Cores[2]
	for e := range last.Slices.N {
		last.Free[e*3+1] = 1e-3 // component 1 of the second bond is tiny
	}
	evidence := func(precision float64) *relevance.Evidence {
		e := &relevance.Evidence{}
		for range codes[0] {
			e.Residual, e.Precision = append(e.Residual, 0.1*rng.NormFloat64()), append(e.Precision, precision)
		}
		return e
	}
	if got := relevance.Supported(b, train, 1, train.Lookup(codes), evidence(100), 2); !slices.Equal(got, []int{0, 2}) {
		t.Errorf("got components %v, want 0 and 2", got)
	}
	if got := relevance.Supported(b, train, 1, train.Lookup(codes), evidence(0), 2); len(got) != 1 {
		t.Errorf("got components %v for data without precision, want one", got)
	}
}

// Shares are those of the variance of a sum of independent terms, and add up to 1.
// Latent scaling has one share for its product.
func TestShares(t *testing.T) {
	t.Parallel()
	b, rng := ref.Backend{}, rand.New(rand.NewPCG(3, 4))
	codes := newCodes(rng, 4000)
	field := &tt.Field{Terms: []*tt.Train{newTrain(t, codes, []int{0}, 1), newTrain(t, codes, []int{1}, 1), newTrain(t, codes, []int{2}, 1)}, Offset: tt.Offset{Mean: 7}}
	for k, term := range field.Terms[:2] {
		for e := range 6 { // variances of 1 and 9 times the same number
			term.Cores[0].Free[e] = float32(2*k+1) * (float32(e) - 2.5)
		}
		term.Cores[0].Refresh(b, false)
	}
	got := relevance.Shares(b, field, codes)
	for k, want := range []float64{0.1, 0.9, 0} {
		if math.Abs(got[k]-want) > 0.02 {
			t.Errorf("term %d: got share %.3f, want %.1f", k, got[k], want)
		}
	}
	backendtest.OnRanks(3, func(r backend.Ranks) {
		if divided := relevance.Shares(cpu.New(cpu.Paths()[0], 1).OnRanks(r), field, codes); !slices.Equal(divided, got) {
			t.Errorf("rank %d: got shares %v, want %v", r.Rank(), divided, got)
		}
	})
	field.Group = []int{0, 0, 1}
	if got := relevance.Shares(b, field, codes); math.Abs(got[0]-1) > 1e-9 || got[1] != 0 || got[2] != 0 {
		t.Errorf("got shares %v of a product, want 1, 0, 0", got)
	}
	field.Group = nil
	for _, term := range field.Terms { // the sums differ by rounding alone
		for e := range 6 {
			term.Cores[0].Free[e] = 0.1 + 1e-9*float32(e)
		}
		term.Cores[0].Refresh(b, false)
	}
	if got := relevance.Shares(b, field, codes); slices.ContainsFunc(got, func(share float64) bool { return share != 0 }) {
		t.Errorf("got shares %v of a constant field, want 0", got)
	}
}

// The standard error of a difference agrees with the spread of differences over tables.
func TestDifferenceError(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	const n, tables = 400, 2000
	y, f, g, w := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
	first, second, claimed := 0.0, 0.0, 0.0
	for range tables {
		difference := 0.0
		for i := range y {
			y[i], f[i], g[i], w[i] = float32(rng.NormFloat64()), float32(0.3*rng.NormFloat64()), float32(0.3*rng.NormFloat64()), 2
			a, b := float64(y[i]-f[i]), float64(y[i]-g[i])
			difference += (a*a - b*b) / n
		}
		first, second = first+difference/tables, second+difference*difference/tables
		claimed += relevance.DifferenceError(y, w, f, g) / tables
	}
	if want := math.Sqrt(second - first*first); math.Abs(claimed/want-1) > 0.06 {
		t.Errorf("got a standard error of %.4f, want %.4f", claimed, want)
	}
}
