// Package backend defines the interface between the models and the hardware:
// array operations over a plan of observations. It knows nothing about models.
//
// A train of P cores assigns to a cell (i1, ..., iP) the value
//
//	f = G1(i1) G2(i2) ... GP(iP),   Gp(i) a Left x Right matrix, outer ranks 1.
//
// A [Plan] arranges the observed cells as a tree, so that factors of that
// product that neighbouring cells share are computed once. A [Backend] has two
// primitives over a plan. [Backend.Pass] evaluates the train and propagates an
// adjoint back to its cores in one sweep. [Backend.NormalEquations] forms the normal
// equations of one outer core. In addition there are Evaluate for cells without
// a plan, Gemm, and the number of threads.
//
// Implementations must pass the tests in package backendtest. Results must not
// depend on the number of threads.
package backend

import "fmt"

// Shape gives the dimensions of a core: N slices of Left x Right.
type Shape struct{ Left, N, Right int }

// Len returns the number of entries of a core.
func (s Shape) Len() int { return s.N * s.Left * s.Right }

// Slice returns the number of entries of one slice.
func (s Shape) Slice() int { return s.Left * s.Right }

// Slices holds the moments of the entries of a core, slice after slice, each
// slice in row-major order. Mean holds the means. A core that is known exactly
// has neither Var nor Cov. Otherwise Var holds the variances of independent
// entries or, for an outer core of rank r, Cov holds one r x r covariance
// matrix per slice.
type Slices struct {
	Shape
	Mean, Var, Cov []float32
}

// NewSlices returns slices with zero means and without variances.
func NewSlices(s Shape) Slices { return Slices{Shape: s, Mean: make([]float32, s.Len())} }

// Job describes what a pass computes. Arrays over cells are in plan order.
type Job struct {
	// Mean receives the value of the train at each cell, unless nil.
	Mean []float32

	// SecondMoments requests second moments: the cores are independent random
	// variables with the given Mean and Var (or Cov), Var receives the variance
	// of f at each cell, unless nil, and adjoints and sums are those of
	// expectations, see Adjoint. If it is false, Var and Cov of the cores are
	// not read.
	SecondMoments bool
	Var           []float32

	// Local says that, over several ranks, Mean and Var are only needed for the cells of this
	// one; see Divided.
	Local bool

	// OwnEntities says that, over several ranks, derivatives with respect to the leaf core are only needed
	// for the entities of this one, see EntityRuns; those of others are undefined.
	OwnEntities bool

	// Adjoint selects how the adjoint e of the mean is computed.
	Adjoint    Adjoint
	Target     []float32 // y for Residual, e itself for Given
	VarAdjoint []float32 // with SecondMoments, the adjoint of the variance for Given; nil is 0
	Weight     []float32 // w for Residual and Product; nil means 1 everywhere

	// GradientsOnly says that the sum that Pass returns is not needed; it is then
	// undefined.
	GradientsOnly bool

	// Grad[p] receives the sum over cells of e times the derivative of f with
	// respect to core p. It is overwritten. A nil Mean means that this gradient
	// is not computed.
	//
	// With SecondMoments, Mean, Var and Cov receive, each unless nil, the
	// derivatives of
	//
	//	sum e E f + v Var f
	//
	// with respect to the means, variances and covariances of the core. The
	// derivative with respect to covariances is available for the leaf core
	// and where Plan.HasCovariances says so; for a core without covariances it is evaluated at its variances. It
	// is v times the second moments of the product of the other cores, uu' + C.
	Grad []Slices
}

// Adjoint is the rule that maps the mean f of a cell to its adjoint e and, with
// second moments, gives the adjoint v of the variance. With second moments
// Residual is the gradient of -1/2 sum w E (y - f)^2, with v = -w/2, and
// Product is the gradient of 1/2 sum w E f^2, with v = w/2.
type Adjoint int

const (
	None     Adjoint = iota // no adjoint: mean only
	Residual                // e = w (y - f): the gradient of -1/2 sum w (y - f)^2
	Product                 // e = w f: the action of the normal equations
	Given                   // e = Target
)

// EquationsFunc receives the normal equations of one entity of an outer core of
// rank r: gram = sum w u u' (r x r, symmetric) and rhs = sum w y u, over the
// cells of the entity, where u is the product of the other cores. It is called
// once for each entity with cells, concurrently from several goroutines. worker
// identifies the goroutine and is less than Threads. The callee may modify gram
// and rhs until it returns.
type EquationsFunc func(worker, entity int, gram, rhs []float64)

// Backend performs array operations. Its methods must be called from one
// goroutine at a time; they use Threads goroutines internally.
type Backend interface {
	Name() string
	Threads() int

	// Pass runs a job over a plan. It returns the sum of w (y - f)^2 for
	// Residual, the sum of w f^2 for Product, and 0 otherwise; with second
	// moments the expectations of these sums.
	//
	// Cost for three cores of rank R: O(R^2) per node and O(R) per cell; with
	// second moments O(R^3) per node and O(R^2) per cell.
	Pass(p *Plan, cores []Slices, job *Job) float64

	// NormalEquations forms the normal equations of the plan's leaf core and
	// calls visit for each entity. A nil weight means 1 everywhere. It stores
	// one vector per node, 4 R p.Nodes() bytes, and costs R^2 multiply-adds per
	// cell.
	NormalEquations(p *Plan, cores []Slices, target, weight []float32, visit EquationsFunc)

	// Evaluate writes the value of the train at arbitrary cells to dst:
	// index[p][c] is the entity of core p at cell c. O(P R^2) per cell.
	Evaluate(dst []float32, cores []Slices, index [][]int32)

	// Gemm computes the row-major product c = alpha op(a) op(b) + beta c, where
	// c is m x n and the inner dimension is k.
	Gemm(ta, tb bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int)
}

// Check panics unless the cores match the shapes of the plan.
func (p *Plan) Check(cores []Slices) {
	if len(cores) != len(p.Shapes) {
		panic(fmt.Sprintf("backend: got %d cores, the plan has %d", len(cores), len(p.Shapes)))
	}
	for i, c := range cores {
		if c.Shape != p.Shapes[i] || len(c.Mean) != c.Len() {
			panic(fmt.Sprintf("backend: core %d has shape %v and %d entries, the plan has shape %v", i, c.Shape, len(c.Mean), p.Shapes[i]))
		}
		c.checkSecondMoments(i, i == 0 || i == len(cores)-1)
	}
}

// checkSecondMoments panics unless the variances or covariances of a core match
// its means in length.
func (c Slices) checkSecondMoments(core int, outer bool) {
	switch {
	case c.Var != nil && c.Cov != nil:
		panic(fmt.Sprintf("backend: core %d has both variances and covariances", core))
	case c.Var != nil && len(c.Var) != c.Len():
		panic(fmt.Sprintf("backend: core %d has %d variances, want %d", core, len(c.Var), c.Len()))
	case c.Cov != nil && !outer:
		panic(fmt.Sprintf("backend: core %d is an inner core and has covariances; only outer cores may have them", core))
	case c.Cov != nil && len(c.Cov) != c.Len()*c.Slice():
		panic(fmt.Sprintf("backend: core %d has %d covariances, want %d", core, len(c.Cov), c.Len()*c.Slice()))
	}
}

// CheckTrain panics unless the shapes form a train.
func CheckTrain(shapes []Shape) {
	for i, s := range shapes {
		if s.Left < 1 || s.Right < 1 || s.N < 1 {
			panic(fmt.Sprintf("backend: core %d has invalid shape %v", i, s))
		}
		if i > 0 && s.Left != shapes[i-1].Right {
			panic(fmt.Sprintf("backend: rank mismatch between core %d (%d) and core %d (%d)", i-1, shapes[i-1].Right, i, s.Left))
		}
	}
	if len(shapes) == 0 || shapes[0].Left != 1 || shapes[len(shapes)-1].Right != 1 {
		panic("backend: the outer ranks of a train must be 1")
	}
}
