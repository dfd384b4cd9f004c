package backendtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/ref"
)

// Uncertainty is the kind of uncertainty of the entries of a core, in addition to
// their means.
type Uncertainty int

const (
	Exact Uncertainty = iota
	Variances
	Covariances // for an outer core; an inner core has variances
)

// WithSecondMoments returns the cores of the problem with variances or
// covariances of about a quarter of the squared means. The given values are
// assigned to the cores cyclically.
func (p Problem) WithSecondMoments(seed uint64, uncertainty ...Uncertainty) []backend.Slices {
	rng := rand.New(rand.NewPCG(seed, 2))
	cores := append([]backend.Slices(nil), p.Cores...)
	for i := range cores {
		c := &cores[i]
		kind := uncertainty[i%len(uncertainty)]
		if kind == Covariances && i > 0 && i < len(cores)-1 {
			kind = Variances
		}
		size := 0.5 / math.Sqrt(float64(c.Left))
		switch kind {
		case Variances:
			c.Var = make([]float32, c.Len())
			for k := range c.Var {
				s := size * rng.NormFloat64()
				c.Var[k] = float32(s * s)
			}
		case Covariances:
			c.Cov = covariances(rng, c.N, c.Slice(), size)
		}
	}
	return cores
}

// covariances draws n matrices a a' + b b' + diag of r x r.
func covariances(rng *rand.Rand, n, r int, size float64) []float32 {
	cov := make([]float32, 0, n*r*r)
	a, b := make([]float64, r), make([]float64, r)
	for range n {
		for k := range r {
			a[k], b[k] = size*rng.NormFloat64(), size*rng.NormFloat64()
		}
		for i := range r {
			for j := range r {
				k := a[i]*a[j] + b[i]*b[j]
				if i == j {
					k += size * size / 4
				}
				cov = append(cov, float32(k))
			}
		}
	}
	return cov
}

// fewCells is the smallest number of cells of trains of high rank.
const fewCells = 6

// ForMoments returns the case with few enough cells and entities for the
// reference backend, which needs O(R^3) per cell with second moments.
func (c Case) ForMoments() Case {
	work, left := 0, 1
	for i := range c.Sizes {
		right := 1
		if i < len(c.Ranks) {
			right = c.Ranks[i]
		}
		work += left * right * (left + right + 10)
		left = right
	}
	c.Cells = min(c.Cells, max(fewCells, 320_000/work))
	c.Sizes = append([]int(nil), c.Sizes...)
	for i := range c.Sizes {
		c.Sizes[i] = min(c.Sizes[i], max(20, 200_000/work))
	}
	return c
}

// momentJobs lists passes with second moments, each with the gradients that are
// requested.
func momentJobs(p Problem, cores []backend.Slices, plan *backend.Plan) map[string]func() *backend.Job {
	target, weight := make([]float32, plan.Cells()), make([]float32, plan.Cells())
	plan.Gather(target, p.Target)
	plan.Gather(weight, p.Weight)
	varAdjoint := make([]float32, plan.Cells())
	for i := range varAdjoint {
		varAdjoint[i] = 0.3*target[i] + 0.1
	}
	cells := func() []float32 { return unset(plan.Cells()) }
	type want struct{ mean, variance, cov bool }
	grads := func(wanted func(core int) want) []backend.Slices {
		g := make([]backend.Slices, len(p.Shapes))
		for i, s := range p.Shapes {
			w := wanted(i)
			g[i].Shape = s
			if w.mean {
				g[i].Mean = unset(s.Len())
			}
			if w.variance {
				g[i].Var = unset(s.Len())
			}
			if w.cov && plan.HasCovariances(i, cores) {
				g[i].Cov = unset(s.Len() * s.Slice())
			}
		}
		return g
	}
	all := func(int) want { return want{true, true, true} }
	m := map[string]func() *backend.Job{
		"moments": func() *backend.Job { return &backend.Job{SecondMoments: true, Mean: cells(), Var: cells()} },
		"residual": func() *backend.Job {
			return &backend.Job{SecondMoments: true, Mean: cells(), Var: cells(), Adjoint: backend.Residual, Target: target, Weight: weight, Grad: grads(all)}
		},
		"residual, no weights": func() *backend.Job {
			return &backend.Job{SecondMoments: true, Adjoint: backend.Residual, Target: target, Grad: grads(func(int) want { return want{true, true, false} })}
		},
		"loss only": func() *backend.Job {
			return &backend.Job{SecondMoments: true, Adjoint: backend.Residual, Target: target, Weight: weight}
		},
		"product, variances": func() *backend.Job {
			return &backend.Job{SecondMoments: true, Adjoint: backend.Product, Weight: weight, Grad: grads(func(int) want { return want{variance: true} })}
		},
		"given": func() *backend.Job {
			return &backend.Job{SecondMoments: true, Adjoint: backend.Given, Target: target, VarAdjoint: varAdjoint, Grad: grads(all)}
		},
		"given, means": func() *backend.Job {
			return &backend.Job{SecondMoments: true, Adjoint: backend.Given, Target: target, Grad: grads(func(int) want { return want{mean: true} })}
		},
		"covariances": func() *backend.Job {
			return &backend.Job{SecondMoments: true, Adjoint: backend.Residual, Target: target, Weight: weight, Grad: grads(func(int) want { return want{cov: true} })}
		},
	}
	for name, w := range map[string][]float32{"equations of the leaf core": nil, "equations of the leaf core, weights": weight} {
		m[name] = func() *backend.Job {
			return &backend.Job{SecondMoments: true, Adjoint: backend.Residual, GradientsOnly: true, Target: target, Weight: w, Grad: grads(func(core int) want {
				leaf := core == plan.Leaf && plan.HasCovariances(core, cores)
				return want{mean: leaf, cov: leaf}
			})}
		}
	}
	for i := range p.Shapes {
		m[fmt.Sprintf("product, gradients only, core %d", i)] = func() *backend.Job {
			return &backend.Job{SecondMoments: true, Adjoint: backend.Product, GradientsOnly: true, Weight: weight, Grad: grads(func(core int) want { return want{mean: core == i} })}
		}
		m[fmt.Sprintf("gradients only, core %d", i)] = func() *backend.Job {
			return &backend.Job{SecondMoments: true, Adjoint: backend.Residual, GradientsOnly: true, Target: target, Weight: weight, Grad: grads(func(core int) want { return want{mean: core == i, variance: core == i} })}
		}
		m[fmt.Sprintf("product, core %d", i)] = func() *backend.Job {
			return &backend.Job{SecondMoments: true, Adjoint: backend.Product, Grad: grads(func(core int) want { return want{mean: core == i, variance: core == i} })}
		}
	}
	return m
}

// unset returns n NaNs, which a backend must overwrite.
func unset(n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(math.NaN())
	}
	return v
}

func testMoments(t *testing.T, backends []Open, p Problem, plan *backend.Plan) {
	kinds := map[string][]Uncertainty{
		"variances":   {Variances},
		"covariances": {Covariances},
		"first exact": {Exact, Variances},
		"some exact":  {Variances, Exact, Covariances},
		"exact":       {Exact},
	}
	for kind, uncertainty := range kinds {
		cores := p.WithSecondMoments(5, uncertainty...)
		for name, job := range momentJobs(p, cores, plan) {
			if (kind != "variances" || plan.Cells() <= fewCells) && name != "given" && name != "residual" && !strings.HasPrefix(name, "equations") && !strings.HasPrefix(name, "product, gradients only") {
				continue
			}
			want := job()
			wantLoss := ref.Backend{}.Pass(plan, cores, want)
			comparePass(t, kind+": "+name, backends, plan, cores, job, want, wantLoss)
		}
	}
}
