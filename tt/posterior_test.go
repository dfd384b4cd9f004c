package tt_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/ref"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/regression"
)

// posterior is a test case: a field whose weights have variances.
type posterior struct {
	name    string
	terms   []grouping
	variant tt.Variant
	family  tt.Family
}

// posteriors lists every variant with every family that differs from mean-field for
// it, over trains of one to five cores, joint cores and sums.
func posteriors() []posterior {
	forms := map[string][]grouping{"five": {{[][]int{{0}, {1}, {2}, {3}, {1}}, 2}}}
	for name, terms := range fields {
		forms[name] = terms
	}
	families := map[tt.Variant][]tt.Family{
		tt.Plain:    {tt.MeanField, tt.EntityCovariance},
		tt.Side:     {tt.MeanField, tt.Multivariate},
		tt.WLR:      {tt.MeanField, tt.Multivariate, tt.EntityCovariance},
		tt.Additive: {tt.MeanField, tt.Multivariate, tt.EntityCovariance},
	}
	var cases []posterior
	for name, terms := range forms {
		for variant, each := range families {
			for _, family := range each {
				cases = append(cases, posterior{fmt.Sprintf("%s %s %s", name, variant, family), terms, variant, family})
			}
		}
	}
	slices.SortFunc(cases, func(a, b posterior) int {
		if a.name < b.name {
			return -1
		}
		return 1
	})
	return cases
}

// field returns the field of the case with random variances. A sum of three terms is
// latent scaling: the first two multiply.
func (p posterior) field(t *testing.T, b backend.Backend, codes [][]int32, rng *rand.Rand) *tt.Field {
	t.Helper()
	f := build(t, p.terms, codes, rng)
	if len(p.terms) > 2 {
		f.Group = []int{0, 0, 1}
	}
	if p.variant != tt.Plain {
		regress(t, f, p.terms, p.variant, rng)
	}
	if err := f.SetFamily(p.family); err != nil {
		t.Fatal(err)
	}
	for _, term := range f.Terms {
		for _, c := range term.Cores {
			for _, block := range c.Blocks() {
				scatter(rng, block, c.Slices.Slice())
			}
			c.Refresh(b, c.Map != nil)
		}
	}
	return f
}

// scatter draws the variances of a block, about 0.05 relative to the squared weights.
func scatter(rng *rand.Rand, b tt.Block, size int) {
	square := 0.0
	for _, v := range b.Value {
		square += float64(v) * float64(v) / float64(len(b.Value))
	}
	p := b.Posterior
	p.PriorVar[0] = float32(square * (0.5 + rng.Float64()))
	for i := range p.Var {
		p.Var[i] = float32(0.1 * square * rng.Float64())
	}
	for e := 0; e < len(p.Cov); e += size * size {
		l := normal(rng, size, size).a
		for i := range size {
			for j := range size {
				sum := 0.0
				for k := range size {
					sum += float64(l[i*size+k]) * float64(l[j*size+k])
				}
				p.Cov[e+i*size+j] = float32(0.05 * square * sum / float64(size))
			}
			p.Var[e/size+i] = p.Cov[e+i*size+i]
		}
	}
	share := math.Pow(0.05*square, 1/float64(max(1, len(p.Sigma))))
	for _, sigma := range p.Sigma {
		for i := range sigma.Lead {
			for j := range i + 1 {
				sigma.Factor[i*sigma.Lead+j] = float32(math.Sqrt(share/float64(sigma.Lead)) * rng.NormFloat64())
			}
		}
		for i := range sigma.Diag {
			sigma.Diag[i] = float32(2 * share * rng.Float64())
		}
	}
}

// sums accumulates draws of a number.
type sums struct{ n, first, second float64 }

func (s *sums) add(v float64) {
	s.n++
	s.first += v
	s.second += v * v
}

// error returns the standard error of the mean.
func (s *sums) error() float64 {
	mean := s.first / s.n
	return math.Sqrt(max(0, s.second/s.n-mean*mean) / s.n)
}

// check reports an error unless the mean of the draws is within limit standard
// errors of want.
func (s *sums) check(t *testing.T, what string, want, limit float64) {
	t.Helper()
	mean, deviation := s.first/s.n, s.error()
	if math.Abs(mean-want) > limit*deviation+1e-5*math.Abs(want) {
		t.Errorf("%s: got %.6g +- %.2g from draws, want %.6g", what, mean, deviation, want)
	}
}

// The divergence of every block agrees with the mean of log q - log p over draws.
func TestDivergenceAgainstDraws(t *testing.T) {
	t.Parallel()
	const draws = 250
	b := ref.Backend{}
	for _, tc := range posteriors() {
		switch tc.name[:3] {
		case "eff", "joi", "thr": // one core, joint cores, outer and inner cores
		default:
			continue
		}
		rng := rand.New(rand.NewPCG(6, 6))
		f := tc.field(t, b, cells(rng, 60), rng)
		ratio := map[string]*sums{}
		visit(f, func(name string, _ *tt.Core, _ tt.Block) { ratio[name] = &sums{} })
		densities := map[string]func(x []float32) float64{}
		visit(f, func(name string, c *tt.Core, block tt.Block) { densities[name] = logRatio(t, c, block) })
		for range draws {
			visit(f.Sample(b, rng), func(name string, _ *tt.Core, block tt.Block) { ratio[name].add(densities[name](block.Value)) })
		}
		visit(f, func(name string, c *tt.Core, block tt.Block) {
			ratio[name].check(t, tc.name+" "+name, c.Divergence(b, &block), 5)
		})
	}
}

// visit calls each for every block of a field.
func visit(f *tt.Field, each func(name string, c *tt.Core, b tt.Block)) {
	for k, term := range f.Terms {
		for p, c := range term.Cores {
			for _, b := range c.Blocks() {
				each(fmt.Sprintf("term %d core %d %s", k, p, b.Name), c, b)
			}
		}
	}
}

// logRatio returns the function log q - log p of the weights of a block, computed
// from dense covariances.
func logRatio(t *testing.T, c *tt.Core, b tt.Block) func(x []float32) float64 {
	t.Helper()
	size := c.Slices.Slice()
	rows := len(b.Value) / size
	tau, mu := float64(b.Posterior.PriorVar[0]), b.Posterior.PriorMean
	var parts []func(x []float32) float64
	part := func(at []int, cov *mat.SymDense) {
		q := gaussian(t, cov)
		parts = append(parts, func(x []float32) float64 {
			d, prior := make([]float64, len(at)), 0.0
			for i, k := range at {
				d[i] = float64(x[k]) - float64(b.Value[k])
				prior -= (float64(x[k])-mu)*(float64(x[k])-mu)/(2*tau) + math.Log(2*math.Pi*tau)/2
			}
			return q(d) - prior
		})
	}
	if b.Posterior.Sigma != nil {
		cov := kronecker(b.Posterior.Sigma)
		for k := range size {
			var at []int
			for row := range rows {
				at = append(at, row*size+k)
			}
			part(at, cov)
		}
	}
	for e := range rows {
		if b.Map == nil && (e == rows-1 || c.Trained != nil && !c.Trained[e]) {
			continue // takes the prior and is not a weight
		}
		switch {
		case b.Posterior.Cov != nil:
			cov, at := mat.NewSymDense(size, nil), make([]int, size)
			for i := range size {
				at[i] = e*size + i
				for j := range size {
					cov.SetSym(i, j, float64(b.Posterior.Cov[(e*size+i)*size+j]))
				}
			}
			part(at, cov)
		case b.Posterior.Var != nil:
			for k := e * size; k < (e+1)*size; k++ {
				part([]int{k}, mat.NewSymDense(1, []float64{float64(b.Posterior.Var[k])}))
			}
		}
	}
	return func(x []float32) float64 {
		sum := 0.0
		for _, p := range parts {
			sum += p(x)
		}
		return sum
	}
}

// gaussian returns the log density of N(0, cov).
func gaussian(t *testing.T, cov *mat.SymDense) func(d []float64) float64 {
	t.Helper()
	n := cov.SymmetricDim()
	var chol mat.Cholesky
	if !chol.Factorize(cov) {
		t.Fatal("got a covariance that is not positive definite")
	}
	constant := -chol.LogDet()/2 - float64(n)/2*math.Log(2*math.Pi)
	return func(d []float64) float64 {
		var x mat.VecDense
		v := mat.NewVecDense(n, d)
		if err := chol.SolveVecTo(&x, v); err != nil {
			t.Fatal(err)
		}
		return constant - mat.Dot(v, &x)/2
	}
}

// dense returns Sigma as a matrix.
func dense(s *regression.Sigma) *mat.Dense {
	n := s.Columns()
	out := mat.NewDense(n, n, nil)
	for i := range s.Lead {
		for j := range s.Lead {
			sum := 0.0
			for k := range s.Lead {
				sum += float64(s.Factor[i*s.Lead+k]) * float64(s.Factor[j*s.Lead+k])
			}
			out.Set(i, j, sum)
		}
	}
	for i, v := range s.Diag {
		out.Set(s.Lead+i, s.Lead+i, float64(v))
	}
	return out
}

// kronecker returns the Kronecker product of the covariances.
func kronecker(sigmas []*regression.Sigma) *mat.SymDense {
	product := mat.NewDense(1, 1, []float64{1})
	for _, s := range sigmas {
		var next mat.Dense
		next.Kronecker(product, dense(s))
		product = &next
	}
	n, _ := product.Dims()
	out := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			out.SetSym(i, j, product.At(i, j))
		}
	}
	return out
}

func TestSetFamilyUnknown(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	f := build(t, fields["matrix"], cells(rng, 20), rng)
	if err := f.SetFamily("rows"); err == nil || fielderr.Path(err) != "uncertainty.inference" {
		t.Errorf("got %v (field %q), want an error of the field uncertainty.inference", err, fielderr.Path(err))
	}
}
