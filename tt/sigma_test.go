package tt_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/kernel-fried-tensor/kft/backend/ref"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/regression"
)

// For a square factor K = L L', the divergence of W = L'V is that of V from its prior
// N(0, tau inverse(K)):
//
//	1/2 (tr(K S)/tau + m'K m/tau - n - log det(K S/tau)) per pair (a, b).
func TestDivergenceUnwhitened(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 8))
	b := ref.Backend{}
	codes := cells(rng, 60)
	terms := []grouping{{[][]int{{0}, {2}}, 3}}
	f := build(t, terms, codes, rng)
	c := f.Terms[0].Cores[0]
	n := sizes[0]
	factor := normal(rng, n, n)
	m, err := regression.NewLinearMap(c.Index, []regression.Operator{factor}, c.Slices.Slice())
	if err != nil {
		t.Fatal(err)
	}
	c.Regress(tt.Side, m, nil)
	if err := f.SetFamily(tt.Multivariate); err != nil {
		t.Fatal(err)
	}
	copy(c.Weight, normal(rng, len(c.Weight), 1).a)
	block := c.Blocks()[0]
	scatter(rng, block, c.Slices.Slice())
	tau := float64(block.Posterior.PriorVar[0])

	l := mat.NewDense(n, n, nil)
	for i, v := range factor.a {
		l.Set(i/n, i%n, float64(v))
	}
	var k, inverse, half, cov, product mat.Dense
	k.Mul(l, l.T())
	if err := inverse.Inverse(l.T()); err != nil {
		t.Fatal(err)
	}
	half.Mul(&inverse, dense(block.Posterior.Sigma[0]))
	cov.Mul(&half, inverse.T()) // of V = L'^-1 W
	product.Mul(&k, &cov)
	product.Scale(1/tau, &product)
	logDet, _ := mat.LogDet(&product)
	want, size := 0.0, c.Slices.Slice()
	for pair := range size {
		w := mat.NewVecDense(n, nil)
		for i := range n {
			w.SetVec(i, float64(c.Weight[i*size+pair]))
		}
		var v mat.VecDense
		v.MulVec(&inverse, w)
		want += (mat.Trace(&product) + mat.Inner(&v, &k, &v)/tau - float64(n) - logDet) / 2
	}
	if got := c.Divergence(b, &block); math.Abs(got-want) > 1e-4*math.Abs(want) {
		t.Errorf("got divergence %.6f, want %.6f as for V", got, want)
	}
}

// SolveSigma maximises the bound over the covariance of one mode with those of the
// other modes fixed: the derivative by every entry is zero.
func TestSolveSigma(t *testing.T) {
	t.Parallel()
	const lambda, noise, h = 0.7, 0.3, 1e-2
	for _, modes := range [][]int{{0}, {0, 1}, {1, 2}, {0, 1, 3}} {
		rng := rand.New(rand.NewPCG(9, 9))
		b := ref.Backend{}
		codes := cells(rng, 60)
		f := build(t, []grouping{{[][]int{modes}, 1}}, codes, rng)
		c := f.Terms[0].Cores[0]
		m, err := regression.NewLinearMap(c.Index, sideOf(rng, modes), 1)
		if err != nil {
			t.Fatal(err)
		}
		c.Regress(tt.Side, m, nil)
		if err := f.SetFamily(tt.Multivariate); err != nil {
			t.Fatal(err)
		}
		sigmas := c.WeightPosterior.Sigma
		scatter(rng, tt.Block{Value: []float32{1}, Posterior: c.WeightPosterior}, 1)
		curvature := make([]float32, c.Slices.Len())
		for i := range curvature {
			curvature[i] = rng.Float32()
		}
		precision := precisionOf(c, b, curvature, lambda)
		bound := func() float64 {
			cov := kronecker(sigmas)
			var product mat.Dense
			product.Mul(cov, precision)
			logDet, _ := mat.LogDet(cov)
			return (logDet - mat.Trace(&product)/noise) / 2
		}
		for q, sigma := range sigmas {
			if err := m.SolveSigma(b, sigmas, q, curvature, lambda, noise); err != nil {
				t.Fatal(err)
			}
			top := bound()
			slope := func(at *float32, by float64) float64 {
				was := *at
				*at = was + float32(by)
				up := bound()
				*at = was - float32(by)
				down := bound()
				*at = was
				if up >= top || down >= top {
					t.Errorf("modes %v, factor %d: got the bound %.6f at the optimum, %.6f and %.6f next to it, want a maximum", modes, q, top, down, up)
				}
				return (up - down) / (2*top - up - down) // distance to the maximum, in steps
			}
			for i := range sigma.Lead {
				for j := range i + 1 {
					own := math.Abs(float64(sigma.Factor[i*sigma.Lead+i]))
					if s := slope(&sigma.Factor[i*sigma.Lead+j], h*own); math.Abs(s) > 0.05 {
						t.Errorf("modes %v, factor %d: entry %d, %d is %.3f of a step from the optimum", modes, q, i, j, s)
					}
				}
			}
			for i, v := range sigma.Diag {
				if s := slope(&sigma.Diag[i], h*float64(v)); math.Abs(s) > 0.05 {
					t.Errorf("modes %v, factor %d: variance %d is %.3f of a step from the optimum", modes, q, i, s)
				}
			}
		}
	}
}

// Beyond the leading columns, SolveSigma sets the variances to noise over the
// diagonal of the precision.
func TestSigmaOfManyColumns(t *testing.T) {
	t.Parallel()
	const lambda, noise, columns = 0.7, 0.3, 520
	rng := rand.New(rand.NewPCG(10, 10))
	b := ref.Backend{}
	f := build(t, []grouping{{[][]int{{0}}, 1}}, cells(rng, 60), rng)
	c := f.Terms[0].Cores[0]
	m, err := regression.NewLinearMap(c.Index, []regression.Operator{normal(rng, sizes[0], columns)}, 1)
	if err != nil {
		t.Fatal(err)
	}
	c.Regress(tt.Side, m, nil)
	if err := f.SetFamily(tt.Multivariate); err != nil {
		t.Fatal(err)
	}
	curvature := make([]float32, c.Slices.Len())
	for i := range curvature {
		curvature[i] = rng.Float32()
	}
	sigmas := c.WeightPosterior.Sigma
	if err := m.SolveSigma(b, sigmas, 0, curvature, lambda, noise); err != nil {
		t.Fatal(err)
	}
	precision, sigma := precisionOf(c, b, curvature, lambda), sigmas[0]
	lead := sigma.Lead
	if lead == columns {
		t.Fatal("got a full covariance over all columns, want a diagonal part")
	}
	for k, v := range sigma.Diag {
		if want := noise / precision.At(lead+k, lead+k); math.Abs(float64(v)-want) > 1e-5*want {
			t.Errorf("got variance %g at %d, want %g", v, lead+k, want)
		}
	}
	// B B' times the precision is the noise times the identity.
	factor, x := mat.NewDense(lead, lead, nil), mat.NewVecDense(lead, nil)
	for i := range lead {
		x.SetVec(i, rng.NormFloat64())
		for j := range lead {
			factor.Set(i, j, float64(sigma.Factor[i*lead+j]))
		}
	}
	var y, z, product mat.VecDense
	y.MulVec(precision.Slice(0, lead, 0, lead), x)
	z.MulVec(factor.T(), &y)
	product.MulVec(factor, &z)
	for i := range lead {
		if v, want := product.AtVec(i), noise*x.AtVec(i); math.Abs(v-want) > 1e-3*noise {
			t.Fatalf("Sigma times the precision: got %g at %d, want %g", v, i, want)
		}
	}
}

// precisionOf returns A' diag(curvature) A + lambda I, with A built column by column.
func precisionOf(c *tt.Core, b ref.Backend, curvature []float32, lambda float64) *mat.Dense {
	rows, n := c.Map.Rows(), c.Slices.N-1
	a := mat.NewDense(n, rows, nil)
	for k := range rows {
		unit, column := make([]float32, rows), make([]float32, n+1)
		unit[k] = 1
		c.Map.Apply(b, column, unit, false)
		for i := range n {
			a.Set(i, k, float64(column[i]))
		}
	}
	var weighted, out mat.Dense
	weighted.Apply(func(i, _ int, v float64) float64 { return v * float64(curvature[i]) }, a)
	out.Mul(a.T(), &weighted)
	for k := range rows {
		out.Set(k, k, out.At(k, k)+lambda)
	}
	return &out
}
