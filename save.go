package kft

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/sideinfo"
	"github.com/kernel-fried-tensor/kft/tt"
)

// trainMeta and coreMeta describe the field in a model file.
type trainMeta struct {
	Group int        `json:"group"`
	Cores []coreMeta `json:"cores"`
}

type coreMeta struct {
	Modes   []string   `json:"modes"`
	Variant tt.Variant `json:"variant"`
	Trained int        `json:"trained"` // entities with training data, which come first

	Spread *spreadMeta `json:"spread,omitempty"` // nil for weights known exactly
}

// sideMeta describes the side information of a mode.
type sideMeta struct {
	Encoder  *sideinfo.Encoder `json:"encoder"`
	Operator map[string]string `json:"operator"`
}

// Save writes the model to one file, as a whole or not at all.
func (m *Model) Save(path string) error {
	f := &modelfile.File{Meta: map[string]string{"kind": "model"}}
	put := func(key string, v any) error {
		text, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("kft: writing %s: %w", key, err)
		}
		f.Meta[key] = string(text)
		return nil
	}
	for key, v := range map[string]any{"spec": m.spec, "scale": m.scale, "training": m.about, "field": m.fieldMeta(), "uncertainty": m.uncertain} {
		if err := put(key, v); err != nil {
			return err
		}
	}
	for i, d := range m.dicts {
		f.Tensors = append(f.Tensors, modelfile.StringsTensor("ids/"+m.modes[i].Name, d.IDs())...)
	}
	for k, t := range m.field.Terms {
		for p, c := range t.Cores {
			f.Tensors = append(f.Tensors, coreTensors(k, p, c)...)
			f.Tensors = append(f.Tensors, spreadTensors(k, p, c)...)
		}
	}
	for i, s := range m.side {
		if s == nil {
			continue
		}
		meta, tensors := sideinfo.State(s.operator)
		if err := put("side/"+m.modes[i].Name, sideMeta{s.encoder, meta}); err != nil {
			return err
		}
		folder := sideFolder(m.modes[i].Name)
		f.Tensors = append(f.Tensors, modelfile.Of(folder+"has", bytesOf(s.has), len(s.has)))
		for _, t := range append(tensors, sideinfo.MatrixTensors(s.operator)...) {
			f.Tensors = append(f.Tensors, modelfile.Of(folder+"operator/"+t.Name, t.F32, t.Shape...))
		}
	}
	for i, mode := range m.modes {
		f.Tensors = append(f.Tensors, modelfile.Of("seen/"+mode.Name, m.seen[i], len(m.seen[i])))
	}
	if grouping, tensors := layerTensors(m.uncertain.layer); grouping != "" {
		f.Meta["conformal"] = grouping
		f.Tensors = append(f.Tensors, tensors...)
	}
	f.Tensors = append(f.Tensors, modelfile.Of("split", bytesOf(m.parts), len(m.parts)))
	return modelfile.Write(path, f)
}

func sideFolder(mode string) string { return "side/" + mode + "/" }

// bytesOf writes small values as bytes.
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
			meta.Cores = append(meta.Cores, coreMeta{Modes: c.Modes, Variant: c.Variant, Trained: c.TrainedEntities(), Spread: spreadMetaOf(c)})
		}
		trains = append(trains, meta)
	}
	return trains
}

// coreTensors returns the arrays of a core: its entities and slices, and for one
// with side information what the slices are made of.
func coreTensors(k, p int, c *tt.Core) []modelfile.Tensor {
	s := c.Slices
	tensors := []modelfile.Tensor{
		modelfile.Of(coreTensor(k, p, "entities"), c.Index.Combinations(), s.N-1, len(c.Modes)),
		modelfile.Of(coreTensor(k, p, "mean"), s.Mean, s.N, s.Left, s.Right),
	}
	if c.Map == nil {
		return tensors
	}
	if c.Free != nil {
		tensors = append(tensors, modelfile.Of(coreTensor(k, p, "weight"), c.Free, len(c.Free)/s.Slice(), s.Left, s.Right))
	}
	return append(tensors, modelfile.Of(coreTensor(k, p, "side"), c.Weight, c.Map.Rows(), s.Left, s.Right))
}

func coreTensor(term, core int, what string) string {
	return fmt.Sprintf("term/%d/core/%d/%s", term, core, what)
}

// Load reads a model that Save wrote.
func Load(path string) (*Model, error) {
	f, err := modelfile.Read(path)
	if err != nil {
		return nil, err
	}
	if f.Meta["kind"] != "model" {
		return nil, &modelfile.FormatError{File: path, Problem: fmt.Sprintf("it holds a %s, not a model", f.Meta["kind"])}
	}
	l := &loader{f: f, m: &Model{}}
	if err := l.load(); err != nil {
		return nil, &modelfile.FormatError{File: path, Problem: err.Error()}
	}
	return l.m, nil
}

// loader is one call of Load.
type loader struct {
	f     *modelfile.File
	m     *Model
	sizes []int
}

func (l *loader) get(key string, v any) error {
	if err := json.Unmarshal([]byte(l.f.Meta[key]), v); err != nil {
		return fmt.Errorf("its %s cannot be read: %w", key, err)
	}
	return nil
}

func (l *loader) load() error {
	m := l.m
	var trains []trainMeta
	for key, v := range map[string]any{"spec": &m.spec, "scale": &m.scale, "training": &m.about, "field": &trains} {
		if err := l.get(key, v); err != nil {
			return err
		}
	}
	if err := l.modes(); err != nil {
		return err
	}
	if err := l.uncertainty(); err != nil {
		return err
	}
	m.field = &tt.Field{}
	for k, meta := range trains {
		t, err := l.train(k, meta)
		if err != nil {
			return err
		}
		m.field.Terms = append(m.field.Terms, t)
		if meta.Group != k && m.field.Group == nil {
			m.field.Group = []int{}
		}
	}
	if m.field.Group != nil {
		for _, meta := range trains {
			m.field.Group = append(m.field.Group, meta.Group)
		}
	}
	parts, err := modelfile.Values[uint8](l.f, "split", -1)
	if err != nil {
		return err
	}
	for _, p := range parts {
		m.parts = append(m.parts, dataset.Part(p))
	}
	m.markTrained()
	return nil
}

// modes reads the dictionaries and the side information.
func (l *loader) modes() error {
	m := l.m
	for _, text := range m.spec.Data.Modes {
		mode, err := dataset.ParseMode(text)
		if err != nil {
			return err
		}
		ids, err := l.f.Strings("ids/" + mode.Name)
		if err != nil {
			return err
		}
		side, err := l.side(mode.Name, len(ids))
		if err != nil {
			return fmt.Errorf("its side information of %s: %w", mode.Name, err)
		}
		m.modes, m.side = append(m.modes, mode), append(m.side, side)
		m.dicts = append(m.dicts, dataset.NewDict(ids))
		l.sizes = append(l.sizes, len(ids))
	}
	return nil
}

func (l *loader) side(mode string, ids int) (*sideMode, error) {
	if _, ok := l.f.Meta["side/"+mode]; !ok {
		return nil, nil
	}
	meta := sideMeta{Encoder: &sideinfo.Encoder{}}
	if err := l.get("side/"+mode, &meta); err != nil {
		return nil, err
	}
	folder := sideFolder(mode)
	var tensors []sideinfo.NamedTensor
	for _, t := range l.f.Tensors {
		if name, ok := strings.CutPrefix(t.Name, folder+"operator/"); ok {
			values, err := modelfile.Values[float32](l.f, t.Name)
			if err != nil {
				return nil, err
			}
			tensors = append(tensors, sideinfo.NamedTensor{Name: name, Shape: t.Shape, F32: values})
		}
	}
	path, err := cpu.Choose()
	if err != nil {
		return nil, err
	}
	op, err := sideinfo.Restore(cpu.New(path, 1), meta.Operator, tensors)
	if err != nil {
		return nil, err
	}
	has, err := modelfile.Values[uint8](l.f, folder+"has", ids)
	if err != nil {
		return nil, err
	}
	if op.Rows() != ids || op.Matrix() == nil {
		return nil, fmt.Errorf("an operator of %d rows for %d ids", op.Rows(), ids)
	}
	s := &sideMode{encoder: meta.Encoder, operator: op, has: make([]bool, ids)}
	for i, v := range has {
		s.has[i] = v == 1
	}
	return s, nil
}

// train reads one train of the field.
func (l *loader) train(k int, meta trainMeta) (*tt.Train, error) {
	t := &tt.Train{}
	left := 1
	for p, core := range meta.Cores {
		c, err := l.core(k, p, left, core)
		if err != nil {
			return nil, err
		}
		left = c.Slices.Right
		t.Cores = append(t.Cores, c)
	}
	if left != 1 || len(t.Cores) == 0 {
		return nil, fmt.Errorf("term %d does not end in rank 1", k)
	}
	for p, c := range t.Cores {
		if err := l.spread(k, p, c, meta.Cores[p].Spread, p == 0 || p == len(t.Cores)-1); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (l *loader) core(k, p, left int, meta coreMeta) (*tt.Core, error) {
	at := model.Positions(meta.Modes, l.m.spec.ModeNames())
	for i, mode := range at {
		if mode < 0 {
			return nil, fmt.Errorf("a core names the mode %q, which does not exist", meta.Modes[i])
		}
	}
	combos, err := modelfile.Values[int32](l.f, coreTensor(k, p, "entities"), -1, len(at))
	if err != nil {
		return nil, err
	}
	index, err := tt.IndexOf(at, l.sizes, combos)
	if err != nil {
		return nil, err
	}
	mean, err := modelfile.Values[float32](l.f, coreTensor(k, p, "mean"), index.Entities(), left, -1)
	if err != nil {
		return nil, err
	}
	right := len(mean) / (left * index.Entities())
	if right < 1 || meta.Trained < 0 || meta.Trained >= index.Entities() {
		return nil, fmt.Errorf("tensor %s does not fit into its train", coreTensor(k, p, "mean"))
	}
	c := tt.NewCore(meta.Modes, index, backend.Shape{Left: left, N: index.Entities(), Right: right})
	copy(c.Slices.Mean, mean)
	if meta.Variant != tt.Plain {
		if err := l.regression(k, p, c, at, meta); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// regression reads what the slices of a core with side information are made of.
func (l *loader) regression(k, p int, c *tt.Core, at []int, meta coreMeta) error {
	if meta.Variant != tt.Side && meta.Variant != tt.WLR && meta.Variant != tt.Additive {
		return fmt.Errorf("a core is of the unknown variant %q", meta.Variant)
	}
	operators := make([]tt.Operator, len(at))
	for i, mode := range at {
		if s := l.m.side[mode]; s != nil {
			operators[i] = s.operator
		}
	}
	size := c.Slices.Slice()
	m, err := tt.NewMap(c.Index, operators, size)
	if err != nil {
		return err
	}
	trained := make([]bool, c.Slices.N)
	for e := range meta.Trained {
		trained[e] = true
	}
	c.Regress(meta.Variant, m, trained)
	if c.Free != nil {
		// Entities that came after the fit have no weights of their own.
		free, err := modelfile.Values[float32](l.f, coreTensor(k, p, "weight"), -1, c.Slices.Left, c.Slices.Right)
		if err != nil {
			return err
		}
		if n := len(free) / size; n <= meta.Trained || n > c.Slices.N {
			return fmt.Errorf("tensor %s has %d rows for %d entities", coreTensor(k, p, "weight"), n, c.Slices.N)
		}
		c.Free = free
	}
	weight, err := modelfile.Values[float32](l.f, coreTensor(k, p, "side"), m.Rows(), c.Slices.Left, c.Slices.Right)
	if err != nil {
		return err
	}
	copy(c.Weight, weight)
	return nil
}
