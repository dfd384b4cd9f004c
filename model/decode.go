package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/blend"
	"github.com/kernel-fried-tensor/kft/copula"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/heaping"
	"github.com/kernel-fried-tensor/kft/history"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/panel"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/entity"
	"github.com/kernel-fried-tensor/kft/tt/regression"
	"github.com/kernel-fried-tensor/kft/tt/seriesterm"
)

// Load reads a model from a file that [Model.Save] wrote.
func Load(path string) (m *Model, err error) {
	err = modelfile.ReadWith(path, func(f *modelfile.File) (err error) { m, err = Decode(f, path); return err })
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Read reads a model from the bytes that [Model.WriteTo] wrote, up to the end of r.
// Messages use name for the source.
func Read(r io.Reader, name string) (*Model, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	f, err := modelfile.Decode(data, name)
	if err != nil {
		return nil, err
	}
	return Decode(f, name)
}

// Decode returns the model of a file that was read. Messages use name for the source.
func Decode(f *modelfile.File, name string) (*Model, error) {
	if f.Meta["kind"] != "model" {
		return nil, &modelfile.FormatError{File: name, Problem: fmt.Sprintf("it holds a %s, not a model", f.Meta["kind"])}
	}
	engines, err := newEnginePool()
	if err != nil {
		return nil, err
	}
	d := &decoder{f: f, m: &Model{engines: engines, described: new(atomic.Pointer[Model])}}
	if err := safely(d.decode); err != nil {
		return nil, &modelfile.FormatError{File: name, Problem: fmt.Sprintf("not a valid model: %v; fit the model again, and do not use files that kft did not write", err)}
	}
	return d.m, nil
}

// safely decodes a file or a part of it. A panic means that a check is missing; the file is at fault
// all the same, and a program that loads files of others must not end by it.
func safely(decode func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it cannot be decoded: %v", p)
		}
	}()
	return decode()
}

// A decoder turns the texts and tensors of a file into a model.
type decoder struct {
	f     *modelfile.File
	m     *Model
	sizes []int
}

func (d *decoder) get(key string, v any) error {
	if err := json.Unmarshal([]byte(d.f.Meta[key]), v); err != nil {
		return fmt.Errorf("cannot read its %s: %w", key, err)
	}
	return nil
}

func (d *decoder) decode() error {
	m := d.m
	if err := d.f.CheckFinite(); err != nil {
		return err
	}
	var trains []trainMeta
	for key, v := range map[string]any{"spec": &m.spec, "scale": &m.scale, "training": &m.record, "field": &trains} {
		if err := d.get(key, v); err != nil {
			return err
		}
	}
	m.spec.Fill() // fields that its version did not have
	if err := d.checkSpec(); err != nil {
		return err
	}
	if err := d.checkScale(); err != nil {
		return err
	}
	if err := d.modes(); err != nil {
		return err
	}
	if err := d.checkRecord(); err != nil {
		return err
	}
	if err := d.checkTrains(trains); err != nil {
		return err
	}
	if err := d.uncertainty(); err != nil {
		return err
	}
	if err := d.fieldOf(trains); err != nil {
		return err
	}
	if err := d.noise(); err != nil {
		return err
	}
	var err error
	if m.heaping, err = heaping.Read(d.f, m.scale.Transform, m.EntitiesOf); err != nil {
		return err
	}
	parts, err := modelfile.Values[uint8](d.f, "split", -1)
	if err != nil {
		return err
	}
	if err := checkParts(parts); err != nil {
		return err
	}
	m.parts = make([]dataset.Part, len(parts))
	for i, p := range parts {
		m.parts[i] = dataset.Part(p)
	}
	if err := d.heldOut(); err != nil {
		return err
	}
	m.findTrained()
	m.series, err = panel.Read(d.f, m.modes, func(mode int) []string { return m.dicts[mode].IDs()[:len(m.rows[mode])] }, m.field.SeriesTime())
	if err != nil {
		return err
	}
	if m.blend, err = blend.Read(d.f, m.series); err != nil {
		return err
	}
	if m.series != nil {
		if m.copula, err = copula.Read(d.f, len(m.series.Keys)); err != nil {
			return err
		}
	}
	return d.ledger()
}

// fieldOf reads the field: its trains and series.
func (d *decoder) fieldOf(trains []trainMeta) error {
	m := d.m
	m.field = &tt.Field{}
	if _, has := d.f.Meta["offset"]; has {
		var offset offsetMeta
		if err := d.get("offset", &offset); err != nil {
			return err
		}
		if !(offset.Variance >= 0) || !finite(float64(offset.Mean)) || !finite(float64(offset.Variance)) {
			return fmt.Errorf("its offset has the mean %g and the variance %g", offset.Mean, offset.Variance)
		}
		m.field.Offset = tt.Offset{Mean: offset.Mean, Var: offset.Variance}
	}
	if _, has := d.f.Meta["response"]; has {
		if err := d.get("response", &m.field.Response); err != nil {
			return err
		}
		if err := checkResponse(m.field.Response); err != nil {
			return err
		}
	}
	var metas []seriesMeta
	if _, has := d.f.Meta["series"]; has {
		if err := d.get("series", &metas); err != nil {
			return err
		}
	}
	m.field.Terms, m.field.Series = make([]*tt.Train, len(trains)), make([]*seriesterm.Term, len(metas))
	failed := make([]error, len(trains)+len(metas))
	parallel.For(runtime.GOMAXPROCS(0), len(failed), func(k int) { // indices of many combinations take time
		failed[k] = safely(func() (err error) {
			if s := k - len(trains); s >= 0 {
				m.field.Series[s], err = d.seriesTerm(s, metas[s])
			} else {
				m.field.Terms[k], err = d.train(k, trains[k])
			}
			return err
		})
	})
	if err := cmp.Or(failed...); err != nil {
		return err
	}
	for k, meta := range trains {
		if meta.Group != k && m.field.Group == nil {
			m.field.Group = []int{}
		}
	}
	if m.field.Group != nil {
		for _, meta := range trains {
			m.field.Group = append(m.field.Group, meta.Group)
		}
	}
	return d.findSteps()
}

// modes reads the dictionaries and the side information.
func (d *decoder) modes() error {
	m := d.m
	for _, text := range m.spec.Data.Modes {
		mode, err := dataset.ParseMode(text)
		if err != nil {
			return err
		}
		ids, err := d.f.Strings("ids/" + mode.Name)
		if err != nil {
			return err
		}
		if err := checkIDs(mode.Name, ids); err != nil {
			return err
		}
		side, err := d.side(mode, ids)
		if err != nil {
			return fmt.Errorf("its side information of %s: %w", mode.Name, err)
		}
		if i := slices.Index(mode.Members(m.modes), -1); mode.Joint() && i >= 0 {
			return fmt.Errorf("its points %s have no covariate %s", mode.Name, mode.Columns[i])
		}
		if mode.Numeric() && side == nil {
			return fmt.Errorf("its numeric covariate %s has no kernel", mode.Name)
		}
		groups, err := d.groups(mode.Name, len(ids))
		if err != nil {
			return fmt.Errorf("its groups of %s: %w", mode.Name, err)
		}
		m.modes, m.side, m.groups = append(m.modes, mode.WithIDDates(ids)), append(m.side, side), append(m.groups, groups)
		m.dicts = append(m.dicts, dataset.NewDict(ids))
		d.sizes = append(d.sizes, len(ids))
	}
	h, err := history.Read(d.f, m.modes, m.dicts, m.spec.Data.Absent == "zero")
	if err != nil {
		return err
	}
	m.covariates = history.NewEncoder(m.modes, d.fittedDicts(), h, m.numberFormat())
	return nil
}

// fittedDicts returns the dictionaries of the fit: without the values of numeric covariates that updates
// added at the end, so that all rows are placed on the same grid.
func (d *decoder) fittedDicts() []*dataset.Dict {
	dicts := slices.Clone(d.m.dicts)
	for i, mode := range d.m.modes {
		rows, has := d.f.Tensor("seen/" + mode.Name)
		if ids := dicts[i].IDs(); has && mode.Smooth() && len(rows.Shape) == 1 && rows.Shape[0] < len(ids) {
			dicts[i] = dataset.NewDict(ids[:rows.Shape[0]])
		}
	}
	return dicts
}

// train reads one train of the field.
func (d *decoder) train(k int, meta trainMeta) (*tt.Train, error) {
	t := &tt.Train{}
	left := 1
	for p, core := range meta.Cores {
		c, err := d.core(k, p, left, core)
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
		if err := d.posterior(k, p, c, meta.Cores[p].Posterior, p == 0 || p == len(t.Cores)-1); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (d *decoder) core(k, p, left int, meta coreMeta) (*tt.Core, error) {
	axes, err := Axes(meta.Modes, d.m.spec.ModeNames(), d.m.axisSizes(), d.m.groups)
	if err != nil {
		return nil, err
	}
	if meta.Along != nil {
		axes = []entity.Axis{tt.StepAxis(axes[0].Mode, d.m.dicts[axes[0].Mode].Len())}
	}
	combos, err := modelfile.Values[int32](d.f, coreTensor(k, p, "entities"), -1, len(axes))
	if err != nil {
		return nil, err
	}
	index, err := entity.RestoreAxisIndex(axes, combos)
	if err != nil {
		return nil, err
	}
	mean, err := modelfile.Values[float32](d.f, coreTensor(k, p, "mean"), index.Entities(), left, -1)
	if err != nil {
		return nil, err
	}
	right := len(mean) / max(left*index.Entities(), 1)
	if right < 1 || meta.Trained < 0 || meta.Trained >= index.Entities() {
		return nil, fmt.Errorf("tensor %s does not fit into its train", coreTensor(k, p, "mean"))
	}
	c := tt.NewCore(meta.Modes, index, backend.Shape{Left: left, N: index.Entities(), Right: right})
	copy(c.Slices.Mean, mean)
	if meta.Along != nil {
		if err := d.along(k, p, c, meta.Along); err != nil {
			return nil, err
		}
	}
	if meta.Variant != tt.Plain {
		if err := d.regression(k, p, c, axes, meta); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// regression reads the weights of a core with side information.
func (d *decoder) regression(k, p int, c *tt.Core, axes []entity.Axis, meta coreMeta) error {
	if meta.Variant != tt.Side && meta.Variant != tt.WLR && meta.Variant != tt.Additive {
		return fmt.Errorf("a core has the unknown variant %q", meta.Variant)
	}
	size := c.Slices.Slice()
	m, err := regression.NewLinearMap(c.Index, d.m.operatorsOf(axes), size)
	if err != nil {
		return err
	}
	if err := d.checkSize(coreTensor(k, p, "side"), m.Rows()*size); err != nil {
		return err
	}
	trained := make([]bool, c.Slices.N)
	for e := range meta.Trained {
		trained[e] = true
	}
	c.Regress(meta.Variant, m, trained)
	if c.Free != nil {
		// Entities added after the fit have no weights of their own.
		free, err := modelfile.Values[float32](d.f, coreTensor(k, p, "weight"), -1, c.Slices.Left, c.Slices.Right)
		if err != nil {
			return err
		}
		if n := len(free) / size; n <= meta.Trained || n > c.Slices.N {
			return fmt.Errorf("tensor %s has %d rows for %d entities", coreTensor(k, p, "weight"), n, c.Slices.N)
		}
		c.Free = free
	}
	weight, err := modelfile.Values[float32](d.f, coreTensor(k, p, "side"), m.Rows(), c.Slices.Left, c.Slices.Right)
	if err != nil {
		return err
	}
	copy(c.Weight, weight)
	return nil
}
