// Package backend is the seam between the mathematics and the machine: array
// work over a plan of observations, and nothing of models.
//
// A train of P cores assigns to a cell (i1, ..., iP) the value
//
//	f = G1(i1) G2(i2) ... GP(iP),   Gp(i) a Left x Right matrix, outer ranks 1.
//
// A [Plan] orders the observed cells as a tree, so that what neighbouring
// cells share of that product is computed once. A [Backend] runs two
// primitives over a plan: [Backend.Pass], which evaluates the train and pulls
// an adjoint back to its cores in one sweep, and [Backend.Rows], which forms
// the normal equations of one outer core. Three more serve what surrounds
// them: Evaluate for cells without a plan, Gemm, and the number of threads.
//
// Implementations must pass the suite in backendtest. Results may not depend
// on the number of threads.
package backend

import "fmt"

// Shape is the form of a core: N slices of Left x Right.
type Shape struct{ Left, N, Right int }

// Len returns the number of entries of a core.
func (s Shape) Len() int { return s.N * s.Left * s.Right }

// Slice returns the number of entries of one slice.
func (s Shape) Slice() int { return s.Left * s.Right }

// Slices holds the moments of a core's entries, slice after slice, each slice
// row by row: their means and, unless the core is known exactly, either the
// variances of independent entries or, for an outer core of rank r, an r x r
// covariance a slice.
type Slices struct {
	Shape
	Mean, Var, Cov []float32
}

// NewSlices returns slices of zeros without variance.
func NewSlices(s Shape) Slices { return Slices{Shape: s, Mean: make([]float32, s.Len())} }

// Job says what a pass computes. Arrays over cells are in plan order.
type Job struct {
	// Mean receives the train's value at each cell, unless nil.
	Mean []float32

	// Second asks for the second moments as well: with independent cores of
	// the given Mean and Var (or Cov), Var receives the variance of f at each
	// cell, unless nil, and adjoints and sums are those of expectations, see
	// Adjoint. Without it Var and Cov of the cores are not read.
	Second bool
	Var    []float32

	// Adjoint says where the adjoint e of the mean comes from.
	Adjoint Adjoint
	Target  []float32 // y for Residual, e itself for Given
	Spread  []float32 // with Second, the adjoint of the variance for Given
	Weight  []float32 // w for Residual and Product; nil is 1 everywhere

	// Grad[p] receives sum over cells of e times the derivative of f by core
	// p; it is overwritten. A nil Mean means not wanted. With Second, Mean, Var
	// and Cov receive the derivatives of sum e E f + v Var f by the core's mean,
	// variances and covariances, each where it is not nil; the derivative by a
	// covariance is wanted of the leaf core only, and for a core without one it
	// is that at its variances: v times the second moments of the other cores'
	// product, uu' + C.
	Grad []Slices
}

// Adjoint is the rule that turns the mean f of a cell into its adjoint e, and
// with second moments that of the variance, v: Residual is then the gradient of
// -1/2 sum w E (y - f)^2, with v = -w/2, and Product that of 1/2 sum w E f^2,
// with v = w/2.
type Adjoint int

const (
	None     Adjoint = iota // mean only
	Residual                // e = w (y - f): the gradient of -1/2 sum w (y - f)^2
	Product                 // e = w f: the action of the normal equations
	Given                   // e = Target
)

// RowFunc receives the normal equations of one entity of an outer core of
// rank r: gram = sum w u u' (r x r, symmetric) and rhs = sum w y u, over the
// entity's cells, u being the product of the other cores. It is called once
// for each entity with cells, from several goroutines at once; worker tells
// them apart and lies below Threads. The slices are the callee's until it
// returns.
type RowFunc func(worker, entity int, gram, rhs []float64)

// Backend runs array work. All methods may be called from one goroutine at a
// time; they use Threads goroutines of their own.
type Backend interface {
	Name() string
	Threads() int

	// Pass runs a job over a plan and returns sum of w (y - f)^2 for Residual,
	// sum of w f^2 for Product, else 0; with second moments their expectations.
	//
	// Cost, for three cores of rank R: O(R^2) a node and O(R) a cell; with
	// second moments O(R^3) a node and O(R^2) a cell.
	Pass(p *Plan, cores []Slices, job *Job) float64

	// Rows forms the normal equations of the plan's leaf core. weight nil is 1
	// everywhere. It keeps a vector a node: 4 R p.Nodes() bytes, and costs
	// R^2 multiply-adds a cell.
	Rows(p *Plan, cores []Slices, target, weight []float32, visit RowFunc)

	// Evaluate writes the train's value at any cells to dst: index[p][c] is
	// the entity of core p at cell c. O(P R^2) a cell.
	Evaluate(dst []float32, cores []Slices, index [][]int32)

	// Gemm computes the row-major c = alpha op(a) op(b) + beta c, c being
	// m x n and the inner dimension k.
	Gemm(ta, tb bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int)
}

// Check panics unless the cores fit together and with the plan's shapes.
func (p *Plan) Check(cores []Slices) {
	if len(cores) != len(p.Shapes) {
		panic(fmt.Sprintf("backend: %d cores for a plan of %d", len(cores), len(p.Shapes)))
	}
	for i, c := range cores {
		if c.Shape != p.Shapes[i] || len(c.Mean) != c.Len() {
			panic(fmt.Sprintf("backend: core %d is %v with %d entries, the plan has %v", i, c.Shape, len(c.Mean), p.Shapes[i]))
		}
		c.checkSpread(i, i == 0 || i == len(cores)-1)
	}
}

// checkSpread panics unless a core's variances or covariances fit its means.
func (c Slices) checkSpread(core int, outer bool) {
	switch {
	case c.Var != nil && c.Cov != nil:
		panic(fmt.Sprintf("backend: core %d has both variances and covariances", core))
	case c.Var != nil && len(c.Var) != c.Len():
		panic(fmt.Sprintf("backend: core %d has %d variances for %d entries", core, len(c.Var), c.Len()))
	case c.Cov != nil && !outer:
		panic(fmt.Sprintf("backend: core %d is an inner one and has covariances", core))
	case c.Cov != nil && len(c.Cov) != c.Len()*c.Slice():
		panic(fmt.Sprintf("backend: core %d has %d covariances for %d slices of %d", core, len(c.Cov), c.N, c.Slice()))
	}
}

// CheckChain panics unless the shapes form a train.
func CheckChain(shapes []Shape) {
	for i, s := range shapes {
		if s.Left < 1 || s.Right < 1 || s.N < 1 {
			panic(fmt.Sprintf("backend: core %d has shape %v", i, s))
		}
		if i > 0 && s.Left != shapes[i-1].Right {
			panic(fmt.Sprintf("backend: rank mismatch between core %d (%d) and core %d (%d)", i-1, shapes[i-1].Right, i, s.Left))
		}
	}
	if len(shapes) == 0 || shapes[0].Left != 1 || shapes[len(shapes)-1].Right != 1 {
		panic("backend: the outer ranks of a train are 1")
	}
}
