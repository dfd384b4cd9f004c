package model

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kernel-fried-tensor/kft/likelihood"
	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/predictive/noisemodel"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/tt/entity"
)

// Noise is how the target varies around the field, other than by its uncertainty.
type Noise = noisemodel.Noise

// NoiseModes returns the modes of each factor of the noise that the specification names.
func (m *Model) NoiseModes() [][]int {
	var modes [][]int
	for _, f := range m.spec.Uncertainty.NoiseFactors() {
		modes = append(modes, spec.Positions(f, m.spec.ModeNames()))
	}
	return modes
}

// CombinationsOf returns the index of a term over exactly these modes, nil if there is none.
func (m *Model) CombinationsOf(modes []int) *entity.Index {
	for _, x := range m.indexes() {
		axes := x.Axes()
		if len(axes) == len(modes) && !slices.ContainsFunc(axes, func(a entity.Axis) bool { return a.Group != nil || !slices.Contains(modes, a.Mode) }) {
			return x
		}
	}
	return nil
}

// indexes returns the indexes of all terms.
func (m *Model) indexes() (all []*entity.Index) {
	for _, t := range m.field.Terms {
		for _, c := range t.Cores {
			all = append(all, c.Index)
		}
	}
	for _, s := range m.field.Series {
		all = append(all, s.Index)
	}
	return all
}

func noiseTensor(factor int, what string) string { return fmt.Sprintf("noise/%d/%s", factor, what) }

// noiseTensors returns the noise as it is written: factors of combinations are tensors.
func noiseTensors(n Noise) (Noise, []modelfile.Tensor) {
	if n.Entity == nil {
		return n, nil
	}
	var tensors []modelfile.Tensor
	written := *n.Entity
	written.Modes = slices.Clone(written.Modes)
	for k, x := range n.Entities {
		x, joint := x.(*entity.Index)
		if !joint {
			continue
		}
		f := &written.Modes[k]
		width := len(x.Axes())
		tensors = append(tensors, modelfile.NewTensor(noiseTensor(k, "entities"), x.Combinations()[:len(f.ByCode)*width], len(f.ByCode), width),
			modelfile.NewTensor(noiseTensor(k, "factor"), f.ByCode, len(f.ByCode)))
		f.ByCode = nil
	}
	n.Entity = &written
	return n, tensors
}

// noise reads the factors of the noise, and finds the indexes of their entities.
func (d *decoder) noise() error {
	n := &d.m.noise
	if n.Entity == nil {
		return nil
	}
	modes := d.m.NoiseModes()
	if len(n.Entity.Modes) != len(modes) || len(modes) == 0 {
		return fmt.Errorf("its noise has factors of %d modes, but the specification names %d", len(n.Entity.Modes), len(modes))
	}
	for k := range modes {
		f := &n.Entity.Modes[k]
		x, err := d.noiseIndex(k, modes[k], f)
		if err != nil {
			return err
		}
		n.Entities = append(n.Entities, x)
		for _, v := range append([]float64{f.Unseen}, f.ByCode...) {
			if err := positive("a factor of its noise", v); err != nil {
				return err
			}
		}
	}
	return nil
}

// noiseIndex reads factor k of the noise, if it is one of combinations of modes. The index
// is that of a term wherever one has the same combinations.
func (d *decoder) noiseIndex(k int, modes []int, f *likelihood.ModeFactors) (noisemodel.EntityIndex, error) {
	if len(modes) == 1 {
		if size := d.sizes[modes[0]]; len(f.ByCode) > size {
			return nil, fmt.Errorf("its noise has %d factors for %d ids of %s", len(f.ByCode), size, d.m.modes[modes[0]].Name)
		}
		return noisemodel.ModeCode(modes[0]), nil
	}
	combos, err := modelfile.Values[int32](d.f, noiseTensor(k, "entities"), -1, len(modes))
	if err != nil {
		return nil, err
	}
	if len(f.ByCode) > 0 {
		return nil, errors.New("its noise has the factors of combinations twice")
	}
	if f.ByCode, err = modelfile.Values[float64](d.f, noiseTensor(k, "factor"), len(combos)/len(modes)); err != nil {
		return nil, err
	}
	if x := d.m.CombinationsOf(modes); x != nil && slices.EqualFunc(x.Axes(), modes, func(a entity.Axis, m int) bool { return a.Mode == m }) && slices.Equal(x.Combinations(), combos) {
		return x, nil
	}
	return entity.RestoreIndex(modes, d.sizes, combos)
}
