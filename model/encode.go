package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/sideinfo"
	"github.com/kernel-fried-tensor/kft/tt"
)

// trainMeta and coreMeta describe the trains and cores of the field in a model file.
type trainMeta struct {
	Group int        `json:"group"`
	Cores []coreMeta `json:"cores"`
}

type coreMeta struct {
	Modes   []string   `json:"modes"`
	Variant tt.Variant `json:"variant"`
	Trained int        `json:"trained"` // entities with training data, which come first

	Posterior *posteriorMeta `json:"spread,omitempty"` // nil for a point estimate
	Along     *alongMeta     `json:"along,omitempty"`  // nil for independent slices
}

// offsetMeta is the offset of the field in a model file. Files of earlier versions have
// none.
type offsetMeta struct {
	Mean     float32 `json:"mean"`
	Variance float32 `json:"variance"`
}

// sideMeta describes the side information of a mode.
type sideMeta struct {
	Encoder  *sideinfo.Encoder `json:"encoder"`
	Operator map[string]string `json:"operator"`
	Table    []string          `json:"table,omitempty"` // columns whose values the file has
}

// Save writes the model to one file, completely or not at all.
func (m *Model) Save(path string) error {
	f, err := m.file()
	if err != nil {
		return err
	}
	return modelfile.Write(path, f)
}

// WriteTo writes the bytes of the model file.
func (m *Model) WriteTo(w io.Writer) (int64, error) {
	f, err := m.file()
	if err != nil {
		return 0, err
	}
	return f.WriteTo(w)
}

// file returns the model as named texts and tensors.
func (m *Model) file() (*modelfile.File, error) {
	if m.prefix != "" {
		return nil, errors.New("the model of one of several targets is a part of the model of all of them; save that one")
	}
	book := m.ledger
	m = m.Fitted()
	f := &modelfile.File{Meta: map[string]string{"kind": "model"}}
	put := func(key string, v any) error {
		text, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("encoding the %s of the model: %w", key, err)
		}
		f.Meta[key] = string(text)
		return nil
	}
	noise, noiseTensors := noiseTensors(m.noise)
	f.Tensors = append(f.Tensors, noiseTensors...)
	for key, v := range map[string]any{"spec": m.spec, "scale": m.scale, "training": m.record, "field": m.fieldMeta(), "offset": offsetMeta{m.field.Offset.Mean, m.field.Offset.Var}, "uncertainty": noise} {
		if err := put(key, v); err != nil {
			return nil, err
		}
	}
	if m.field.Response > 1 {
		if err := put("response", m.field.Response); err != nil {
			return nil, err
		}
	}
	for i, d := range m.dicts {
		f.Tensors = append(f.Tensors, modelfile.StringTensors("ids/"+m.modes[i].Name, d.IDs())...)
	}
	for k, t := range m.field.Terms {
		for p, c := range t.Cores {
			f.Tensors = append(f.Tensors, coreTensors(k, p, c)...)
			f.Tensors = append(f.Tensors, posteriorTensors(k, p, c)...)
			f.Tensors = append(f.Tensors, alongTensors(k, p, c)...)
		}
	}
	if len(m.field.Series) > 0 {
		text, tensors, err := m.seriesTensors()
		if err != nil {
			return nil, err
		}
		f.Meta["series"] = text
		f.Tensors = append(f.Tensors, tensors...)
	}
	for i, s := range m.side {
		if s == nil {
			continue
		}
		meta, tensors := sideinfo.State(s.Operator)
		if err := put("side/"+m.modes[i].Name, sideMeta{s.Encoder, meta, s.Table.Names()}); err != nil {
			return nil, err
		}
		folder := sideFolder(m.modes[i].Name)
		f.Tensors = append(f.Tensors, modelfile.NewTensor(folder+"has", bytesOf(s.Has), len(s.Has)))
		for k, c := range s.Table.All() {
			f.Tensors = append(f.Tensors, levelTensors(tableFolder(m.modes[i].Name, k), c.Levels, c.Of)...)
		}
		if !recomputed(m.modes[i], s) {
			tensors = append(tensors, sideinfo.MatrixTensors(s.Operator)...)
		}
		for _, t := range tensors {
			f.Tensors = append(f.Tensors, modelfile.NewTensor(folder+"operator/"+t.Name, t.F32, t.Shape...))
		}
	}
	for i, mode := range m.modes {
		g := m.groupsOf(i)
		if g == nil {
			continue
		}
		text, tensors, err := groupTensors(mode.Name, g)
		if err != nil {
			return nil, err
		}
		f.Meta["groups/"+mode.Name] = text
		f.Tensors = append(f.Tensors, tensors...)
	}
	f.Tensors = append(f.Tensors, m.heldOutTensors()...)
	f.Tensors = append(f.Tensors, m.covariates.History().Tensors()...)
	for i, mode := range m.modes {
		f.Tensors = append(f.Tensors, modelfile.NewTensor("seen/"+mode.Name, m.rows[i], len(m.rows[i])))
		if m.seen != nil {
			f.Tensors = append(f.Tensors, modelfile.NewTensor("observed/"+mode.Name, m.seen[i], len(m.seen[i])))
		}
	}
	m.correction.AddTo(f)
	if kind, tensors := meanTensors(m.means); kind != "" {
		f.Meta["means"] = kind
		f.Tensors = append(f.Tensors, tensors...)
	}
	if err := m.heaping.AddTo(f); err != nil {
		return nil, err
	}
	f.Tensors = append(f.Tensors, m.series.Tensors()...)
	f.Tensors = append(f.Tensors, m.blend.Tensors()...)
	f.Tensors = append(f.Tensors, m.copula.Tensors()...)
	if book != nil {
		meta, tensors := book.File()
		if err := put("update", meta); err != nil {
			return nil, err
		}
		f.Tensors = append(f.Tensors, tensors...)
	}
	f.Tensors = append(f.Tensors, modelfile.NewTensor("split", bytesOf(m.parts), len(m.parts)))
	return f, nil
}

func sideFolder(mode string) string { return "side/" + mode + "/" }

func tableFolder(mode string, column int) string {
	return fmt.Sprintf("%stable/%d/", sideFolder(mode), column)
}

// bytesOf returns booleans or parts as bytes.
func bytesOf[T ~uint8 | ~bool](values []T) []byte {
	out := make([]byte, len(values))
	for i, v := range values {
		switch v := any(v).(type) {
		case bool:
			if v {
				out[i] = 1
			}
		case dataset.Part:
			out[i] = byte(v)
		}
	}
	return out
}

func (m *Model) fieldMeta() []trainMeta {
	var trains []trainMeta
	for k, t := range m.field.Terms {
		meta := trainMeta{Group: k}
		if m.field.Group != nil {
			meta.Group = m.field.Group[k]
		}
		for _, c := range t.Cores {
			meta.Cores = append(meta.Cores, coreMeta{Modes: c.Modes, Variant: c.Variant, Trained: c.TrainedEntities(), Posterior: posteriorMetaOf(c), Along: alongMetaOf(c)})
		}
		trains = append(trains, meta)
	}
	return trains
}

// coreTensors returns the arrays of a core: its entities and slices, and with side
// information also the weights that the slices are computed from.
func coreTensors(k, p int, c *tt.Core) []modelfile.Tensor {
	s := c.Slices
	tensors := []modelfile.Tensor{
		modelfile.NewTensor(coreTensor(k, p, "entities"), c.Index.Combinations(), s.N-1, len(c.Modes)),
		modelfile.NewTensor(coreTensor(k, p, "mean"), s.Mean, s.N, s.Left, s.Right),
	}
	if c.Map == nil {
		return tensors
	}
	if c.Free != nil {
		tensors = append(tensors, modelfile.NewTensor(coreTensor(k, p, "weight"), c.Free, len(c.Free)/s.Slice(), s.Left, s.Right))
	}
	return append(tensors, modelfile.NewTensor(coreTensor(k, p, "side"), c.Weight, c.Map.Rows(), s.Left, s.Right))
}

func coreTensor(term, core int, what string) string {
	return fmt.Sprintf("term/%d/core/%d/%s", term, core, what)
}
