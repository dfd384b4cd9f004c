package model

import (
	"fmt"
	"math"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/tt"
)

// WithHeldOut returns the model with the moments of the field at the test rows of the fitted table, in
// their order, from before it was trained on them: what is measured of these rows afterwards is then still what new
// rows would show.
func (m *Model) WithHeldOut(z tt.Moments) *Model {
	changed := m.copy()
	changed.held = tt.Moments{Mean: z.Mean, Var: z.Var}
	return changed
}

// HeldOut returns the moments of [Model.WithHeldOut]. They are empty if there are none.
func (m *Model) HeldOut() tt.Moments { return m.held }

// Saw reports whether what is measured of a part of the fitted table is measured with a model that knows its rows,
// other than the training set.
func (m *Model) Saw(part dataset.Part) bool {
	return m.record.Refit.Saw(part) && !(part == dataset.Test && len(m.held.Mean) > 0)
}

func (m *Model) heldOutTensors() []modelfile.Tensor {
	n := len(m.held.Mean)
	if n == 0 {
		return nil
	}
	tensors := []modelfile.Tensor{modelfile.NewTensor("held-out/mean", m.held.Mean, n)}
	if m.held.Var != nil {
		tensors = append(tensors, modelfile.NewTensor("held-out/variance", m.held.Var, n))
	}
	return tensors
}

// heldOut reads the moments of test rows, of which there are at most as many as the split has.
func (d *decoder) heldOut() error {
	if _, has := d.f.Tensor("held-out/mean"); !has {
		return nil
	}
	test := 0
	for _, p := range d.m.parts {
		if p == dataset.Test {
			test++
		}
	}
	mean, err := modelfile.Values[float32](d.f, "held-out/mean", -1)
	if err != nil {
		return err
	}
	if len(mean) > test {
		return fmt.Errorf("it has predictions of %d test rows, but its split has %d", len(mean), test)
	}
	d.m.held.Mean = mean
	if _, has := d.f.Tensor("held-out/variance"); has {
		if d.m.held.Var, err = modelfile.Values[float32](d.f, "held-out/variance", len(mean)); err != nil {
			return err
		}
	}
	for i, z := range mean {
		v := float32(0)
		if d.m.held.Var != nil {
			v = d.m.held.Var[i]
		}
		if !(math.Abs(float64(z)) <= math.MaxFloat32) || !(v >= 0 && v <= math.MaxFloat32) {
			return fmt.Errorf("the prediction of its test row %d is %v with the variance %v", i, z, v)
		}
	}
	return nil
}
