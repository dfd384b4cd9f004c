package panel

import (
	"fmt"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/modelfile"
)

// folder is where the panel is in a model file.
const folder = "panel/"

// Tensors returns the panel as tensors of a model file, none for a nil panel.
func (p *Panel) Tensors() []modelfile.Tensor {
	if p == nil {
		return nil
	}
	n := p.Len()
	codes := make([]int32, 0, n*len(p.Keys))
	for _, column := range p.Codes {
		codes = append(codes, column...)
	}
	var tensors []modelfile.Tensor
	if len(p.Keys) > 0 {
		tensors = []modelfile.Tensor{modelfile.NewTensor(folder+"codes", codes, len(p.Keys), n)}
	}
	if p.Own {
		tensors = append(tensors, modelfile.NewTensor(folder+"own", []uint8{1}, 1))
	}
	return append(tensors,
		modelfile.NewTensor(folder+"first", p.First, n), modelfile.NewTensor(folder+"last", p.Last, n),
		modelfile.NewTensor(folder+"rows", p.Rows, n), modelfile.NewTensor(folder+"mean", p.Mean, n))
}

// Read returns the panel of a model file, nil if it has none. ids returns the ids of a mode
// of the fitted table, along is as in [New].
func Read(f *modelfile.File, modes []dataset.Mode, ids func(mode int) []string, along int) (*Panel, error) {
	if _, found := f.Tensor(folder + "rows"); !found {
		return nil, nil
	}
	p := newPanel(modes, ids, along)
	if p == nil {
		return nil, fmt.Errorf("its list of series has no mode of time")
	}
	_, p.Own = f.Tensor(folder + "own")
	n := 1 // a table without other modes is one series
	var codes []int32
	var err error
	if len(p.Keys) > 0 {
		if codes, err = modelfile.Values[int32](f, folder+"codes", len(p.Keys), -1); err != nil {
			return nil, err
		}
		n = len(codes) / len(p.Keys)
	}
	for name, to := range map[string]*[]int32{"first": &p.First, "last": &p.Last, "rows": &p.Rows} {
		if *to, err = modelfile.Values[int32](f, folder+name, n); err != nil {
			return nil, err
		}
	}
	if p.Mean, err = modelfile.Values[float32](f, folder+"mean", n); err != nil {
		return nil, err
	}
	for k := range p.Keys {
		p.Codes = append(p.Codes, codes[k*n:(k+1)*n])
	}
	return p, p.check(modes, ids)
}

// check returns an error unless the series are distinct, sorted and within the table.
func (p *Panel) check(modes []dataset.Mode, ids func(mode int) []string) error {
	for k, m := range p.Keys {
		size := int32(len(ids(m)))
		for i, c := range p.Codes[k] {
			if c < 0 || c >= size {
				return fmt.Errorf("series %d has the code %d of mode %s, which has %d ids", i, c, modes[m].Name, size)
			}
		}
	}
	last := slices.Max(p.known)
	for i := range p.Rows {
		if p.First[i] < 0 || p.Last[i] < p.First[i] || p.Last[i] > last || p.Rows[i] < 1 {
			return fmt.Errorf("series %d has %d rows from step %d to %d of %d", i, p.Rows[i], p.First[i], p.Last[i], last)
		}
		p.End = max(p.End, int64(p.Last[i]))
		if i > 0 && p.compare(i-1, i) >= 0 {
			return fmt.Errorf("series %d is not after the one before it", i)
		}
	}
	return nil
}

func (p *Panel) compare(a, b int) int {
	for _, column := range p.Codes {
		if d := int(column[a]) - int(column[b]); d != 0 {
			return d
		}
	}
	return 0
}
