package sideinfo

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/kernel-fried-tensor/kft/kernel"
)

// gramOf returns the kernel matrix plus c, as the operators see it.
func gramOf(t *testing.T, f Features, text string, c float32) []float32 {
	t.Helper()
	k, _, err := fitted("dual", f, mustParse(t, text), Options{Backend: testBackend(t), Seed: 3})
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

func TestFullRankGivesTheKernelMatrix(t *testing.T) {
	f := normalFeatures(80, 3, 11)
	for _, text := range []string{"rbf", "matern12", "matern32", "matern52", "rbf+matern12*periodic:2"} {
		for _, learn := range []bool{false, true} {
			b := testBackend(t)
			op, _, err := Dual(f, mustParse(t, text), Options{Backend: b, Columns: f.N, Learn: learn, Seed: 3})
			if err != nil {
				t.Fatal(err)
			}
			if d := worst(outerProduct(b, op), gramOf(t, f, text, 1)); d > 2e-4 {
				t.Errorf("%s, learn %v: L L' is off by %v", text, learn, d)
			}
		}
	}
}

// The truncated factor must leave hardly more than the best of its rank does.
func TestEigenIsNearlyTheBestOfItsRank(t *testing.T) {
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
		t.Fatal("no eigenvalues")
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
		t.Errorf("%d columns leave a trace of %v, the best leave %v", m, left, best)
	}
}

// T = K V = L (L'V): the paper's form and the whitened one are the same function.
func TestPaperAndWhitenedGiveTheSameFunction(t *testing.T) {
	const w = 3
	b := testBackend(t)
	f := normalFeatures(60, 2, 13)
	paper, _, err := DualPaper(f, kernel.Matern12(), Options{Backend: b, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	v := values(f.N*w, 14)
	want := make([]float32, f.N*w)
	Apply(b, paper, want, v, w)
	for _, learn := range []bool{false, true} {
		white, _, err := Dual(f, kernel.Matern12(), Options{Backend: b, Columns: f.N, Learn: learn, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		mapped, got := make([]float32, white.Columns()*w), make([]float32, f.N*w)
		b.Gemm(true, false, white.Columns(), w, white.Rows(), 1, white.Matrix(), white.Columns(), v, w, 0, mapped, w)
		Apply(b, white, got, mapped, w)
		if d := worst(got, want); d > 1e-3 {
			t.Errorf("learn %v: T differs by %v", learn, d)
		}
		few := normalFeatures(4, 2, 15)
		rows, _, err := white.NewRows(few)
		if err != nil {
			t.Fatal(err)
		}
		paperRows, lost, err := paper.NewRows(few)
		if err != nil {
			t.Fatal(err)
		}
		for i := range few.N {
			for c := range w {
				p, q := 0.0, 0.0
				for j := range f.N {
					p += float64(paperRows[i*f.N+j]) * float64(v[j*w+c])
				}
				for j := range white.Columns() {
					q += float64(rows[i*white.Columns()+j]) * float64(mapped[j*w+c])
				}
				if math.Abs(p-q) > 1e-3 || lost[i] != 0 {
					t.Errorf("new row %d: %v and %v, %v lost", i, p, q, lost[i])
				}
			}
		}
	}
}

func TestLostVariance(t *testing.T) {
	f := normalFeatures(30, 2, 16)
	probe := Features{N: 2, C: 2, X: []float32{1000, 1000, f.X[8], f.X[9]}}
	for _, e := range everyOperator {
		if strings.Contains(e.kernel, "x1") {
			continue
		}
		e.options.Columns = 2 * (f.N / 2)
		op := e.build(t, f)
		_, lost, err := op.NewRows(probe)
		if err != nil {
			t.Fatal(err)
		}
		far := float32(0)
		if e.space == "dual" {
			far = 1
		}
		if d := math.Abs(float64(lost[0] - far)); d > 1e-4 || lost[1] > 1e-4 || lost[1] < 0 {
			t.Errorf("%s: %v lost far from all (expected %v), %v at a training row", e.name, lost[0], far, lost[1])
		}
	}
}

func TestLostVarianceOfATruncatedFactor(t *testing.T) {
	f := normalFeatures(200, 2, 17)
	for _, learn := range []bool{false, true} {
		op, _, err := Dual(f, kernel.Matern12(), Options{Backend: testBackend(t), Columns: 10, Learn: learn})
		if err != nil {
			t.Fatal(err)
		}
		rows, lost, err := op.NewRows(f)
		if err != nil {
			t.Fatal(err)
		}
		m, total := op.Columns(), 0.0
		for i := range f.N {
			square := 0.0
			for _, v := range rows[i*m : (i+1)*m] {
				square += float64(v) * float64(v)
			}
			if math.Abs(square+float64(lost[i])-2) > 1e-4 { // k + c at 0
				t.Fatalf("row %d holds %v and lost %v of 2", i, square, lost[i])
			}
			total += float64(lost[i])
		}
		if total/200 < .01 || total/200 > .7 {
			t.Errorf("learn %v: ten columns lose %v a row", learn, total/200)
		}
	}
}

func TestConstantSideInformationLeavesTheIntercept(t *testing.T) {
	f := Features{N: 9, C: 2, X: slices.Repeat([]float32{.5, -2}, 9), Names: []string{"a", "b"}}
	for _, space := range []string{"primal", "primal-rff", "dual", "dual-rff"} {
		op, notices, err := New(space, f, kernel.RBF(), Options{Backend: testBackend(t)})
		if err != nil {
			t.Fatal(err)
		}
		if op.Columns() != 1 || worst(op.Matrix(), slices.Repeat([]float32{1}, 9)) != 0 {
			t.Errorf("%s: %d columns, matrix %v", space, op.Columns(), op.Matrix())
		}
		if len(notices) == 0 || !strings.Contains(notices[len(notices)-1], "only the intercept") {
			t.Errorf("%s: notices %q", space, notices)
		}
		if err := op.SetTheta(op.Theta()); err != nil {
			t.Errorf("%s: %v", space, err)
		}
		rows, lost, err := op.NewRows(normalFeatures2(3, f.Names))
		if err != nil || worst(rows, []float32{1, 1, 1}) != 0 || worst(lost, []float32{0, 0, 0}) != 0 {
			t.Errorf("%s: new rows %v, lost %v, %v", space, rows, lost, err)
		}
	}
	// A kernel that only looks at what is constant is constant too.
	g := normalFeatures(9, 2, 18)
	for i := range g.N {
		g.X[2*i] = 4
	}
	op, _, err := Dual(g, kernel.OnColumns(kernel.RBF(), "x0"), Options{Backend: testBackend(t), NoIntercept: true})
	if err != nil || op.Columns() != 1 {
		t.Errorf("%v, %v", op, err)
	}
}

func normalFeatures2(n int, names []string) Features {
	f := normalFeatures(n, len(names), 19)
	f.Names = names
	return f
}

func TestPrimalLeavesOutConstantColumns(t *testing.T) {
	f := Features{N: 3, C: 3, X: []float32{1, 7, 2, 3, 7, 4, 5, 7, 7}, Names: []string{"a", "b", "c"}}
	op, notices, err := Primal(f, Options{Backend: testBackend(t)})
	if err != nil {
		t.Fatal(err)
	}
	// Rows but for the intercept have a mean squared norm of (5 + 25 + 74) / 3.
	s := float32(math.Sqrt(3. / 104))
	if worst(op.Matrix(), []float32{1, s, 2 * s, 1, 3 * s, 4 * s, 1, 5 * s, 7 * s}) > 1e-6 {
		t.Errorf("matrix %v", op.Matrix())
	}
	if len(notices) != 1 || !strings.Contains(notices[0], "1 of 3 columns") || !strings.HasSuffix(notices[0], ": b") {
		t.Errorf("notices %q", notices)
	}
}

func TestRotationDiagonalisesTheDataWeight(t *testing.T) {
	f := normalFeatures(90, 3, 20)
	weights := make([]float64, f.N)
	for i := range weights {
		weights[i] = math.Exp(math.Sin(float64(i)))
	}
	eachExample(t, func(t *testing.T, e operatorExample) {
		b := testBackend(t)
		op := e.build(t, f)
		if e.space == "dual-paper" {
			if err := Rotate(op, weights); err == nil || !strings.Contains(err.Error(), "use dual") {
				t.Errorf("the paper's form was rotated: %v", err)
			}
			return
		}
		before := outerProduct(b, op)
		for range 2 { // twice is once
			if err := Rotate(op, weights); err != nil {
				t.Fatal(err)
			}
		}
		m := op.Columns()
		h := weighted(b, op.Matrix(), m, weights)
		for i := range m {
			for j := range i {
				if math.Abs(h[i*m+j]) > 1e-5*h[0] {
					t.Fatalf("A' diag(n) A at %d, %d is %v beside %v", i, j, h[i*m+j], h[0])
				}
			}
			if i > 0 && h[i*m+i] > h[(i-1)*m+i-1]*(1+1e-4)+1e-5*h[0] {
				t.Errorf("axis %d has %v, the one before it %v", i, h[i*m+i], h[(i-1)*m+i-1])
			}
		}
		if d := worst(outerProduct(b, op), before); d > 1e-4 {
			t.Errorf("A A' moved by %v", d)
		}
	})
	if err := Rotate(everyOperator[0].build(t, f), slices.Repeat([]float64{math.NaN()}, f.N)); err == nil {
		t.Error("weights of NaN were taken")
	}
}

func TestFewDistinctRows(t *testing.T) {
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
			t.Errorf("learn %v: six different rows gave %d columns, notices %q", learn, op.Columns(), notices)
		}
	}
}

func TestLargeTablesTakePivots(t *testing.T) {
	b := testBackend(t)
	f := normalFeatures(EigenLimit+1, 1, 22)
	op, _, err := Dual(f, kernel.RBF(), Options{Backend: b, Columns: 8})
	if err != nil {
		t.Fatal(err)
	}
	if len(op.Theta()) != 2 { // intercept and length: the form that can be learned
		t.Errorf("%d entities: theta %v", f.N, op.ThetaNames())
	}
	if _, _, err := DualPaper(f, kernel.RBF(), Options{Backend: b, Columns: 8}); err == nil || !strings.Contains(err.Error(), "too many for the space dual-paper") {
		t.Errorf("the paper's form of %d entities: %v", f.N, err)
	}
}

func TestRefusals(t *testing.T) {
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
		{"no entities", "dual", Features{C: 3}, kernel.RBF(), Options{}, "without entities"},
		{"negative columns", "dual", good, kernel.RBF(), Options{Columns: -1}, "above 0"},
		{"one random feature", "dual-rff", good, kernel.RBF(), Options{Columns: 1}, "at least 2"},
		{"unknown column", "dual", good, kernel.OnColumns(kernel.RBF(), "x3"), Options{}, "did you mean"},
		{"unknown space", "duel", good, kernel.RBF(), Options{}, `did you mean "dual"`},
	} {
		c.opt.Backend = b
		if _, _, err := New(c.space, c.f, c.k, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; expected %q in it", c.what, err, c.want)
		}
	}
	_, notices, err := Dual(good, kernel.Matern12(), Options{Backend: b, Columns: 9})
	if err != nil || len(notices) != 1 || !strings.Contains(notices[0], "9 columns asked for 5 entities") {
		t.Errorf("more columns than entities: %q, %v", notices, err)
	}
	op, _, err := Dual(good, kernel.RBF(), Options{Backend: b, Learn: true})
	if err != nil {
		t.Fatal(err)
	}
	theta := op.Theta()
	before := slices.Clone(op.Matrix())
	if err := op.SetTheta([]float64{theta[0], math.Inf(1)}); err == nil || worst(op.Matrix(), before) != 0 {
		t.Errorf("an infinite length-scale: %v", err)
	}
	for what, f := range map[string]Features{"columns": normalFeatures(2, 3, 1), "trained with \"x0\"": normalFeatures2(2, []string{"u", "v"}), "is NaN": bad} {
		if _, _, err := op.NewRows(f); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("new rows: %v; expected %q in it", err, what)
		}
	}
}
