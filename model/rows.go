package model

import (
	"fmt"
	"math"
	"strconv"

	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

// Rows are rows to predict. The weight of a row is the precision of its value: on
// the modelling scale the noise variance is s2/w. Likelihoods with a link ignore it. The
// exposure of a row multiplies the rate of its count.
type Rows struct {
	Codes    [][]int32
	Weight   []float32 // positive; nil means 1
	Exposure []float32 // positive; nil means 1
	Horizon  []int32   // periods from the last training period, 0 for a row that is not a forecast; nil means 0
}

// RowsOf returns the rows of a batch whose codes belong to the model.
func (m *Model) RowsOf(b *tableio.Batch) Rows {
	return Rows{Codes: b.Codes, Weight: b.W, Exposure: b.Exposure, Horizon: m.horizons(b.Codes, b.ID)}
}

// horizons returns the horizons of rows, nil if nothing depends on them.
func (m *Model) horizons(codes [][]int32, id func(mode, row int) string) []int32 {
	if m.blend == nil && m.copula == nil && (m.correction == nil || m.correction.Factors() == nil) {
		return nil
	}
	return m.Horizons(codes, id)
}

// Horizons returns the number of periods from the last training period, or that of its series, to that of each
// row, 0 for rows that are not after it; nil if no row is. id returns the id of a row.
func (m *Model) Horizons(codes [][]int32, id func(mode, row int) string) []int32 {
	if m.series == nil {
		return nil
	}
	time := m.series.Time
	var out []int32
	known := map[string]int32{} // few periods, many rows
	for i, c := range codes[time] {
		if !m.series.Own && c >= 0 && int(c) < len(m.rows[time]) && m.rows[time][c] > 0 {
			continue
		}
		name := id(time, i)
		h, seen := known[name]
		if !seen || m.series.Own {
			h = m.series.Horizon(name, codes, i)
			known[name] = h
		}
		if h > 0 {
			if out == nil {
				out = make([]int32, len(codes[time]))
			}
			out[i] = h
		}
	}
	return out
}

// horizon returns the horizon of row i.
func (r Rows) horizon(i int) int32 {
	if r.Horizon == nil {
		return 0
	}
	return r.Horizon[i]
}

// weight returns the weight of row i.
func (r Rows) weight(i int) float64 {
	if r.Weight == nil {
		return 1
	}
	return float64(r.Weight[i])
}

// logExposure returns the logarithm of the exposure of row i.
func (r Rows) logExposure(i int) float64 {
	if r.Exposure == nil {
		return 0
	}
	return math.Log(float64(r.Exposure[i]))
}

// Level returns the prediction of row i on the transform's scale, or of the logarithm
// of the expected count, from the standardised prediction. A forecast moves with recent
// values of its series.
func (m *Model) Level(z float32, rows Rows, i int) float64 {
	level := m.scale.Location(z)
	if m.noise.Count() != nil {
		return level + rows.logExposure(i)
	}
	return level + m.blend.Move(m.scale.Transform, level, rows.Codes, i, rows.horizon(i))
}

// isMeasure reports whether a key of a cell is the column of weights or exposures.
func (m *Model) isMeasure(name string) bool {
	return name != "" && (name == m.spec.Data.Weight || name == m.spec.Data.Exposure) && !m.hasMode(name)
}

// rowsOf returns the codes, weights and exposures of cells, and a function for their ids.
func (m *Model) rowsOf(cells []Cell) (Rows, func(mode, c int) string, error) {
	codes, id, err := m.codesOf(cells)
	if err != nil {
		return Rows{}, nil, err
	}
	r := Rows{Codes: codes}
	for _, column := range []struct {
		to   *[]float32
		name string
	}{{&r.Weight, m.spec.Data.Weight}, {&r.Exposure, m.spec.Data.Exposure}} {
		if !m.isMeasure(column.name) {
			continue
		}
		*column.to = make([]float32, len(cells))
		for c, cell := range cells {
			text, given := cell[column.name]
			v := 1.0
			if given {
				v, err = strconv.ParseFloat(text, 32)
			}
			if err != nil || !(v > 0) || math.IsInf(v, 0) {
				return Rows{}, nil, &CellError{c, column.name, fmt.Sprintf("%s=%s is not a finite number above 0", column.name, text)}
			}
			(*column.to)[c] = float32(v)
		}
	}
	return r, id, nil
}
