package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// canary is a NaN that no arithmetic produces.
var canary = math.Float32frombits(0x7fc0beef)

const guard = 40

// guarded returns size elements from fill with canaries before and after, and a
// function that fails the test if a canary has changed.
func guarded(t *testing.T, size int, fill func(i int) float32) (data []float32, check func()) {
	t.Helper()
	all := slices.Repeat([]float32{canary}, size+2*guard)
	data = all[guard : guard+size : guard+size]
	for i := range data {
		data[i] = fill(i)
	}
	return data, func() {
		t.Helper()
		for i, v := range all {
			if (i < guard || i >= guard+size) && math.Float32bits(v) != math.Float32bits(canary) {
				t.Errorf("element %d of %d was overwritten", i-guard, size)
				return
			}
		}
	}
}

func normal(random *rand.Rand) func(int) float32 {
	return func(int) float32 { return float32(random.NormFloat64()) }
}

type gemmCase struct {
	ta, tb      bool
	m, n, k     int
	pad         int // elements between the rows of each matrix
	alpha, beta float32
	poisoned    bool // C is NaN and beta is zero
	threads     int
}

func (c gemmCase) String() string {
	return fmt.Sprintf("ta=%v tb=%v m=%d n=%d k=%d pad=%d alpha=%g beta=%g threads=%d", c.ta, c.tb, c.m, c.n, c.k, c.pad, c.alpha, c.beta, c.threads)
}

// stored returns the numbers of rows and columns of a matrix as stored.
func stored(transposed bool, rows, columns int) (int, int) {
	if transposed {
		return columns, rows
	}
	return rows, columns
}

// rowsOf copies a rows x columns matrix, stored transposed or not.
func rowsOf(transposed bool, x []float32, stride, rows, columns int) []float64 {
	out := make([]float64, rows*columns)
	for i := range rows {
		for j := range columns {
			at := i*stride + j
			if transposed {
				at = j*stride + i
			}
			out[i*columns+j] = float64(x[at])
		}
	}
	return out
}

func checkGemm(t *testing.T, p Path, c gemmCase) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, uint64(c.m*1000003+c.n*1009+c.k)))
	matrix := func(rows, columns int, fill func(int) float32) ([]float32, int, func()) {
		stride := max(1, columns) + c.pad
		size := 0
		if rows > 0 && columns > 0 {
			size = (rows-1)*stride + columns
		}
		gap := func(i int) float32 {
			if i%stride >= columns {
				return canary
			}
			return fill(i)
		}
		data, check := guarded(t, size, gap)
		return data, stride, func() {
			t.Helper()
			check()
			for i, v := range data {
				if i%stride >= columns && math.Float32bits(v) != math.Float32bits(canary) {
					t.Errorf("%v: element %d between rows was overwritten", c, i)
					return
				}
			}
		}
	}
	rowsA, columnsA := stored(c.ta, c.m, c.k)
	rowsB, columnsB := stored(c.tb, c.k, c.n)
	a, lda, checkA := matrix(rowsA, columnsA, normal(random))
	b, ldb, checkB := matrix(rowsB, columnsB, normal(random))
	fillC := normal(random)
	if c.poisoned {
		fillC = func(int) float32 { return float32(math.NaN()) }
	}
	dst, ldc, checkC := matrix(c.m, c.n, fillC)
	before := slices.Clone(dst)
	Gemm(p, c.threads, c.ta, c.tb, c.m, c.n, c.k, c.alpha, a, lda, b, ldb, c.beta, dst, ldc)
	checkA()
	checkB()
	checkC()
	x, y := rowsOf(c.ta, a, lda, c.m, c.k), rowsOf(!c.tb, b, ldb, c.n, c.k)
	// Under the race detector the reference loops take minutes. Of large
	// products only some rows are checked there, at different positions within
	// their tiles.
	step := 1
	if testing.Short() && c.m*c.n*c.k > 1<<16 {
		step = 7
	}
	for i := 0; i < c.m; i += step {
		for j := range c.n {
			var sum, size float64
			for q, v := range x[i*c.k : (i+1)*c.k] {
				v *= y[j*c.k+q]
				sum += v
				size += math.Abs(v)
			}
			want := float64(c.alpha) * sum
			scale := math.Abs(float64(c.alpha)) * size
			if c.beta != 0 {
				old := float64(c.beta) * float64(before[i*ldc+j])
				want += old
				scale += math.Abs(old)
			}
			have := float64(dst[i*ldc+j])
			// The error of a chain of k roundings, none larger than the sum of
			// absolute values.
			if tolerance := 1.2e-7 * scale * (2 + math.Sqrt(float64(c.k))); !(math.Abs(have-want) <= tolerance) {
				t.Fatalf("%v: C[%d][%d] = %g, want %g +- %g", c, i, j, have, want, tolerance)
			}
		}
	}
}

func eachPath(t *testing.T, test func(t *testing.T, p Path)) {
	for _, p := range Paths() {
		t.Run(string(p), func(t *testing.T) { test(t, p) })
	}
}

func TestGemm(t *testing.T) {
	t.Parallel()
	sizes := []int{0, 1, 2, 3, 5, 7, 8, 9, 12, 13, 16, 17, 24, 31, 33, 63, 65}
	eachPath(t, func(t *testing.T, p Path) {
		variant := 0
		for _, m := range sizes {
			for _, n := range sizes {
				for _, k := range []int{0, 1, 2, 5, 16, 67} {
					c := gemmCase{ta: variant&1 != 0, tb: variant&2 != 0, m: m, n: n, k: k, pad: variant % 3 * 5, alpha: 1, threads: 1 + variant%2}
					switch variant % 5 {
					case 0:
						c.poisoned = true
					case 1:
						c.beta = 1
					case 2:
						c.alpha, c.beta = -0.5, 0.25
					case 3:
						c.alpha, c.poisoned = 3, true
					case 4:
						c.alpha, c.beta = 0, 2
					}
					checkGemm(t, p, c)
					variant++
				}
			}
		}
	})
}

func TestGemmEveryTransposition(t *testing.T) {
	t.Parallel()
	eachPath(t, func(t *testing.T, p Path) {
		for _, shape := range [][3]int{{100, 70, 300}, {13, 200, 257}, {200, 33, 513}, {5, 300, 30}, {300, 129, 20}, {37, 1, 600}, {1, 37, 600}, {75, 600, 40}} {
			for variant := range 16 {
				c := gemmCase{ta: variant&1 != 0, tb: variant&2 != 0, m: shape[0], n: shape[1], k: shape[2], threads: 2, alpha: 1.5, poisoned: true}
				if variant&4 != 0 {
					c.beta, c.poisoned = -0.75, false
				}
				if variant&8 != 0 {
					c.pad = 7
				}
				checkGemm(t, p, c)
			}
		}
	})
}

// TestGemmTallK covers the code for Gram matrices of tall panels.
func TestGemmTallK(t *testing.T) {
	t.Parallel()
	eachPath(t, func(t *testing.T, p Path) {
		for _, r := range []int{1, 8, 17, 64} {
			checkGemm(t, p, gemmCase{ta: true, m: r, n: r, k: 9001, alpha: 1, poisoned: true, threads: 2})
		}
		checkGemm(t, p, gemmCase{ta: true, tb: true, m: 30, n: 20, k: 5000, pad: 3, alpha: 2, beta: -1, threads: 3})
		checkGemm(t, p, gemmCase{m: 9, n: 11, k: 4096, pad: 1, alpha: 1, beta: 1, threads: 2})
	})
}

// TestGemmManyBlocksOfB uses more than one packed part of B, in columns and in
// k.
func TestGemmManyBlocksOfB(t *testing.T) {
	t.Parallel()
	checkGemm(t, Paths()[0], gemmCase{m: 50, n: 1100, k: 2100, alpha: 1, beta: 1, threads: 2})
	checkGemm(t, Paths()[0], gemmCase{ta: true, tb: true, m: 30, n: 1100, k: 2100, alpha: 1, poisoned: true, threads: 2})
}

func TestGemmSameBitsForEveryNumberOfThreads(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 7))
	eachPath(t, func(t *testing.T, p Path) {
		for _, shape := range [][3]int{{150, 170, 300}, {1000, 40, 70}, {20, 2000, 64}, {40, 40, 10000}, {257, 129, 600}} {
			m, n, k := shape[0], shape[1], shape[2]
			a, b, c := make([]float32, m*k), make([]float32, k*n), make([]float32, m*n)
			for _, x := range [][]float32{a, b, c} {
				for i := range x {
					x[i] = float32(random.NormFloat64())
				}
			}
			for variant := range 4 {
				ta, tb := variant&1 != 0, variant&2 != 0
				_, lda := stored(ta, m, k)
				_, ldb := stored(tb, k, n)
				var first []float32
				for _, threads := range []int{1, 2, 3, 7, 16} {
					have := slices.Clone(c)
					Gemm(p, threads, ta, tb, m, n, k, 1.25, a, lda, b, ldb, 0.5, have, n)
					if first == nil {
						first = have
					} else if !slices.Equal(first, have) {
						t.Errorf("m=%d n=%d k=%d ta=%v tb=%v: %d threads give different bits than 1", m, n, k, ta, tb, threads)
					}
				}
			}
		}
	})
}

func TestGemmPanicsOnInvalidArguments(t *testing.T) {
	t.Parallel()
	x := make([]float32, 12)
	for name, call := range map[string]func(){
		"A":       func() { Gemm(Generic, 1, false, false, 3, 3, 5, 1, x, 5, x, 3, 0, x, 3) },
		"B":       func() { Gemm(Generic, 1, false, false, 2, 5, 3, 1, x, 3, x, 5, 0, x, 5) },
		"C":       func() { Gemm(Generic, 1, false, false, 4, 4, 1, 1, x, 1, x, 4, 0, x, 4) },
		"stride":  func() { Gemm(Generic, 1, false, false, 2, 2, 3, 1, x, 2, x, 2, 0, x, 2) },
		"threads": func() { Gemm(Generic, 0, false, false, 2, 2, 2, 1, x, 2, x, 2, 0, x, 2) },
		"path":    func() { Gemm("none", 1, false, false, 2, 2, 2, 1, x, 2, x, 2, 0, x, 2) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("got no panic, want one")
				}
			}()
			call()
		})
	}
}
