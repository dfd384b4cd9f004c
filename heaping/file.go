package heaping

import (
	"encoding/json"
	"fmt"

	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/predictive/noisemodel"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// metaKey is the text of a model file that describes the levels.
const metaKey = "heaping"

// curveName is the tensor of the correction of levels.
const curveName = "heaping/levels"

// borderName is the tensor of the border of intervals.
const borderName = "heaping/border"

// A levelMeta describes a level in a model file.
type levelMeta struct {
	Modes    []int   `json:"modes"`
	Pair     bool    `json:"pair,omitempty"`
	Strength float64 `json:"strength"`
}

func tensorName(level int, what string) string { return fmt.Sprintf("heaping/%d/%s", level, what) }

// AddTo adds the table, which may be nil, to a model file.
func (t *Table) AddTo(f *modelfile.File) error {
	if t == nil {
		return nil
	}
	var all []levelMeta
	for i, l := range t.levels {
		all = append(all, levelMeta{l.Modes, l.Pair, l.Strength})
		f.Tensors = append(f.Tensors, modelfile.NewTensor(tensorName(i, "start"), l.Start), modelfile.NewTensor(tensorName(i, "value"), l.Value), modelfile.NewTensor(tensorName(i, "entry"), l.Entry))
	}
	text, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("encoding heaped values: %w", err)
	}
	f.Meta[metaKey] = string(text)
	if t.curve != nil {
		f.Tensors = append(f.Tensors, modelfile.NewTensor(curveName, t.curve), modelfile.NewTensor(borderName, []float64{t.border}))
	}
	return nil
}

// Read returns the table of a model file, nil if it has none. index returns the index of
// the entities of modes, nil if there is none.
func Read(f *modelfile.File, t targetscale.Transform, index func(modes []int) noisemodel.EntityIndex) (*Table, error) {
	text, has := f.Meta[metaKey]
	if !has {
		return nil, nil
	}
	var all []levelMeta
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return nil, fmt.Errorf("heaped values: %w", err)
	}
	levels := make([]Level, len(all))
	for i, meta := range all {
		l := &levels[i]
		*l = Level{Modes: meta.Modes, Pair: meta.Pair, Strength: meta.Strength}
		if len(meta.Modes) > 0 {
			if l.Index = index(meta.Modes); l.Index == nil {
				return nil, fmt.Errorf("heaped values: no term has the combinations of modes %v", meta.Modes)
			}
		}
		var err error
		if l.Start, err = modelfile.Values[int32](f, tensorName(i, "start"), -1); err == nil {
			l.Value, err = modelfile.Values[uint8](f, tensorName(i, "value"), -1)
		}
		if err == nil {
			l.Entry, err = modelfile.Values[uint8](f, tensorName(i, "entry"), len(l.Value))
		}
		if err != nil {
			return nil, err
		}
	}
	table, err := NewTable(t, levels)
	if err != nil {
		return nil, err
	}
	if _, has := f.Tensor(curveName); !has {
		return table, nil
	}
	curve, err := modelfile.Values[float64](f, curveName, -1)
	if err != nil {
		return nil, err
	}
	border, err := modelfile.Values[float64](f, borderName, 1)
	if err != nil {
		return nil, err
	}
	return table, table.setCurve(curve, border[0])
}
