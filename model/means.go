package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/metrics"
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

// means reads the mean correction, which a file need not have, and checks the edges of
// the bias by decile.
func (d *decoder) means() error {
	if edges := d.m.record.DecileEdges; edges != nil && len(edges) != metrics.Deciles-1 || !slices.IsSorted(edges) {
		return fmt.Errorf("its %d edges of deciles are not %d sorted numbers", len(edges), metrics.Deciles-1)
	}
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

// meansInfo describes a mean correction.
func meansInfo(c *predictive.MeanCurve) *MeansInfo {
	if c == nil {
		return nil
	}
	info := &MeansInfo{Kind: meansByFactor, Least: math.Inf(1), Most: math.Inf(-1)}
	if c.Signed() {
		info.Kind = meansByShift
	}
	predicted, corrected := c.Knots()
	for i, p := range predicted {
		effect := corrected[i] / p
		if c.Signed() {
			effect = corrected[i] - p
		}
		info.Least, info.Most = min(info.Least, effect), max(info.Most, effect)
	}
	return info
}
