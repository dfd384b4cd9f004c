package model

import (
	"fmt"
	"math"
	"strconv"
)

// Rows are rows to predict. The weight of a row is the precision of its value: on
// the modelling scale the noise variance is s2/w. Likelihoods with a link ignore it. The
// exposure of a row multiplies the rate of its count.
type Rows struct {
	Codes    [][]int32
	Weight   []float32 // positive; nil means 1
	Exposure []float32 // positive; nil means 1
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
// of the expected count, from the standardised prediction.
func (m *Model) Level(z float32, rows Rows, i int) float64 {
	level := m.scale.Location(z)
	if m.noise.Count() != nil {
		level += rows.logExposure(i)
	}
	return level
}

// isMeasure reports whether a key of a cell is the column of weights or exposures.
func (m *Model) isMeasure(name string) bool {
	return name != "" && (name == m.spec.Data.Weight || name == m.spec.Data.Exposure) && !m.hasMode(name)
}

// rowsOf returns the codes, weights and exposures of cells.
func (m *Model) rowsOf(cells []Cell) (Rows, error) {
	codes, err := m.codesOf(cells)
	if err != nil {
		return Rows{}, err
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
				return Rows{}, &CellError{c, column.name, fmt.Sprintf("%s=%s is not a finite number above 0", column.name, text)}
			}
			(*column.to)[c] = float32(v)
		}
	}
	return r, nil
}
