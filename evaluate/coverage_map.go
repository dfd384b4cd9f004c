package evaluate

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/entity"
)

// A CoverageMap is the coverage of central intervals by the entities of two modes,
// drawn by its method WriteSVG.
type CoverageMap struct {
	*metrics.CoverageMap
	Labels metrics.CoverageMapLabels
	N      int // values counted
}

// MapOptions specify what a coverage map shows.
type MapOptions struct {
	model.TableOptions
	Rows    string       // mode of the map's rows
	Columns string       // mode of the map's columns; "" is the model's last
	Part    dataset.Part // rows of the fitted table; Unused takes all rows of any table
}

// Map counts how often the values of a table lie inside the central intervals, by
// the entities of two modes. Entities that are not in the fitted table are left out.
func Map(ctx context.Context, m *model.Model, source tableio.Source, opt MapOptions) (*CoverageMap, error) {
	c, err := newMapCounter(m, opt)
	if err != nil {
		return nil, err
	}
	if opt.Part == dataset.Unused {
		err = c.table(ctx, source, opt.TableOptions)
	} else {
		err = c.part(ctx, source, opt)
	}
	if err != nil {
		return nil, err
	}
	if c.N == 0 {
		return nil, fmt.Errorf("%v: no row has a value in column %s together with a %s and a %s of the fitted table, so there is nothing to draw", source, m.Spec().Data.Target, c.Labels.RowMode, c.Labels.ColumnMode)
	}
	return &c.CoverageMap, nil
}

// A mapCounter counts values for a coverage map.
type mapCounter struct {
	CoverageMap
	model *model.Model
	axes  [2]axis // rows, columns
}

// An axis is a mode whose entities are drawn in sorted order.
type axis struct {
	mode  int
	place []int32 // by code
}

func newMapCounter(m *model.Model, opt MapOptions) (*mapCounter, error) {
	names, modes := m.Spec().ModeNames(), m.Modes()
	if opt.Columns == "" {
		opt.Columns = names[len(names)-1]
	}
	c := &mapCounter{model: m}
	var labels [2][]string
	for i, name := range []string{opt.Rows, opt.Columns} {
		mode := slices.Index(names, name)
		if mode < 0 {
			return nil, &ModeError{name, names}
		}
		ids := m.IDs(mode)
		a := axis{mode: mode, place: make([]int32, len(ids))}
		for place, code := range modes[mode].Order(ids) {
			a.place[code] = int32(place)
			labels[i] = append(labels[i], ids[code])
		}
		c.axes[i] = a
	}
	if opt.Rows == opt.Columns {
		return nil, &ModeError{opt.Rows, nil}
	}
	c.CoverageMap.CoverageMap = metrics.NewCoverageMap(len(labels[0]), len(labels[1]))
	c.Labels = metrics.CoverageMapLabels{RowMode: opt.Rows, ColumnMode: opt.Columns, Rows: labels[0], Columns: labels[1]}
	return c, nil
}

// A ModeError reports an unknown mode or, with nil Modes, a mode that was given for
// both axes.
type ModeError struct {
	Mode  string
	Modes []string
}

func (e *ModeError) Error() string {
	if e.Modes == nil {
		return fmt.Sprintf("mode %s cannot be drawn against itself; use another mode for one of the axes", e.Mode)
	}
	return fmt.Sprintf("the model has no mode %q%s; its modes are %s", e.Mode, suggest.Hint(e.Mode, e.Modes), strings.Join(e.Modes, ", "))
}

// table counts all rows of a table.
func (c *mapCounter) table(ctx context.Context, source tableio.Source, opt model.TableOptions) error {
	var mutex sync.Mutex
	_, err := c.model.Visit(ctx, source, opt, func(m *model.Model, z tt.Moments, b *tableio.Batch) error {
		// Ids without training rows are unknown to the model but not to the map, so the
		// codes of the batch cannot be used.
		place := func(a axis, i int) int32 { return a.at(c.model.Code(a.mode, b.ID(a.mode, i))) }
		mutex.Lock() // counting is cheap compared with predicting
		defer mutex.Unlock()
		rows := Rows{Codes: b.Codes, Y: b.Y, Low: b.Low, W: b.W, Exposure: b.Exposure, Censored: b.Censored}
		for i := range b.Y {
			if err := c.add(m, z, rows, i, place(c.axes[0], i), place(c.axes[1], i)); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// part counts the rows that were in one part of the fitted table.
func (c *mapCounter) part(ctx context.Context, source tableio.Source, opt MapOptions) error {
	m := c.model
	rows, engine, err := partOf(ctx, m, source, opt.Part, opt.TableOptions)
	if err != nil {
		return err
	}
	vertical, horizontal := slices.Clone(rows.Codes[c.axes[0].mode]), slices.Clone(rows.Codes[c.axes[1].mode])
	m.ForgetUntrained(rows.Codes)
	z := PartMoments(engine, m, opt.Part, rows)
	for i := range rows.Y {
		if err := c.add(m, z, rows, i, c.axes[0].at(vertical[i]), c.axes[1].at(horizontal[i])); err != nil {
			return err
		}
	}
	return nil
}

func (a axis) at(code int32) int32 {
	if code < 0 || int(code) >= len(a.place) {
		return entity.Unknown
	}
	return a.place[code]
}

// add counts row i.
func (c *mapCounter) add(m *model.Model, z tt.Moments, rows Rows, i int, row, column int32) error {
	y := rows.Y
	if math.IsNaN(float64(y[i])) || rows.W != nil && rows.W[i] == 0 || row < 0 || column < 0 {
		return nil
	}
	if err := m.CheckTarget(y, i); err != nil {
		return err
	}
	c.N++
	c.Add(row, column, m.Distribution(z, rows.given(), i), rows.Target(i))
	return nil
}
