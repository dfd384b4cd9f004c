package conformal

import "github.com/kernel-fried-tensor/kft/modelfile"

// metaKey is the key of the grouping in a model file, folder that of the names of its tensors.
const (
	metaKey = "conformal"
	folder  = "conformal/"
)

// AddTo adds the correction to a model file, nothing for nil.
func (c *Correction) AddTo(f *modelfile.File) {
	if c == nil {
		return
	}
	r := c.Record()
	f.Meta[metaKey] = string(r.Grouping)
	f.Tensors = append(f.Tensors,
		modelfile.NewTensor(folder+"edges", r.Edges, len(r.Edges)), modelfile.NewTensor(folder+"group", r.Group, len(r.Group)),
		modelfile.NewTensor(folder+"size", r.Size, len(r.Size)), modelfile.NewTensor(folder+"knots", r.Knots, len(r.Knots)))
	if len(r.Parts) > 0 {
		f.Tensors = append(f.Tensors, modelfile.NewTensor(folder+"parts", r.Parts, len(r.Parts)), modelfile.NewTensor(folder+"spread", r.Spread, len(r.Spread)))
	}
	if len(r.Factors) > 0 {
		f.Tensors = append(f.Tensors, modelfile.NewTensor(folder+"horizon", r.Factors, len(r.Factors)))
	}
	if r.Sized > 0 {
		f.Tensors = append(f.Tensors, modelfile.NewTensor(folder+"sized", []int64{r.Sized}, 1))
	}
}

// ReadRecord returns the record of the correction of a model file, nil if it has none. The record may be inconsistent.
func ReadRecord(f *modelfile.File) (*Record, error) {
	grouping := f.Meta[metaKey]
	if grouping == "" {
		return nil, nil
	}
	r := &Record{Grouping: Grouping(grouping)}
	var sized []int64
	for _, part := range []struct {
		name     string
		values   *[]float64
		integers *[]int64
		optional bool // files of earlier versions do not have it
	}{
		{"edges", &r.Edges, nil, false}, {"group", nil, &r.Group, false}, {"size", nil, &r.Size, false}, {"knots", &r.Knots, nil, false},
		{"parts", nil, &r.Parts, true}, {"spread", &r.Spread, nil, true}, {"horizon", &r.Factors, nil, true}, {"sized", nil, &sized, true},
	} {
		var err error
		switch _, has := f.Tensor(folder + part.name); {
		case part.optional && !has:
		case part.values != nil:
			*part.values, err = modelfile.Values[float64](f, folder+part.name, -1)
		default:
			*part.integers, err = modelfile.Values[int64](f, folder+part.name, -1)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, n := range sized {
		r.Sized = n
	}
	return r, nil
}
