package kft

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/kernel-fried-tensor/kft/calibrate"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/nearest"
	"github.com/kernel-fried-tensor/kft/tt"
)

// A HeatMap is the calibration rate by the entities of two modes, as drawn by its
// methods WritePNG and WriteSVG.
type HeatMap struct {
	*calibrate.Heat
	Labels calibrate.HeatLabels
	N      int // values counted
}

// HeatOptions say what a heat map shows.
type HeatOptions struct {
	TableOptions
	By   string       // the mode of its rows
	Time string       // that of its columns; "" is the model's last
	Part dataset.Part // rows of the fitted table; Unused takes all rows of any one table
}

// Heat counts how often the values of a table lay inside the central intervals, by
// the entities of two modes. Entities that the fitted table has not are left out.
func (m *Model) Heat(ctx context.Context, files []string, opt HeatOptions) (*HeatMap, error) {
	h, err := m.newHeat(opt)
	if err != nil {
		return nil, err
	}
	if opt.Part == dataset.Unused {
		err = h.table(ctx, files[0], opt.TableOptions)
	} else {
		err = h.part(ctx, files, opt)
	}
	if err != nil {
		return nil, err
	}
	if h.N == 0 {
		return nil, fmt.Errorf("%s: no row has a value in column %s, and a %s and a %s of the fitted table: there is nothing to draw", files[0], m.spec.Data.Target, h.Labels.RowMode, h.Labels.ColumnMode)
	}
	return &h.HeatMap, nil
}

// heating is a heat map that is being counted.
type heating struct {
	HeatMap
	model *Model
	axes  [2]axis // rows, columns
}

// axis is a mode whose entities are drawn in an order of theirs.
type axis struct {
	mode  int
	place []int32 // by code
}

func (m *Model) newHeat(opt HeatOptions) (*heating, error) {
	names := m.spec.ModeNames()
	if opt.Time == "" {
		opt.Time = names[len(names)-1]
	}
	h := &heating{model: m}
	var labels [2][]string
	for i, name := range []string{opt.By, opt.Time} {
		mode := slices.Index(names, name)
		if mode < 0 {
			return nil, &ModeError{name, names}
		}
		ids := m.IDs(mode)
		a := axis{mode: mode, place: make([]int32, len(ids))}
		for place, code := range m.modes[mode].Order(ids) {
			a.place[code] = int32(place)
			labels[i] = append(labels[i], ids[code])
		}
		h.axes[i] = a
	}
	if opt.By == opt.Time {
		return nil, &ModeError{opt.By, nil}
	}
	h.Heat = calibrate.NewHeat(len(labels[0]), len(labels[1]))
	h.Labels = calibrate.HeatLabels{RowMode: opt.By, ColumnMode: opt.Time, Rows: labels[0], Columns: labels[1]}
	return h, nil
}

// A ModeError names a mode that there is not, or, with no Modes to choose from,
// one that was given for both axes.
type ModeError struct {
	Mode  string
	Modes []string
}

func (e *ModeError) Error() string {
	if e.Modes == nil {
		return fmt.Sprintf("mode %s cannot be drawn against itself; choose another for one of the axes", e.Mode)
	}
	return fmt.Sprintf("the model has no mode %q%s; its modes are %s", e.Mode, nearest.Hint(e.Mode, e.Modes), strings.Join(e.Modes, ", "))
}

// table counts all rows of a table.
func (h *heating) table(ctx context.Context, file string, opt TableOptions) error {
	var mutex sync.Mutex
	_, err := h.model.visit(ctx, file, opt, func(m *Model, z tt.Moments, b *dataset.Batch) error {
		// Ids that had no training rows are unknown to the model, not to the map.
		place := func(a axis, i int) int32 {
			code, known := h.model.dicts[a.mode].Code([]byte(b.ID(a.mode, i)))
			if !known {
				return tt.Unknown
			}
			return a.at(code)
		}
		mutex.Lock() // what counts is quick beside what predicts
		defer mutex.Unlock()
		for i := range b.Y {
			if err := h.add(m, z, b.Codes, b.Y, i, place(h.axes[0], i), place(h.axes[1], i)); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// part counts the rows that were in a part of the fitted table.
func (h *heating) part(ctx context.Context, files []string, opt HeatOptions) error {
	m := h.model
	o, engine, err := m.partOf(ctx, files, opt.Part, opt.TableOptions)
	if err != nil {
		return err
	}
	rows, columns := slices.Clone(o.Codes[h.axes[0].mode]), slices.Clone(o.Codes[h.axes[1].mode])
	m.forgetUntrained(o.Codes)
	z := m.moments(engine, o.Codes)
	for i := range o.Y {
		if err := h.add(m, z, o.Codes, o.Y, i, h.axes[0].at(rows[i]), h.axes[1].at(columns[i])); err != nil {
			return err
		}
	}
	return nil
}

func (a axis) at(code int32) int32 {
	if code < 0 || int(code) >= len(a.place) {
		return tt.Unknown
	}
	return a.place[code]
}

// add counts row i.
func (h *heating) add(m *Model, z tt.Moments, codes [][]int32, y []float32, i int, row, column int32) error {
	if math.IsNaN(float64(y[i])) || row < 0 || column < 0 {
		return nil
	}
	if err := m.checkRow(y, i); err != nil {
		return err
	}
	h.N++
	h.Add(row, column, m.predictive(z, codes, i), float64(y[i]))
	return nil
}
