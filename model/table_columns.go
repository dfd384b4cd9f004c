package model

import (
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/predictive"
	"github.com/kernel-fried-tensor/kft/tt"
)

// numberColumns are the columns of moments and quantiles that PredictTable writes, by their
// places in resultColumns.
type numberColumns struct {
	spread    bool      // there are standard deviations
	levels    []float64 // of the quantiles, each once
	quantiles []levelColumn
}

// A levelColumn is a column of a quantile and its place among the levels.
type levelColumn struct{ column, level int }

// Places in resultColumns.
const (
	meanColumn     = 0
	medianColumn   = 1
	spreadColumns  = 2 // sd, sd_model, sd_noise
	quantileOffset = 5
)

func newNumberColumns(results []string, added []tableio.AddedColumn, quantiles []float64) *numberColumns {
	c := &numberColumns{}
	for i, result := range results {
		c.spread = c.spread || !added[i].Omit && strings.HasPrefix(result, "sd")
	}
	add := func(column int, p float64) {
		if added[column].Omit {
			return
		}
		level := slices.Index(c.levels, p)
		if level < 0 {
			level, c.levels = len(c.levels), append(c.levels, p)
		}
		c.quantiles = append(c.quantiles, levelColumn{column, level})
	}
	add(medianColumn, 0.5)
	for k, p := range quantiles {
		add(quantileOffset+k, p)
	}
	return c
}

// fill sets the columns of rows, given their moments. The first row has position first in its
// table.
func (c *numberColumns) fill(values *tableio.AddedValues, m *Model, z tt.Moments, given Rows, first int) error {
	for i := range z.Mean {
		if err := m.CheckMoments(z, given, first, i); err != nil {
			return err
		}
	}
	cells := m.Distributions(z, given)
	if !c.spread && len(c.levels) == 0 {
		cells.Place()
		for i := range z.Mean {
			SetNumber(values, meanColumn, i, cells.Mean(i))
		}
		return nil
	}
	quantiles, levels := make([]float64, len(c.levels)), predictive.NewLevels(c.levels)
	for j, row := range cells.Sort() {
		i := int(row)
		p := cells.At(j)
		var all predictive.Moments
		switch {
		case c.spread && len(c.levels) > 0:
			all = p.MomentsAndQuantiles(quantiles, levels)
		case c.spread:
			all = p.Moments()
		default:
			all.Mean = p.Mean()
			p.QuantilesAt(quantiles, levels)
		}
		SetNumber(values, meanColumn, i, all.Mean)
		if c.spread {
			for k, v := range [...]float64{all.SD, all.SDModel, all.SDNoise} {
				SetNumber(values, spreadColumns+k, i, v)
			}
		}
		for _, q := range c.quantiles {
			SetNumber(values, q.column, i, quantiles[q.level])
		}
	}
	return nil
}
