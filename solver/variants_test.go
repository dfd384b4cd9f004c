package solver

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/tt"
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

// operator draws a table of m columns; the first is constant 1.
func operator(rng *rand.Rand, n, m int) matrix {
	o := matrix{n, m, make([]float32, n*m)}
	for i := range o.a {
		o.a[i] = float32(rng.NormFloat64())
		if i%m == 0 {
			o.a[i] = 1
		}
	}
	return o
}

// addRandomOperators adds random side information to every core of the given terms.
func addRandomOperators(t *testing.T, w synthetic, p *Problem, v tt.Variant, coupled, norm bool, terms ...int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(4, 4))
	var ops []regression.Operator
	for _, n := range w.sizes {
		ops = append(ops, operator(rng, n, 4))
	}
	addOperators(t, w, p, v, ops, coupled, norm, terms...)
}

// addOperators adds the operators of their modes, nil for none, to the cores of the
// given terms. Cores without any operator stay plain.
func addOperators(t *testing.T, w synthetic, p *Problem, v tt.Variant, ops []regression.Operator, coupled, norm bool, terms ...int) {
	t.Helper()
	for _, k := range terms {
		for q, core := range w.grouping[k] {
			c := p.Field.Terms[k].Cores[q]
			var mine []regression.Operator
			for _, m := range core {
				mine = append(mine, ops[m])
			}
			if !slices.ContainsFunc(mine, func(o regression.Operator) bool { return o != nil }) {
				continue
			}
			m, err := regression.NewLinearMap(c.Index, mine, c.Slices.Slice())
			if err != nil {
				t.Fatal(err)
			}
			c.Regress(v, m, nil)
			c.Coupled = coupled
			if norm {
				c.Norm = testNorm
			}
		}
	}
}

type variantCase struct {
	name    string
	data    synthetic
	variant tt.Variant
	coupled bool
	terms   []int
	group   []int
	norm    bool
}

// testNorm is a norm K: twice the identity plus half of each neighboring row.
func testNorm(dst, x []float32) {
	for i, v := range x {
		dst[i] = 2 * v
		if i >= 4 {
			dst[i] += x[i-4] / 2
		}
		if i+4 < len(x) {
			dst[i] += x[i+4] / 2
		}
	}
}

// twoCores is a matrix of rank 4, the distance of neighbors in testNorm.
var twoCores = synthetic{sizes: []int{20, 25}, grouping: [][][]int{{{0}, {1}}}, ranks: []int{4}, cells: 3000, noise: 0.2}

func variantCases() []variantCase {
	ls := synthetic{sizes: threeCores.sizes, grouping: [][][]int{{{0}, {1}, {2}}, {{0}, {1}, {2}}, {{0}, {1}, {2}}}, ranks: []int{2, 2, 2}, cells: 3000, noise: 0.2}
	return []variantCase{
		{"side", threeCores, tt.Side, false, []int{0}, nil, false},
		{"wlr", threeCores, tt.WLR, false, []int{0}, nil, false},
		{"wlr coupled", threeCores, tt.WLR, true, []int{0}, nil, false},
		{"side, norm", threeCores, tt.Side, false, []int{0}, nil, true},
		{"wlr coupled, norm", twoCores, tt.WLR, true, []int{0}, nil, true},
		{"additive", threeCores, tt.Additive, false, []int{0}, nil, false},
		{"sum, wlr with joint cores", sumOfTerms, tt.WLR, true, []int{0, 1}, nil, false},
		{"sum, additive with joint cores", sumOfTerms, tt.Additive, false, []int{0, 1, 2}, nil, false},
		{"fourCores, wlr", fourCores, tt.WLR, true, []int{0}, nil, false},
		{"latent scaling", ls, tt.Side, false, []int{1}, []int{0, 0, 1}, false},
	}
}

func (c variantCase) problem(t *testing.T, weighted bool) *Problem {
	p := c.data.problem(t, 3, weighted)
	addRandomOperators(t, c.data, p, c.variant, c.coupled, c.norm, c.terms...)
	if p.Field.Group = c.group; c.group != nil {
		p.Field.Terms[0].AnchorAtOne()
	}
	return p
}

// No block of als increases the penalized loss, in any variant.
func TestVariantsNeverIncreaseObjective(t *testing.T) {
	t.Parallel()
	for _, tc := range variantCases() {
		for _, kind := range []RidgeKind{Uniform, Frequency} {
			t.Run(fmt.Sprintf("%s, %s", tc.name, kind), func(t *testing.T) {
				checkDescent(t, tc.problem(t, kind == Frequency), Ridge{Kind: kind, Lambda: 0.05}, 4, 2e-5)
			})
		}
	}
}

// After a block was solved to convergence, a change of any of its weights does not
// lower the objective.
func TestVariantsReachBlockMinimum(t *testing.T) {
	t.Parallel()
	for _, tc := range variantCases() {
		p := tc.problem(t, true)
		ridge := Ridge{Kind: Uniform, Lambda: 0.5}
		d := newTestData(t, p)
		run := drawStart(t, d, defaults())
		a := newALS(d, p.Train, 200)
		a.begin(run, ridge)
		objective := func() float64 {
			for _, term := range d.field.Terms {
				for _, c := range term.Cores {
					c.Refresh(d.b, c.Map != nil)
				}
			}
			a.evaluateAll()
			return a.loss() + ridge.FieldPenalty(d.b, d.field, d.entityWeights)
		}
		for i := range a.blocks() {
			a.update(i)
			at := a.ids[i]
			c := d.field.Terms[at.term].Cores[at.core]
			b := c.Blocks()[at.block]
			n := len(b.Value)
			if b.Map == nil {
				n -= c.Slices.Slice()
			}
			best := objective()
			for k := 0; k < n; k += 1 + n/12 {
				for _, h := range []float32{0.02, -0.02} {
					old := b.Value[k]
					b.Value[k] = old + h
					moved := objective()
					b.Value[k] = old
					// At the minimum of a quadratic every step increases it.
					if moved < best-1e-5*math.Abs(best) {
						t.Errorf("%s, %s: weight %d: a change of %g lowers the objective from %.8g to %.8g", tc.name, a.blockName(i), k, h, best, moved)
					}
				}
			}
			objective()
		}
	}
}

// Both solvers learn every variant if the side information is that of the truth.
func TestVariantsLearn(t *testing.T) {
	t.Parallel()
	for _, tc := range variantCases() {
		for _, solver := range []string{"als", "adam"} {
			// The targets come from a field of the same form.
			truth := tc.problem(t, false)
			rng := rand.New(rand.NewPCG(8, 8))
			for _, term := range truth.Field.Terms {
				term.Initialize(truth.Backend, rng, 1)
				for _, c := range term.Cores {
					for i := range c.Weight {
						c.Weight[i] += float32(0.3 * rng.NormFloat64())
					}
					c.Refresh(truth.Backend, true)
				}
			}
			p := tc.problem(t, false)
			for _, o := range []*Observations{&p.Train, &p.Valid} {
				y := make([]float32, o.Len())
				truth.Field.Evaluate(p.Backend, y, o.Codes)
				o.Y = y
			}
			center, spread := standardise(p.Train.Y)
			for _, o := range []*Observations{&p.Train, &p.Valid} {
				for i := range o.Y {
					o.Y[i] = float32((float64(o.Y[i])-center)/spread + 0.1*rng.NormFloat64())
				}
			}
			opt := defaults()
			opt.Ridge, opt.Solver = &Ridge{Kind: Uniform, Lambda: 0.1}, solver
			if solver == "adam" {
				opt.Sweeps, opt.LearningRate = 80, 0.03
			}
			r := solve(t, p, opt)
			if limit := 0.35; !(r.Score < limit) {
				t.Errorf("%s, %s: got validation error %.3f, want less than %.2f", tc.name, solver, r.Score, limit)
			}
		}
	}
}

// An observation whose partner is zero carries no information about a factor: its
// weight and its target are 0.
func TestZeroPartner(t *testing.T) {
	t.Parallel()
	cases := variantCases()
	p := cases[len(cases)-1].problem(t, false)
	d := newTestData(t, p)
	run := drawStart(t, d, defaults())
	a := newALS(d, p.Train, 4)
	a.begin(run, Ridge{Kind: Uniform, Lambda: 0.1})
	a.terms[1].Mean[0], a.terms[1].Mean[1], a.terms[1].Mean[2] = 0, 1e-30, 2
	a.changed()
	a.residualFor(0)
	target, weight := a.obs.Values()
	if weight[0] != 0 || weight[1] != 0 || target[0] != 0 || target[1] != 0 {
		t.Errorf("got weights %v and targets %v, want zeros", weight[:2], target[:2])
	}
	if want := (d.y[2] - a.terms[2].Mean[2]) / 2; weight[2] != 4 || target[2] != want {
		t.Errorf("got weight %g and target %g, want 4 and %g", weight[2], target[2], want)
	}
}

func standardise(y []float32) (center, spread float64) {
	for _, v := range y {
		center += float64(v) / float64(len(y))
	}
	for _, v := range y {
		spread += (float64(v) - center) * (float64(v) - center) / float64(len(y))
	}
	return center, math.Sqrt(spread)
}

func ExampleRidge() {
	fmt.Println(Ridge{Kind: Frequency, Lambda: 0.02})
	// Output: frequency 0.02
}
