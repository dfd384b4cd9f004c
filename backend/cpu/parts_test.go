package cpu_test

import (
	"math"
	"reflect"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/backendtest"
	"github.com/kernel-fried-tensor/kft/backend/cpu"
)

// A plan whose leaf entities are divided into parts gives the same values and gradients as the
// plan from the other end, which has none.
func TestPassOverParts(t *testing.T) {
	t.Parallel()
	c := backendtest.Case{Name: "parts", Sizes: []int{20_000, 8, 3}, Ranks: []int{3, 4}, Cells: 600_000}
	p := c.Make(5)
	plans := []*backend.Plan{backend.NewPlan(p.Shapes, p.Index, backend.LeafFirst), backend.NewPlan(p.Shapes, p.Index, backend.LeafLast)}
	if got := plans[0].Nodes(); got < 100 {
		t.Fatalf("got %d nodes, want the 24 combinations several times", got)
	}
	if got := backend.NewPlanOn(nil, 3, p.Shapes, p.Index, backend.LeafFirst); !reflect.DeepEqual(got, plans[0]) {
		t.Error("the plan of three threads differs")
	}
	b := cpu.New(cpu.Paths()[0], 2)
	for _, moments := range []bool{false, true} {
		var means [2][]float32
		var grads [2][]backend.Slices
		for i, plan := range plans {
			job := &backend.Job{Adjoint: backend.Residual, SecondMoments: moments, Target: make([]float32, c.Cells), Mean: make([]float32, c.Cells)}
			for _, s := range p.Shapes {
				g := backend.NewSlices(s)
				if moments {
					g.Var = make([]float32, s.Len())
				}
				job.Grad = append(job.Grad, g)
			}
			cores := append([]backend.Slices(nil), p.Cores...)
			for q := range cores {
				cores[q].Var = nil
				if moments {
					cores[q].Var = make([]float32, p.Shapes[q].Len())
					for k := range cores[q].Var {
						cores[q].Var[k] = 0.1 + 0.01*float32(k%7)
					}
				}
			}
			b.Pass(plan, cores, job)
			means[i], grads[i] = make([]float32, c.Cells), job.Grad
			plan.Scatter(means[i], job.Mean)
		}
		compare := func(name string, got, want []float32) {
			size := 0.0
			for _, v := range want {
				size = max(size, math.Abs(float64(v)))
			}
			for k, v := range want {
				if math.Abs(float64(got[k]-v)) > 1e-4*size {
					t.Fatalf("moments %v, %s %d: got %g, want %g", moments, name, k, got[k], v)
				}
			}
		}
		compare("mean", means[0], means[1])
		for q := range p.Shapes {
			compare("gradient of a mean", grads[0][q].Mean, grads[1][q].Mean)
			if moments {
				compare("gradient of a variance", grads[0][q].Var, grads[1][q].Var)
			}
		}
	}
}
