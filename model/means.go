package model

import (
	"fmt"

	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/predictive"
)

// Kinds of a mean correction in a model file: by a factor beyond its knots, or by a
// shift for a target that may be negative.
const (
	meansByFactor = "factor"
	meansByShift  = "shift"
)

// meanTensors returns the knots of the mean correction, if there is one.
func meanTensors(c *predictive.MeanCurve) (kind string, tensors []modelfile.Tensor) {
	if c == nil {
		return "", nil
	}
	kind = meansByFactor
	if c.Signed() {
		kind = meansByShift
	}
	predicted, corrected := c.Knots()
	return kind, []modelfile.Tensor{
		modelfile.NewTensor("means/predicted", predicted, len(predicted)),
		modelfile.NewTensor("means/corrected", corrected, len(corrected)),
	}
}

// means reads the mean correction, which a file need not have.
func (d *decoder) means() error {
	kind, ok := d.f.Meta["means"]
	if !ok {
		return nil
	}
	if kind != meansByFactor && kind != meansByShift {
		return fmt.Errorf("mean correction: unknown kind %q", kind)
	}
	predicted, err := modelfile.Values[float64](d.f, "means/predicted", -1)
	if err != nil {
		return err
	}
	corrected, err := modelfile.Values[float64](d.f, "means/corrected", len(predicted))
	if err != nil {
		return err
	}
	if d.m.means, err = predictive.NewMeanCurve(kind == meansByShift, predicted, corrected); err != nil {
		return fmt.Errorf("mean correction: %w", err)
	}
	return nil
}
