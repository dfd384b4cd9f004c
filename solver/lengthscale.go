package solver

import (
	"fmt"
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/regression"
)

// A Learnable is an operator with parameters theta that can be learned, such as
// logarithms of length-scales. ThetaGradient returns the derivative of
// sum gradT o (A W) with respect to theta at fixed W; see package sideinfo.
type Learnable interface {
	regression.Operator
	Theta() []float64
	SetTheta(theta []float64) error
	ThetaGradient(gradT, weights []float32, w int) []float64
}

// A Kernel is a mode whose operator is learned. Only cores over that mode alone
// contribute to the gradient with respect to theta; other cores follow.
type Kernel struct {
	Mode     string
	Operator Learnable
}

// thetaStep is the largest change of a parameter that a step tries first. A step
// that does not lower the objective is divided by 4, in at most thetaTries tries.
const (
	thetaStep  = 0.3
	thetaTries = 3
)

// kernelBlock is the block of one kernel's theta. The weights W are fixed, so the
// regression changes with the operator. The objective is not quadratic in theta:
// the block takes one gradient step and keeps it only if the objective decreases.
type kernelBlock struct {
	Kernel
	cores []*tt.Core // cores that use the operator
	index []blockID
}

// newKernelBlocks finds the cores of each kernel.
func newKernelBlocks(f *tt.Field, kernels []Kernel) []*kernelBlock {
	var blocks []*kernelBlock
	for _, k := range kernels {
		b := &kernelBlock{Kernel: k}
		for t, term := range f.Terms {
			for p, c := range term.Cores {
				if c.Map != nil && c.Map.Uses(k.Operator) {
					b.cores = append(b.cores, c)
					if len(c.Modes) == 1 {
						b.index = append(b.index, blockID{term: t, core: p})
					}
				}
			}
		}
		if len(b.index) > 0 && len(k.Operator.Theta()) > 0 {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

// set changes theta. The values are rounded to float32, the precision of saved
// states, so that a resumed run is identical.
func (b *kernelBlock) set(be backend.Backend, theta []float64) error {
	rounded := make([]float64, len(theta))
	for i, v := range theta {
		rounded[i] = float64(float32(v))
	}
	if err := b.Operator.SetTheta(rounded); err != nil {
		return err
	}
	for _, c := range b.cores {
		c.Map.Refresh()
		c.Refresh(be, true)
	}
	return nil
}

// objective returns the penalized training loss, for posteriors the expected loss.
func (d *data) objective(r Ridge) float64 {
	d.passes += len(d.field.Terms)
	d.pull = d.field.Eval(d.b, tt.Moments{Mean: d.trainMean}, d.trainChunk)
	if d.expectedLoss != nil {
		return d.expectedLoss()
	}
	loss := 0.0
	for i, f := range d.trainMean {
		e := float64(d.y[i]) - float64(f)
		loss += weightAt(d.w, i) * e * e
	}
	return loss + r.FieldPenalty(d.b, d.field, d.entityWeights)
}

// learn takes one step and reports whether it was kept.
func (b *kernelBlock) learn(d *data, r Ridge) (bool, error) {
	before := d.objective(r)
	gradient := b.gradient(d)
	largest := 0.0
	for _, g := range gradient {
		largest = max(largest, math.Abs(g))
	}
	if !(largest > 0) || math.IsInf(largest, 0) {
		return false, nil
	}
	old := b.Operator.Theta()
	step := thetaStep / largest
	for range thetaTries {
		theta := make([]float64, len(old))
		for i, g := range gradient {
			theta[i] = old[i] - step*g
		}
		// A theta that makes a matrix singular counts as a failed try.
		if err := b.set(d.b, theta); err == nil && d.objective(r) < before {
			return true, nil
		}
		step /= 4
	}
	if err := b.set(d.b, old); err != nil {
		return false, fmt.Errorf("solver: the kernel of mode %s cannot be restored: %w", b.Mode, err)
	}
	return false, nil
}

// gradient returns the derivative of the loss with respect to theta. The penalty
// does not depend on theta. The caller must call d.objective first.
func (b *kernelBlock) gradient(d *data) []float64 {
	adjoint := make([]float32, len(d.y))
	for i, f := range d.trainMean {
		adjoint[i] = -2 * float32(weightAt(d.w, i)) * (d.y[i] - f)
	}
	grad := make(tt.Gradients, len(d.field.Terms))
	for k, t := range d.field.Terms {
		grad[k] = make([]backend.Slices, len(t.Cores))
	}
	for _, at := range b.index {
		grad[at.term][at.core] = backend.NewSlices(d.field.Terms[at.term].Cores[at.core].Slices.Shape)
	}
	d.pull(adjoint, grad)
	total := make([]float64, len(b.Operator.Theta()))
	for _, at := range b.index {
		c := d.field.Terms[at.term].Cores[at.core]
		width := c.Slices.Slice()
		rows := c.SideGradient(grad[at.term][at.core].Mean, b.Operator.Rows())
		for i, g := range b.Operator.ThetaGradient(rows, c.Weight, width) {
			total[i] += g
		}
	}
	return total
}
