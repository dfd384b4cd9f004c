package blend

import (
	"fmt"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/panel"
)

const folder = "blend/"

// Tensors returns the table for a model file, none for nil.
func (t *Table) Tensors() []modelfile.Tensor {
	if t == nil {
		return nil
	}
	tensors := []modelfile.Tensor{
		modelfile.NewTensor(folder+"shares", slices.Concat(t.shares...), len(t.shares), len(t.shares[0])), modelfile.NewTensor(folder+"edges", t.edges), modelfile.NewTensor(folder+"seasons", t.seasons),
		modelfile.NewTensor(folder+"start", t.start), modelfile.NewTensor(folder+"step", t.step), modelfile.NewTensor(folder+"value", t.value),
	}
	if t.move != nil {
		tensors = append(tensors, modelfile.NewTensor(folder+"move", append(slices.Clone(t.move), t.noise)))
	}
	if t.pull != nil {
		step, value := make([]int32, len(t.first)), make([]float32, len(t.first))
		for s, f := range t.first {
			step[s], value[s] = f.step, f.value
		}
		tensors = append(tensors, modelfile.NewTensor(folder+"pull", append(slices.Clone(t.pull.shares), t.pull.rise, float64(t.pull.reach))), modelfile.NewTensor(folder+"first_step", step), modelfile.NewTensor(folder+"first_value", value))
	}
	return tensors
}

// Read returns the table of a model file whose series are given, nil if it has none.
func Read(f *modelfile.File, p *panel.Panel) (*Table, error) {
	if _, found := f.Tensor(folder + "shares"); !found {
		return nil, nil
	}
	if p == nil {
		return nil, fmt.Errorf("mixed means: there are no series")
	}
	t := &Table{series: p}
	var err error
	if t.edges, err = modelfile.Values[float64](f, folder+"edges", -1); err != nil {
		return nil, err
	}
	if t.seasons, err = modelfile.Values[int32](f, folder+"seasons", -1); err != nil {
		return nil, err
	}
	shares, err := modelfile.Values[float64](f, folder+"shares", len(t.edges)+1, len(t.seasons)+2)
	if err != nil {
		return nil, err
	}
	t.shares = slices.Collect(slices.Chunk(shares, len(t.seasons)+2))
	if t.start, err = modelfile.Values[int32](f, folder+"start", p.Len()+1); err != nil {
		return nil, err
	}
	if t.step, err = modelfile.Values[int32](f, folder+"step", -1); err != nil {
		return nil, err
	}
	if t.value, err = modelfile.Values[float32](f, folder+"value", len(t.step)); err != nil {
		return nil, err
	}
	if _, found := f.Tensor(folder + "move"); found {
		if t.move, err = modelfile.Values[float64](f, folder+"move", 2+t.features()); err != nil {
			return nil, err
		}
		last := len(t.move) - 1
		t.move, t.noise = t.move[:last:last], t.move[last]
	}
	if err := t.readPull(f); err != nil {
		return nil, err
	}
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("mixed means: %w", err)
	}
	return t, nil
}

// readPull reads the shares of formulas, if there are any. Models of earlier versions have no
// seasons with a drift.
func (t *Table) readPull(f *modelfile.File) (err error) {
	tensor, found := f.Tensor(folder + "pull")
	if !found {
		return nil
	}
	p := t.formulas()
	if early := ownFormulas + len(t.seasons); tensor.Len() == early+2 {
		p = early
	}
	pull, err := modelfile.Values[float64](f, folder+"pull", p+2)
	if err != nil {
		return err
	}
	if reach := pull[p+1]; !(reach >= 0 && reach <= math.MaxInt32) {
		return fmt.Errorf("mixed means: a horizon is %g", reach)
	}
	t.pull = &Pull{shares: pull[:p:p], rise: pull[p], reach: int32(pull[p+1])}
	step, err := modelfile.Values[int32](f, folder+"first_step", t.series.Len())
	if err != nil {
		return err
	}
	value, err := modelfile.Values[float32](f, folder+"first_value", t.series.Len())
	if err != nil {
		return err
	}
	t.first = make([]firstValue, len(step))
	for s := range t.first {
		t.first[s] = firstValue{step[s], value[s]}
	}
	return nil
}

// checkPull returns an error unless the shares of formulas and the first values are possible.
func (t *Table) checkPull() error {
	if t.pull == nil {
		return nil
	}
	if !(math.Abs(t.pull.rise) <= math.MaxFloat32) {
		return fmt.Errorf("forecasts rise by %g", t.pull.rise)
	}
	sum := 0.0
	for _, s := range t.pull.shares {
		if !(s >= 0 && s <= 1) {
			return fmt.Errorf("a share of a formula is %g", s)
		}
		sum += s
	}
	if sum > 1+1e-6 {
		return fmt.Errorf("shares of formulas add up to %g", sum)
	}
	for s, first := range t.first {
		if v := float64(first.value); math.IsNaN(v) || math.IsInf(v, 0) || first.step < 0 {
			return fmt.Errorf("the first value of series %d, at step %d, is %g", s, first.step, v)
		}
	}
	return nil
}

// check returns an error unless the table is possible.
func (t *Table) check() error {
	if len(t.seasons)+2 > maxParts || !slices.IsSorted(t.edges) || slices.ContainsFunc(t.edges, math.IsNaN) {
		return fmt.Errorf("there are %d seasons and the edges %g", len(t.seasons), t.edges)
	}
	for _, shares := range t.shares {
		sum := 0.0
		for _, s := range shares {
			if !(s >= 0 && s <= 1) {
				return fmt.Errorf("a share is %g", s)
			}
			sum += s
		}
		if math.Abs(sum-1) > 1e-6 {
			return fmt.Errorf("shares add up to %g", sum)
		}
	}
	if err := t.checkPull(); err != nil {
		return err
	}
	if t.move != nil && !(t.noise >= leastNoise && t.noise <= 1) {
		return fmt.Errorf("the factor of the noise is %g", t.noise)
	}
	for _, b := range t.move {
		if !(math.Abs(b) <= math.MaxFloat32) {
			return fmt.Errorf("a coefficient of moves is %g", b)
		}
	}
	for _, s := range t.seasons {
		if s < 2 || !t.keeps(s) {
			return fmt.Errorf("a season has %d steps", s)
		}
	}
	if !slices.IsSorted(t.start) || t.start[0] != 0 || int(t.start[len(t.start)-1]) != len(t.step) {
		return fmt.Errorf("the values of series are not one after the other")
	}
	for s := range t.series.Len() {
		if !slices.IsSorted(t.step[t.start[s]:t.start[s+1]]) {
			return fmt.Errorf("the values of series %d are not in order of time", s)
		}
	}
	for i, v := range t.value {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) || int64(t.step[i]) > t.series.End {
			return fmt.Errorf("the value at step %d of %d is %g", t.step[i], t.series.End, v)
		}
	}
	return nil
}
