package metrics

import (
	"fmt"
	"io"

	"github.com/kernel-fried-tensor/kft/internal/figure"
	"github.com/kernel-fried-tensor/kft/predictive"
)

// A CoverageMap counts, by the entities of two modes, how many values lie inside the
// central intervals. The entities of one mode are its rows, those of the other its
// columns, and there is one map per level of [IntervalLevels]. Weights are ignored. It
// holds 6 numbers per pair of entities.
type CoverageMap struct {
	rows, columns int
	n             []int32
	hits          [len(IntervalLevels)][]int32
}

// NewCoverageMap returns an empty map of rows times columns entities.
func NewCoverageMap(rows, columns int) *CoverageMap {
	m := &CoverageMap{rows: rows, columns: columns, n: make([]int32, rows*columns)}
	for i := range m.hits {
		m.hits[i] = make([]int32, rows*columns)
	}
	return m
}

// Add counts the value y. It ignores entities outside the map.
func (m *CoverageMap) Add(row, column int32, d predictive.Distribution, y float64) {
	if row < 0 || column < 0 || int(row) >= m.rows || int(column) >= m.columns {
		return
	}
	at := int(row)*m.columns + int(column)
	m.n[at]++
	for i, hit := range insideIntervals(d.IntervalLimits(y)) {
		if hit {
			m.hits[i][at]++
		}
	}
}

// Merge adds the counts of another map of the same size.
func (m *CoverageMap) Merge(o *CoverageMap) {
	for at, n := range o.n {
		m.n[at] += n
		for i := range m.hits {
			m.hits[i][at] += o.hits[i][at]
		}
	}
}

// Count returns the number of values of a pair of entities.
func (m *CoverageMap) Count(row, column int) int { return int(m.n[row*m.columns+column]) }

// Hits returns the number of values of a pair of entities inside the interval
// IntervalLevels[level].
func (m *CoverageMap) Hits(level, row, column int) int {
	return int(m.hits[level][row*m.columns+column])
}

// RowCount returns the number of values of a row.
func (m *CoverageMap) RowCount(row int) int {
	sum := 0
	for _, n := range m.n[row*m.columns : (row+1)*m.columns] {
		sum += int(n)
	}
	return sum
}

// CoverageMapLabels are the labels of a drawing.
type CoverageMapLabels struct {
	RowMode, ColumnMode string
	Rows, Columns       []string // ids of the entities
}

// WriteSVG draws the coverage at IntervalLevels[level] as an SVG document. It has one row
// per entity with values, at most the 300 entities with the most values.
func (m *CoverageMap) WriteSVG(w io.Writer, level int, labels CoverageMapLabels) error {
	_, err := m.drawing(level, labels).Figure().WriteTo(w)
	return err
}

func (m *CoverageMap) drawing(level int, labels CoverageMapLabels) figure.Map {
	var shown []int
	var names []string
	for row := range m.rows {
		if m.RowCount(row) > 0 {
			shown = append(shown, row)
			names = append(names, labels.Rows[row])
		}
	}
	return figure.Map{
		Title:   fmt.Sprintf("Share of values inside the %g %% interval, %s by %s", 100*IntervalLevels[level], labels.RowMode, labels.ColumnMode),
		RowName: labels.RowMode, ColumnName: labels.ColumnMode,
		Rows: names, Columns: labels.Columns[:m.columns], Nominal: IntervalLevels[level],
		Rate: func(row, column int) float64 {
			// 0/0 is NaN, which has no colour.
			return float64(m.Hits(level, shown[row], column)) / float64(m.Count(shown[row], column))
		},
		Weight: func(row int) int { return m.RowCount(shown[row]) },
	}
}
