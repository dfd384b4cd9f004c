package sideinfo

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/kernel"
	"github.com/kernel-fried-tensor/kft/sideinfo/lowrank"
)

// gramOf returns the kernel matrix plus c, with the kernel bound as in operators.
func gramOf(t *testing.T, f Features, text string, c float32) []float32 {
	t.Helper()
	k, _, err := bindKernel("dual", f, mustParse(t, text), Options{Backend: testBackend(t), Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	g := make([]float32, f.N*f.N)
	kernel.Gram(testBackend(t), g, k, f.rows(), f.rows())
	for i := range g {
		g[i] += c
	}
	return g
}

func TestFullRankFactor(t *testing.T) {
	t.Parallel()
	f := normalFeatures(80, 3, 11)
	for _, text := range []string{"rbf", "matern12", "matern32", "matern52", "rbf+matern12*periodic:2"} {
		for _, learn := range []bool{false, true} {
			b := testBackend(t)
			op, _, err := Dual(f, mustParse(t, text), Options{Backend: b, Columns: f.N, Learn: learn, Seed: 3})
			if err != nil {
				t.Fatal(err)
			}
			if d := maxDifference(outerProduct(b, op), gramOf(t, f, text, 1)); d > 2e-4 {
				t.Errorf("%s, learn %v: got a difference of %v between L L' and the kernel matrix, want at most 2e-4", text, learn, d)
			}
		}
	}
}

// The residual of the truncated factor is close to that of the best factor of its
// rank.
func TestEigenIsNearlyOptimal(t *testing.T) {
	t.Parallel()
	const m = 25
	f := normalFeatures(250, 3, 12)
	op, _, err := Dual(f, kernel.Matern32(), Options{Backend: testBackend(t), Columns: m, NoIntercept: true, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	g := gramOf(t, f, "matern32", 0)
	sym := mat.NewSymDense(f.N, nil)
	for i := range f.N {
		for j := range i + 1 {
			sym.SetSym(i, j, float64(g[i*f.N+j]))
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(sym, false) {
		t.Fatal("the eigenvalues could not be computed")
	}
	best := 0.0
	for _, v := range eigen.Values(nil)[:f.N-m] {
		best += v
	}
	left := float64(f.N)
	for _, v := range op.Matrix() {
		left -= float64(v) * float64(v)
	}
	if left < best*(1-1e-4) || left > best*1.005 {
		t.Errorf("%d columns: got a residual trace of %v, want about %v", m, left, best)
	}
}

// T = K V = L (L'V): the unwhitened and the whitened form are the same function.
func TestUnwhitenedEqualsWhitened(t *testing.T) {
	t.Parallel()
	const w = 3
	b := testBackend(t)
	f := normalFeatures(60, 2, 13)
	unwhitened, _, err := DualUnwhitened(f, kernel.Matern12(), Options{Backend: b, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	v := values(f.N*w, 14)
	want := make([]float32, f.N*w)
	Apply(b, unwhitened, want, v, w)
	for _, learn := range []bool{false, true} {
		white, _, err := Dual(f, kernel.Matern12(), Options{Backend: b, Columns: f.N, Learn: learn, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		mapped, got := make([]float32, white.Columns()*w), make([]float32, f.N*w)
		b.Gemm(true, false, white.Columns(), w, white.Rows(), 1, white.Matrix(), white.Columns(), v, w, 0, mapped, w)
		Apply(b, white, got, mapped, w)
		if d := maxDifference(got, want); d > 1e-3 {
			t.Errorf("learn %v: got a difference of %v in T, want at most 1e-3", learn, d)
		}
		few := normalFeatures(4, 2, 15)
		rows, _, err := white.NewRows(few)
		if err != nil {
			t.Fatal(err)
		}
		unwhitenedRows, residual, err := unwhitened.NewRows(few)
		if err != nil {
			t.Fatal(err)
		}
		for i := range few.N {
			for c := range w {
				p, q := 0.0, 0.0
				for j := range f.N {
					p += float64(unwhitenedRows[i*f.N+j]) * float64(v[j*w+c])
				}
				for j := range white.Columns() {
					q += float64(rows[i*white.Columns()+j]) * float64(mapped[j*w+c])
				}
				if math.Abs(p-q) > 1e-3 || residual[i] != 0 {
					t.Errorf("new row %d: got %v, residual variance %v; want %v and 0", i, q, residual[i], p)
				}
			}
		}
	}
}

func TestResidualVariance(t *testing.T) {
	t.Parallel()
	f := normalFeatures(30, 2, 16)
	probe := Features{N: 2, C: 2, X: []float32{1000, 1000, f.X[8], f.X[9]}}
	for _, e := range everyOperator {
		if strings.Contains(e.kernel, "x1") {
			continue
		}
		e.options.Columns = 2 * (f.N / 2)
		op := e.build(t, f)
		_, residual, err := op.NewRows(probe)
		if err != nil {
			t.Fatal(err)
		}
		far := float32(0)
		if e.space == "dual" {
			far = 1
		}
		if d := math.Abs(float64(residual[0] - far)); d > 1e-4 || residual[1] > 1e-4 || residual[1] < 0 {
			t.Errorf("%s: got residual variance %v far from all rows and %v at a training row, want %v and 0", e.name, residual[0], residual[1], far)
		}
	}
}

func TestResidualVarianceOfTruncatedFactor(t *testing.T) {
	t.Parallel()
	f := normalFeatures(200, 2, 17)
	for _, learn := range []bool{false, true} {
		op, _, err := Dual(f, kernel.Matern12(), Options{Backend: testBackend(t), Columns: 10, Learn: learn})
		if err != nil {
			t.Fatal(err)
		}
		rows, residual, err := op.NewRows(f)
		if err != nil {
			t.Fatal(err)
		}
		m, total := op.Columns(), 0.0
		for i := range f.N {
			square := 0.0
			for _, v := range rows[i*m : (i+1)*m] {
				square += float64(v) * float64(v)
			}
			if math.Abs(square+float64(residual[i])-2) > 1e-4 { // k + c at 0
				t.Fatalf("row %d: got squared norm %v and residual variance %v, want a sum of 2", i, square, residual[i])
			}
			total += float64(residual[i])
		}
		if total/200 < .01 || total/200 > .7 {
			t.Errorf("learn %v: got a mean residual variance of %v with ten columns, want 0.01 to 0.7", learn, total/200)
		}
	}
}

func TestConstantSideInformation(t *testing.T) {
	t.Parallel()
	f := Features{N: 9, C: 2, X: slices.Repeat([]float32{.5, -2}, 9), Names: []string{"a", "b"}}
	for _, space := range []string{"primal", "primal-rff", "dual", "dual-rff"} {
		op, notices, err := New(space, f, kernel.RBF(), Options{Backend: testBackend(t)})
		if err != nil {
			t.Fatal(err)
		}
		if op.Columns() != 1 || maxDifference(op.Matrix(), slices.Repeat([]float32{1}, 9)) != 0 {
			t.Errorf("%s: got %d columns, matrix %v; want a column of ones", space, op.Columns(), op.Matrix())
		}
		if len(notices) == 0 || !strings.Contains(notices[len(notices)-1], "only the intercept") {
			t.Errorf("%s: got notices %q, want one about the intercept", space, notices)
		}
		if err := op.SetTheta(op.Theta()); err != nil {
			t.Errorf("%s: %v", space, err)
		}
		rows, residual, err := op.NewRows(namedFeatures(3, f.Names))
		if err != nil || maxDifference(rows, []float32{1, 1, 1}) != 0 || maxDifference(residual, []float32{0, 0, 0}) != 0 {
			t.Errorf("%s: got new rows %v, residual variance %v, %v; want ones and zeros", space, rows, residual, err)
		}
	}
	// A kernel of constant columns is constant.
	g := normalFeatures(9, 2, 18)
	for i := range g.N {
		g.X[2*i] = 4
	}
	op, _, err := Dual(g, kernel.OnColumns(kernel.RBF(), "x0"), Options{Backend: testBackend(t), NoIntercept: true})
	if err != nil || op.Columns() != 1 {
		t.Errorf("kernel of a constant column: got %v, %v; want one column", op, err)
	}
}

func namedFeatures(n int, names []string) Features {
	f := normalFeatures(n, len(names), 19)
	f.Names = names
	return f
}

func TestPrimalDropsConstantColumns(t *testing.T) {
	t.Parallel()
	f := Features{N: 3, C: 3, X: []float32{1, 7, 2, 3, 7, 4, 5, 7, 7}, Names: []string{"a", "b", "c"}}
	op, notices, err := Primal(f, Options{Backend: testBackend(t)})
	if err != nil {
		t.Fatal(err)
	}
	// Without the intercept, rows have a mean squared norm of (5 + 25 + 74) / 3.
	s := float32(math.Sqrt(3. / 104))
	if maxDifference(op.Matrix(), []float32{1, s, 2 * s, 1, 3 * s, 4 * s, 1, 5 * s, 7 * s}) > 1e-6 {
		t.Errorf("got matrix %v, want columns a and c scaled by %v", op.Matrix(), s)
	}
	if len(notices) != 1 || !strings.Contains(notices[0], "1 of 3 columns") || !strings.HasSuffix(notices[0], ": b") {
		t.Errorf("got notices %q, want one about column b", notices)
	}
}

func TestRotationDiagonalises(t *testing.T) {
	t.Parallel()
	f := normalFeatures(90, 3, 20)
	weights := make([]float64, f.N)
	for i := range weights {
		weights[i] = math.Exp(math.Sin(float64(i)))
	}
	eachExample(t, func(t *testing.T, e operatorExample) {
		b := testBackend(t)
		op := e.build(t, f)
		if e.space == "dual-unwhitened" {
			if err := Rotate(op, weights); err == nil || !strings.Contains(err.Error(), "use dual") {
				t.Errorf("unwhitened operator: got error %v, want one that suggests dual", err)
			}
			return
		}
		before := outerProduct(b, op)
		for range 2 { // the second rotation changes nothing
			if err := Rotate(op, weights); err != nil {
				t.Fatal(err)
			}
		}
		m := op.Columns()
		h := weightedGram(b, op.Matrix(), m, weights)
		for i := range m {
			for j := range i {
				if math.Abs(h[i*m+j]) > 1e-5*h[0] {
					t.Fatalf("got A' diag(n) A = %v at %d, %d with largest entry %v, want 0", h[i*m+j], i, j, h[0])
				}
			}
			if i > 0 && h[i*m+i] > h[(i-1)*m+i-1]*(1+1e-4)+1e-5*h[0] {
				t.Errorf("got eigenvalue %v at %d after %v, want descending order", h[i*m+i], i, h[(i-1)*m+i-1])
			}
		}
		if d := maxDifference(outerProduct(b, op), before); d > 1e-4 {
			t.Errorf("got a change of A A' by %v, want at most 1e-4", d)
		}
	})
	if err := Rotate(everyOperator[0].build(t, f), slices.Repeat([]float64{math.NaN()}, f.N)); err == nil {
		t.Error("got no error for weights of NaN, want one")
	}
}

func TestFewDistinctRows(t *testing.T) {
	t.Parallel()
	f := normalFeatures(60, 2, 21)
	for i := range f.N {
		copy(f.Row(i), f.Row(i%6))
	}
	for _, learn := range []bool{false, true} {
		op, notices, err := Dual(f, kernel.RBF(), Options{Backend: testBackend(t), Columns: 20, Learn: learn})
		if err != nil {
			t.Fatal(err)
		}
		if op.Columns() > 7 || len(notices) != 1 || !strings.Contains(notices[0], "working precision") {
			t.Errorf("learn %v, six distinct rows: got %d columns, notices %q; want at most 7 and one notice", learn, op.Columns(), notices)
		}
	}
}

func TestLargeTablesUsePivots(t *testing.T) {
	t.Parallel()
	b := testBackend(t)
	f := normalFeatures(EigenLimit+1, 1, 22)
	op, _, err := Dual(f, kernel.RBF(), Options{Backend: b, Columns: 8})
	if err != nil {
		t.Fatal(err)
	}
	if len(op.Theta()) != 2 { // intercept and length: only pivots can be learned here
		t.Errorf("%d entities: got parameters %v, want intercept and length", f.N, op.ThetaNames())
	}
	if _, _, err := DualUnwhitened(f, kernel.RBF(), Options{Backend: b, Columns: 8}); err == nil || !strings.Contains(err.Error(), "ids are too many") || !strings.Contains(err.Error(), "use dual-rff") || fielderr.Path(err) != "side.space" {
		t.Errorf("unwhitened, %d entities: got error %v (field %q), want one about side.space", f.N, err, fielderr.Path(err))
	}
}

func TestOperatorErrors(t *testing.T) {
	t.Parallel()
	b := testBackend(t)
	good := normalFeatures(5, 2, 23)
	bad := normalFeatures(5, 2, 24)
	bad.X[3] = float32(math.NaN())
	for _, c := range []struct {
		what, space string
		f           Features
		k           kernel.Kernel
		opt         Options
		want        string
	}{
		{"not finite", "primal", bad, nil, Options{}, "entity 2, x1"},
		{"not finite", "dual", bad, kernel.RBF(), Options{}, "entity 2, x1"},
		{"no columns", "dual", Features{N: 3}, kernel.RBF(), Options{}, "no column besides its key"},
		{"no entities", "dual", Features{C: 3}, kernel.RBF(), Options{}, "has no entities"},
		{"negative columns", "dual", good, kernel.RBF(), Options{Columns: -1}, "above 0"},
		{"one random feature", "dual-rff", good, kernel.RBF(), Options{Columns: 1}, "at least 2"},
		{"unknown column", "dual", good, kernel.OnColumns(kernel.RBF(), "x3"), Options{}, "did you mean"},
		{"unknown space", "duel", good, kernel.RBF(), Options{}, `did you mean "dual"`},
	} {
		c.opt.Backend = b
		if _, _, err := New(c.space, c.f, c.k, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %q in it", c.what, err, c.want)
		}
	}
	_, notices, err := Dual(good, kernel.Matern12(), Options{Backend: b, Columns: 9})
	if err != nil || len(notices) != 1 || !strings.Contains(notices[0], "9 columns requested for 5 entities") {
		t.Errorf("more columns than entities: got notices %q, %v; want one notice", notices, err)
	}
	op, _, err := Dual(good, kernel.RBF(), Options{Backend: b, Learn: true})
	if err != nil {
		t.Fatal(err)
	}
	theta := op.Theta()
	before := slices.Clone(op.Matrix())
	if err := op.SetTheta([]float64{theta[0], math.Inf(1)}); err == nil || maxDifference(op.Matrix(), before) != 0 {
		t.Errorf("infinite length-scale: got error %v, want one and an unchanged matrix", err)
	}
	for what, f := range map[string]Features{"columns": normalFeatures(2, 3, 1), "trained with \"x0\"": namedFeatures(2, []string{"u", "v"}), "is NaN": bad} {
		if _, _, err := op.NewRows(f); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("new rows: got error %v, want %q in it", err, what)
		}
	}
}

// The candidates for pivots do not depend on the order of the rows.
func TestCandidates(t *testing.T) {
	t.Parallel()
	x := normalFeatures(300, 3, 5).rows()
	reversed := kernel.Rows{N: x.N, C: x.C}
	for i := x.N - 1; i >= 0; i-- {
		reversed.X = append(reversed.X, x.X[i*x.C:(i+1)*x.C]...)
	}
	got, want := lowrank.Candidates(reversed, 100), lowrank.Candidates(x, 100)
	if !slices.Equal(got.X, want.X) {
		t.Error("the candidates of reversed rows differ")
	}
	mean := float32(0)
	for _, v := range got.X {
		mean += v / float32(len(got.X))
	}
	if got.N != 100 || math.Abs(float64(mean)) > 0.3 {
		t.Errorf("got %d candidates with mean %g, want 100 random ones of mean 0", got.N, mean)
	}
}
