package ref_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/backendtest"
	"github.com/kernel-fried-tensor/kft/backend/ref"
	"github.com/kernel-fried-tensor/kft/internal/gradcheck"
)

type momentCase struct {
	backendtest.Case
	uncertainty []backendtest.Uncertainty
}

// momentCases returns small trains of one to five cores that differ in what is
// known about their entries in addition to the means.
func momentCases() map[string]momentCase {
	v, c, e := backendtest.Variances, backendtest.Covariances, backendtest.Exact
	all := map[string]momentCase{}
	trains := []backendtest.Case{
		{Sizes: []int{3}, Cells: 5},
		{Sizes: []int{3, 2}, Ranks: []int{3}, Cells: 5},
		{Sizes: []int{3, 2, 2}, Ranks: []int{3, 2}, Cells: 6},
		{Sizes: []int{2, 2, 2, 2}, Ranks: []int{2, 3, 2}, Cells: 6},
		{Sizes: []int{2, 2, 2, 1, 2}, Ranks: []int{2, 2, 3, 2}, Cells: 6},
	}
	for name, uncertainty := range map[string][]backendtest.Uncertainty{"variances": {v}, "covariances": {c}, "some exact": {v, e}} {
		for _, t := range trains {
			all[fmt.Sprintf("%d cores, %s", len(t.Sizes), name)] = momentCase{t, uncertainty}
		}
	}
	return all
}

// drawInto draws the entries of a core.
func drawInto(dst, c backend.Slices, rng *rand.Rand) {
	copy(dst.Mean, c.Mean)
	for i, s := range c.Var {
		dst.Mean[i] += float32(math.Sqrt(float64(s)) * rng.NormFloat64())
	}
	if c.Cov == nil {
		return
	}
	r := c.Slice()
	for e := range c.N {
		k := c.Cov[e*r*r:]
		factor := make([]float64, r*r) // Cholesky
		for i := range r {
			for j := range i + 1 {
				sum := float64(k[i*r+j])
				for l := range j {
					sum -= factor[i*r+l] * factor[j*r+l]
				}
				if i == j {
					factor[i*r+i] = math.Sqrt(sum)
				} else {
					factor[i*r+j] = sum / factor[j*r+j]
				}
			}
		}
		z := make([]float64, r)
		for i := range z {
			z[i] = rng.NormFloat64()
			for j := range i + 1 {
				dst.Mean[e*r+i] += float32(factor[i*r+j] * z[j])
			}
		}
	}
}

// TestMomentsAgainstDraws compares the moments with those of trains whose cores
// are drawn. The bounds are six standard errors; that of the variance follows
// from the fourth moment of the draws.
func TestMomentsAgainstDraws(t *testing.T) {
	t.Parallel()
	const draws = 20000
	for name, c := range momentCases() {
		p := c.Make(11)
		cores := p.WithSecondMoments(12, c.uncertainty...)
		plan := backend.NewPlan(p.Shapes, p.Index, backend.LeafFirst)
		job := &backend.Job{SecondMoments: true, Mean: make([]float32, plan.Cells()), Var: make([]float32, plan.Cells())}
		ref.Backend{}.Pass(plan, cores, job)
		drawn := make([]backend.Slices, len(cores))
		for i := range drawn {
			drawn[i] = backend.NewSlices(cores[i].Shape)
		}
		rng := rand.New(rand.NewPCG(13, 14))
		n := plan.Cells()
		one, two, four := make([]float64, n), make([]float64, n), make([]float64, n)
		values, at := make([]float32, n), make([]float32, n)
		for range draws {
			for i := range cores {
				drawInto(drawn[i], cores[i], rng)
			}
			ref.Backend{}.Evaluate(values, drawn, p.Index)
			plan.Gather(at, values)
			for k, f := range at {
				d := float64(f) - float64(job.Mean[k])
				one[k] += d / draws
				two[k] += d * d / draws
				four[k] += d * d * d * d / draws
			}
		}
		for k := range n {
			if math.Abs(one[k]) > 6*math.Sqrt(two[k]/draws)+1e-6 {
				t.Errorf("%s: cell %d: mean is %g, the mean of the draws differs by %g", name, k, job.Mean[k], one[k])
			}
			bound := 6*math.Sqrt((four[k]-two[k]*two[k])/draws) + 1e-6
			if math.Abs(two[k]-float64(job.Var[k])) > bound {
				t.Errorf("%s: cell %d: variance is %g, want %g within %g, from draws", name, k, job.Var[k], two[k], bound)
			}
		}
	}
}

// TestMomentGradients checks that the gradients are those of sum e E f + v Var
// f.
func TestMomentGradients(t *testing.T) {
	t.Parallel()
	for name, c := range momentCases() {
		p := c.Make(21)
		cores := p.WithSecondMoments(22, c.uncertainty...)
		for i := range cores {
			if cores[i].Var == nil && cores[i].Cov == nil {
				cores[i].Var = make([]float32, cores[i].Len()) // so that differences can be taken
			}
		}
		for _, leaf := range []backend.LeafEnd{backend.LeafFirst, backend.LeafLast} {
			plan := backend.NewPlan(p.Shapes, p.Index, leaf)
			e, v := make([]float32, plan.Cells()), make([]float32, plan.Cells())
			plan.Gather(e, p.Target)
			plan.Gather(v, p.Weight)
			mean, variance := make([]float32, plan.Cells()), make([]float32, plan.Cells())
			value := func() float64 {
				ref.Backend{}.Pass(plan, cores, &backend.Job{SecondMoments: true, Mean: mean, Var: variance})
				sum := 0.0
				for k := range e {
					sum += float64(e[k])*float64(mean[k]) + float64(v[k])*float64(variance[k])
				}
				return sum
			}
			grad := make([]backend.Slices, len(cores))
			for i, s := range p.Shapes {
				grad[i] = backend.NewSlices(s)
				grad[i].Var = make([]float32, s.Len())
				if i == plan.Leaf {
					grad[i].Cov = make([]float32, s.Len()*s.Slice())
				}
			}
			ref.Backend{}.Pass(plan, cores, &backend.Job{SecondMoments: true, Adjoint: backend.Given, Target: e, VarAdjoint: v, Grad: grad})
			for i := range cores {
				what := fmt.Sprintf("%s, leaf %d, core %d", name, leaf, i)
				// Moments are quadratic in a mean and linear in a variance, so
				// steps may be large.
				gradcheck.Check(t, what+" means", cores[i].Mean, grad[i].Mean, value, 0.25, 8, 1e-4)
				if cores[i].Var != nil {
					gradcheck.Check(t, what+" variances", cores[i].Var, grad[i].Var, value, 0.25, 8, 1e-4)
				} else if i == plan.Leaf {
					gradcheck.Check(t, what+" covariances", cores[i].Cov, grad[i].Cov, value, 0.25, 12, 1e-4)
				}
			}
		}
	}
}

// TestMomentLosses compares expected losses with their definition.
func TestMomentLosses(t *testing.T) {
	t.Parallel()
	c := momentCases()["3 cores, covariances"]
	p := c.Make(31)
	cores := p.WithSecondMoments(32, c.uncertainty...)
	plan := backend.NewPlan(p.Shapes, p.Index, backend.LeafLast)
	y, w := make([]float32, plan.Cells()), make([]float32, plan.Cells())
	plan.Gather(y, p.Target)
	plan.Gather(w, p.Weight)
	for _, adjoint := range []backend.Adjoint{backend.Residual, backend.Product} {
		job := &backend.Job{SecondMoments: true, Mean: make([]float32, len(y)), Var: make([]float32, len(y)), Adjoint: adjoint, Target: y, Weight: w}
		got := ref.Backend{}.Pass(plan, cores, job)
		want := 0.0
		for k := range y {
			d := float64(job.Mean[k])
			if adjoint == backend.Residual {
				d -= float64(y[k])
			}
			want += float64(w[k]) * (d*d + float64(job.Var[k]))
		}
		if math.Abs(got-want) > 1e-5*want {
			t.Errorf("adjoint %d: loss is %g, want %g", adjoint, got, want)
		}
	}
}
