package sideinfo

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/kernel"
)

func testBackend(t *testing.T) backend.Backend {
	t.Helper()
	path, err := cpu.ChoosePath()
	if err != nil {
		t.Fatal(err)
	}
	return cpu.New(path, 2)
}

func normalFeatures(n, c int, seed uint64) Features {
	random := randstream.New(seed, "operator test")
	f := Features{N: n, C: c, X: make([]float32, n*c)}
	for i := range f.X {
		f.X[i] = float32(random.NormFloat64())
	}
	for i := range c {
		f.Names = append(f.Names, fmt.Sprintf("x%d", i))
	}
	return f
}

func values(n int, seed uint64) []float32 { return normalFeatures(n, 1, seed).X }

func mustParse(t *testing.T, text string) kernel.Kernel {
	t.Helper()
	k, err := kernel.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// operatorExample is one operator to test.
type operatorExample struct {
	name, space, kernel string
	options             Options
}

// everyOperator lists operators of every space and basis.
var everyOperator = []operatorExample{
	{name: "primal", space: "primal"},
	{name: "primal, no intercept", space: "primal", options: Options{NoIntercept: true}},
	{name: "primal-rff", space: "primal-rff", kernel: "matern32:ard", options: Options{Columns: 30}},
	{name: "dual-rff", space: "dual-rff", kernel: "rbf+matern52*rbf[x1]", options: Options{Columns: 30}},
	{name: "eigen", space: "dual", kernel: "matern32", options: Options{Columns: 20}},
	{name: "eigen, no intercept", space: "dual", kernel: "rbf", options: Options{Columns: 20, NoIntercept: true}},
	{name: "pivots", space: "dual", kernel: "matern32:ard", options: Options{Columns: 12, Learn: true}},
	{name: "pivots of matern12", space: "dual", kernel: "matern12", options: Options{Columns: 12, Learn: true, NoIntercept: true}},
	{name: "pivots of a sum", space: "dual", kernel: "rbf[x0]*periodic:3[x1]+matern52", options: Options{Columns: 12, Learn: true}},
	{name: "dual-unwhitened", space: unwhitened, kernel: "matern12"},
}

func (e operatorExample) build(t *testing.T, f Features) Operator {
	t.Helper()
	var k kernel.Kernel
	if e.kernel != "" {
		k = mustParse(t, e.kernel)
	}
	e.options.Backend, e.options.Seed = testBackend(t), 3
	op, notices, err := New(e.space, f, k, e.options)
	if err != nil {
		t.Fatal(err)
	}
	if len(notices) > 0 {
		t.Logf("%s: %q", e.name, notices)
	}
	if op.Kind() != e.space || op.Rows() != f.N || len(op.Matrix()) != op.Rows()*op.Columns() {
		t.Fatalf("got a %s operator of %d x %d with %d values, want %s with %d rows", op.Kind(), op.Rows(), op.Columns(), len(op.Matrix()), e.space, f.N)
	}
	return op
}

func eachExample(t *testing.T, f func(t *testing.T, e operatorExample)) {
	for _, e := range everyOperator {
		t.Run(e.name, func(t *testing.T) { f(t, e) })
	}
}

// maxDifference returns the largest absolute difference.
func maxDifference(a, b []float32) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	d := 0.0
	for i := range a {
		d = max(d, math.Abs(float64(a[i])-float64(b[i])))
	}
	return d
}

// outerProduct returns A A'.
func outerProduct(b backend.Backend, op Operator) []float32 {
	n, m := op.Rows(), op.Columns()
	out := make([]float32, n*n)
	b.Gemm(false, true, n, n, m, 1, op.Matrix(), m, op.Matrix(), m, 0, out, n)
	return out
}

func TestNewRowsOfTrainingFeatures(t *testing.T) {
	t.Parallel()
	f := normalFeatures(70, 3, 1)
	eachExample(t, func(t *testing.T, e operatorExample) {
		op := e.build(t, f)
		if op.Kind() != unwhitened {
			for _, cycle := range []int{7, 10} { // the second rotation adds to the first
				weights := make([]float64, f.N)
				for i := range weights {
					weights[i] = float64(i % cycle)
				}
				if err := Rotate(op, weights); err != nil {
					t.Fatal(err)
				}
			}
		}
		m := op.Columns()
		few := Features{N: 5, C: f.C, X: f.X[20*f.C : 25*f.C], Names: f.Names}
		rows, residual, err := op.NewRows(few)
		if err != nil {
			t.Fatal(err)
		}
		if d := maxDifference(rows, op.Matrix()[20*m:25*m]); d > 1e-5 || len(residual) != few.N {
			t.Errorf("got rows that differ by %v and %d residual variances, want equal rows and %d", d, len(residual), few.N)
		}
	})
}

func TestPermutedRows(t *testing.T) {
	t.Parallel()
	t.Run("normal", func(t *testing.T) { permute(t, normalFeatures(60, 3, 2)) })
	// The symmetry of a grid makes pivots tie.
	grid := normalFeatures(27, 3, 2)
	for i := range grid.N {
		copy(grid.Row(i), []float32{float32(i%3 - 1), float32(i/3%3 - 1), float32(i/9 - 1)})
	}
	t.Run("grid", func(t *testing.T) { permute(t, grid) })
}

func permute(t *testing.T, f Features) {
	g := Features{N: f.N, C: f.C, Names: f.Names}
	order := randstream.New(4, "permutation").Perm(f.N)
	for _, i := range order {
		g.X = append(g.X, f.Row(i)...)
	}
	eachExample(t, func(t *testing.T, e operatorExample) {
		b := testBackend(t)
		a, p := e.build(t, f), e.build(t, g)
		u, v := outerProduct(b, a), outerProduct(b, p)
		if a.Columns() != p.Columns() {
			t.Fatalf("got %d columns after the permutation, want %d", p.Columns(), a.Columns())
		}
		scale := 1.0
		if a.Kind() == unwhitened {
			scale = float64(f.N) // entries of K^2
		}
		for i, from := range order {
			for j, to := range order {
				if d := math.Abs(float64(v[i*f.N+j] - u[from*f.N+to])); d > 1e-4*scale {
					t.Fatalf("got a difference of %v in A A' at %d, %d, want at most %g", d, i, j, 1e-4*scale)
				}
			}
		}
	})
}

func TestThetaGradientByDifferences(t *testing.T) {
	t.Parallel()
	const w = 3
	f := normalFeatures(50, 3, 5)
	eachExample(t, func(t *testing.T, e operatorExample) {
		op := e.build(t, f)
		learns := strings.HasSuffix(e.space, "rff") || e.options.Learn
		if !learns {
			if len(op.Theta()) > 0 || len(op.ThetaNames()) > 0 || op.ThetaGradient(make([]float32, f.N*w), make([]float32, op.Columns()*w), w) != nil {
				t.Error("got parameters, want none")
			}
			return
		}
		for _, rotated := range []bool{false, true} {
			if rotated {
				weights := make([]float64, f.N)
				for i := range weights {
					weights[i] = 1 + float64(i)
				}
				if err := Rotate(op, weights); err != nil {
					t.Fatal(err)
				}
			}
			checkGradient(t, op, w)
		}
	})
}

func TestThreadsDoNotChangeBits(t *testing.T) {
	t.Parallel()
	path, err := cpu.ChoosePath()
	if err != nil {
		t.Fatal(err)
	}
	f := normalFeatures(chunk+500, 9, 26)
	for _, e := range everyOperator {
		if e.kernel == "" || e.space == unwhitened {
			continue
		}
		var first Operator
		var gradient []float64
		for _, threads := range []int{1, 3} {
			e.options.Backend = cpu.New(path, threads)
			op, _, err := New(e.space, f, mustParse(t, e.kernel), e.options)
			if err != nil {
				t.Fatal(err)
			}
			g := op.ThetaGradient(values(f.N, 27), values(op.Columns(), 28), 1)
			if first == nil {
				first, gradient = op, g
			} else if !slices.Equal(op.Matrix(), first.Matrix()) || !slices.Equal(g, gradient) {
				t.Errorf("%s, %d threads: got matrices that differ by %v and gradient %v, want equal and %v", e.name, threads, maxDifference(op.Matrix(), first.Matrix()), g, gradient)
			}
		}
	}
}

// The gradient is a sum over chunks of rows.
func TestPullThetaOverSeveralChunks(t *testing.T) {
	t.Parallel()
	f := normalFeatures(2*chunk+100, 3, 25)
	for _, e := range everyOperator {
		if e.options.Learn || strings.HasSuffix(e.space, "rff") {
			t.Run(e.name, func(t *testing.T) { checkGradient(t, e.build(t, f), 2) })
		}
	}
}

// checkGradient compares ThetaGradient with central differences.
func checkGradient(t *testing.T, op Operator, w int) {
	t.Helper()
	b := testBackend(t)
	grad, weights := values(op.Rows()*w, 6), values(op.Columns()*w, 7)
	dst := make([]float32, op.Rows()*w)
	value := func() float64 {
		Apply(b, op, dst, weights, w)
		sum := 0.0
		for i, v := range dst {
			sum += float64(v) * float64(grad[i])
		}
		return sum
	}
	const h = 2e-3
	got, theta := op.ThetaGradient(grad, weights, w), op.Theta()
	if len(got) != len(theta) || len(op.ThetaNames()) != len(theta) {
		t.Fatalf("got %d derivatives and %d names, want %d", len(got), len(op.ThetaNames()), len(theta))
	}
	set := func(i int, v float64) {
		theta[i] = v
		if err := op.SetTheta(theta); err != nil {
			t.Fatal(err)
		}
	}
	for i, name := range op.ThetaNames() {
		old := theta[i]
		set(i, old+h)
		up := value()
		set(i, old-h)
		want := (up - value()) / (2 * h)
		set(i, old)
		if d := math.Abs(got[i] - want); !(d <= 2e-3*max(10, math.Abs(want))) {
			t.Errorf("%s: got %v, want %v by differences", name, got[i], want)
		}
	}
}

func TestApplyAgainstLoops(t *testing.T) {
	t.Parallel()
	const w = 4
	b := testBackend(t)
	f := normalFeatures(40, 2, 8)
	ops := map[string]Operator{}
	for _, e := range everyOperator {
		if strings.Contains(e.kernel, "x1") || e.kernel == "" || e.kernel == "matern12" {
			ops[e.name] = e.build(t, f)
		}
	}
	for name, op := range ops {
		n, m := op.Rows(), op.Columns()
		weights := values(m*w, 9)
		got, want := make([]float32, n*w), make([]float32, n*w)
		Apply(b, op, got, weights, w)
		for i := range n {
			for j := range m {
				for c := range w {
					want[i*w+c] += op.Matrix()[i*m+j] * weights[j*w+c]
				}
			}
		}
		if d := maxDifference(got, want); d > 2e-4 {
			t.Errorf("%s: got a difference of %v, want at most 2e-4", name, d)
		}
	}
}
