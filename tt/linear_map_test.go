package tt_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/tt/entity"
	"github.com/kernel-fried-tensor/kft/tt/regression"
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

// sideOf returns the operators of the modes of a core. Every mode but month has
// one.
func sideOf(rng *rand.Rand, core []int) []regression.Operator {
	var ops []regression.Operator
	for _, m := range core {
		if modes[m] == "month" {
			ops = append(ops, nil)
			continue
		}
		ops = append(ops, normal(rng, sizes[m], 3))
	}
	return ops
}

// Apply gives the explicit sum over all columns at every entity, and Adjoint is its
// adjoint, with and without squares.
func TestLinearMap(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	codes := cells(rng, 60)
	for _, core := range [][]int{{0}, {0, 1}, {1, 2}, {2, 0}, {0, 1, 3}, {3, 2, 1}} {
		x, err := entity.NewIndex(core, sizes, codes)
		if err != nil {
			t.Fatal(err)
		}
		checkLinearMap(t, rng, x, sideOf(rng, core))
	}
}

// More entities than rows that are copied at a time, in another order than the operator's.
func TestLinearMapOfManyEntities(t *testing.T) {
	t.Parallel()
	const n = 70_000
	reversed := make([]int32, n-1)
	for i := range reversed {
		reversed[i] = int32(n - 1 - i)
	}
	x, err := entity.NewIndex([]int{0}, []int{n}, [][]int32{reversed})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(2, 1))
	checkLinearMap(t, rng, x, []regression.Operator{normal(rng, n, 3)})
}

// Curves of several ids, in both orders of the modes and with more rows than a block of narrow products.
func TestLinearMapOfCurves(t *testing.T) {
	t.Parallel()
	const rows, ids = 600, 7
	rng := rand.New(rand.NewPCG(3, 1))
	codes := [][]int32{make([]int32, 3000), make([]int32, 3000)}
	for i := range codes[0] {
		codes[0][i], codes[1][i] = rng.Int32N(rows), rng.Int32N(ids)
	}
	for _, core := range [][]int{{0, 1}, {1, 0}, {0}} {
		x, err := entity.NewIndex(core, []int{rows, ids}, codes)
		if err != nil {
			t.Fatal(err)
		}
		var ops []regression.Operator
		for _, m := range core {
			ops = append(ops, []regression.Operator{normal(rng, rows, 40), nil}[m])
		}
		checkLinearMap(t, rng, x, ops)
	}
}

// An effect of two modes with side information, with many ids: products with many rows, and combinations that do not occur.
func TestLinearMapOfPairs(t *testing.T) {
	t.Parallel()
	const stores, items = 70, 90
	rng := rand.New(rand.NewPCG(4, 1))
	codes := [][]int32{make([]int32, 2000), make([]int32, 2000)}
	for i := range codes[0] {
		codes[0][i], codes[1][i] = rng.Int32N(stores), rng.Int32N(items)
	}
	x, err := entity.NewIndex([]int{0, 1}, []int{stores, items}, codes)
	if err != nil {
		t.Fatal(err)
	}
	checkLinearMap(t, rng, x, []regression.Operator{normal(rng, stores, 6), normal(rng, items, 5)})
}

func checkLinearMap(t *testing.T, rng *rand.Rand, x *entity.Index, ops []regression.Operator) {
	t.Helper()
	for _, width := range []int{1, 3, 5} {
		checkLinearMapOfWidth(t, rng, x, ops, width)
	}
}

func checkLinearMapOfWidth(t *testing.T, rng *rand.Rand, x *entity.Index, ops []regression.Operator, width int) {
	t.Helper()
	m, err := regression.NewLinearMap(x, ops, width)
	if err != nil {
		t.Fatal(err)
	}
	w := normal(rng, m.Weights(), 1).a
	n := x.Entities() - 1
	got, want := make([]float32, (n+1)*width), make([]float32, n*width)
	for engine, b := range engines() {
		for _, squared := range []bool{false, true} {
			m.Apply(b, got, w, squared)
			explicit(want, x, ops, w, width, squared)
			for i := range want {
				if math.Abs(float64(got[i]-want[i])) > 1e-4*(1+math.Abs(float64(want[i]))) {
					t.Fatalf("core %v on %s, squared %v: got %g at entry %d, want %g", x.Axes(), engine, squared, got[i], i, want[i])
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
			if math.Abs(left-right) > 1e-4*(float64(n)+math.Abs(left)) {
				t.Errorf("core %v on %s, squared %v: got g.Aw = %g and A'g.w = %g, want equal", x.Axes(), engine, squared, left, right)
			}
		}
	}
}

// explicit writes the sum over all columns, one term at a time.
func explicit(dst []float32, x *entity.Index, ops []regression.Operator, w []float32, width int, squared bool) {
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
			columns[q] = left // these cases have at most one identity
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
