package ref_test

import (
	"math"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/backendtest"
	"github.com/kernel-fried-tensor/kft/backend/ref"
)

// TestGradientByFiniteDifferences compares the gradient of the reference
// backend with central differences of its own mean.
func TestGradientByFiniteDifferences(t *testing.T) {
	t.Parallel()
	for _, c := range backendtest.Cases() {
		if c.Cells == 0 || c.Cells > 6000 {
			continue
		}
		c.Cells = min(c.Cells, 40)
		p := c.Make(3)
		plan := backend.NewPlan(p.Shapes, p.Index, backend.LeafFirst)
		e := make([]float32, plan.Cells())
		plan.Gather(e, p.Target)
		grad := make([]backend.Slices, len(p.Shapes))
		for i, s := range p.Shapes {
			grad[i] = backend.NewSlices(s)
		}
		value := func() float64 {
			mean := make([]float32, plan.Cells())
			ref.Backend{}.Pass(plan, p.Cores, &backend.Job{Mean: mean})
			sum := 0.0
			for k := range mean {
				sum += float64(e[k]) * float64(mean[k])
			}
			return sum
		}
		ref.Backend{}.Pass(plan, p.Cores, &backend.Job{Adjoint: backend.Given, Target: e, Grad: grad})
		for i := range grad {
			for k := 0; k < len(grad[i].Mean); k += 1 + len(grad[i].Mean)/7 {
				const h = 0.25 // f is linear in each core, so the step may be large
				x := &p.Cores[i].Mean[k]
				old := *x
				*x = old + h
				up := value()
				*x = old - h
				down := value()
				*x = old
				want := (up - down) / (2 * h)
				if math.Abs(float64(grad[i].Mean[k])-want) > 1e-4*(1+math.Abs(want)) {
					t.Errorf("%s: core %d entry %d: gradient is %g, want %g by differences", c.Name, i, k, grad[i].Mean[k], want)
				}
			}
		}
	}
}

func TestEvaluateKnownValue(t *testing.T) {
	t.Parallel()
	cores := []backend.Slices{
		{Shape: backend.Shape{Left: 1, N: 1, Right: 2}, Mean: []float32{1, 2}},
		{Shape: backend.Shape{Left: 2, N: 1, Right: 2}, Mean: []float32{1, 2, 3, 4}},
		{Shape: backend.Shape{Left: 2, N: 1, Right: 1}, Mean: []float32{5, 6}},
	}
	dst := make([]float32, 1)
	ref.Backend{}.Evaluate(dst, cores, [][]int32{{0}, {0}, {0}})
	if dst[0] != 95 { // (1,2) [1 2; 3 4] = (7, 10); 7*5 + 10*6
		t.Errorf("value is %g, want 95", dst[0])
	}
}
