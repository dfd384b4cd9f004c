package model

import (
	"errors"
	"fmt"

	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/series"
	"github.com/kernel-fried-tensor/kft/series/dynamics"
	"github.com/kernel-fried-tensor/kft/tt"
)

// alongMeta describes the prior of a core along time in a model file: its components, with
// the variances from which learning started.
type alongMeta struct {
	Prior series.Prior `json:"prior"`
}

func alongMetaOf(c *tt.Core) *alongMeta {
	if c.Along == nil {
		return nil
	}
	return &alongMeta{c.Along.Prior}
}

// alongTensors returns the learned parameters and the sites of a core along time.
func alongTensors(k, p int, c *tt.Core) []modelfile.Tensor {
	a, size := c.Along, c.Slices.Slice()
	if a == nil {
		return nil
	}
	return []modelfile.Tensor{
		modelfile.NewTensor(coreTensor(k, p, "along/prior"), a.Learned, size, len(a.Learned)/size),
		modelfile.NewTensor(coreTensor(k, p, "along/step"), a.Step, len(a.Step)),
		modelfile.NewTensor(coreTensor(k, p, "along/value"), a.Value, len(a.Step), size),
		modelfile.NewTensor(coreTensor(k, p, "along/precision"), a.Precision, len(a.Step), size),
	}
}

// along reads what alongTensors returns.
func (d *decoder) along(k, p int, c *tt.Core, meta *alongMeta) error {
	size := c.Slices.Slice()
	a := &dynamics.Paths{Prior: meta.Prior}
	var err error
	if a.Step, err = modelfile.Values[int32](d.f, coreTensor(k, p, "along/step"), -1); err != nil {
		return err
	}
	if a.Learned, err = modelfile.Values[float32](d.f, coreTensor(k, p, "along/prior"), size, -1); err != nil {
		return err
	}
	for name, to := range map[string]*[]float32{"value": &a.Value, "precision": &a.Precision} {
		if *to, err = modelfile.Values[float32](d.f, coreTensor(k, p, "along/"+name), len(a.Step), size); err != nil {
			return err
		}
	}
	c.Along = a
	return a.Check(size)
}

// checkAlong returns an error unless the core of a description can be along time.
func checkAlong(k, p, cores int, c coreMeta) error {
	if c.Along != nil && (c.Variant != tt.Plain || len(c.Modes) != 1 || p != 0 && p != cores-1) {
		return fmt.Errorf("core %d of term %d cannot be along time", p, k)
	}
	return nil
}

// lineSteps returns the steps of the ids of a mode of time.
func (m *Model) lineSteps(mode int) ([]int32, error) {
	var steps []int32
	for _, step := range m.lines[mode].Steps() {
		if step < 0 || step > series.MaxStep {
			return nil, errors.New("an id of time lies too far from the others")
		}
		steps = append(steps, int32(step))
	}
	return steps, nil
}

// findAlongSteps sets the steps of the entities of cores along time.
func (m *Model) findAlongSteps() error {
	for _, t := range m.field.Terms {
		for _, c := range t.Cores {
			if c.Along == nil {
				continue
			}
			steps, err := m.lineSteps(c.Index.Axes()[0].Mode)
			if err != nil {
				return err
			}
			c.Along = c.Along.Extended(c.StepsOf(steps))
		}
	}
	return nil
}

// extendAlong returns a core along time with slices for the codes that were added to its
// mode and have a step.
func (x *extension) extendAlong(c *tt.Core) (*tt.Core, error) {
	mode := c.Index.Axes()[0].Mode
	var codes, steps []int32
	for _, code := range x.added[mode] {
		if step, ok := x.stepOf(mode, x.dicts[mode].ID(code)); ok {
			codes, steps = append(codes, code), append(steps, step)
		}
	}
	if len(codes) == 0 {
		return c, nil
	}
	extended := *c
	return &extended, extended.ExtendAlong(x.dicts[mode].Len(), codes, steps)
}
