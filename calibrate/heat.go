package calibrate

import (
	"fmt"
	"io"

	"github.com/kernel-fried-tensor/kft/internal/heatmap"
)

// A Heat counts, for the entities of two modes, how often values lay inside the
// central intervals: an entity a row, a time a column, a map a level. Weights
// have no part in it. It holds 6 numbers for each pair.
type Heat struct {
	rows, columns int
	n             []int32
	hits          [len(Levels)][]int32
}

// NewHeat returns an empty heat for rows times columns entities.
func NewHeat(rows, columns int) *Heat {
	h := &Heat{rows: rows, columns: columns, n: make([]int32, rows*columns)}
	for i := range h.hits {
		h.hits[i] = make([]int32, rows*columns)
	}
	return h
}

// Add counts a value. Unknown entities are passed over.
func (h *Heat) Add(row, column int32, p Predictive, y float64) {
	if row < 0 || column < 0 || int(row) >= h.rows || int(column) >= h.columns {
		return
	}
	at := int(row)*h.columns + int(column)
	h.n[at]++
	for i, hit := range insideAt(p.levels(y)) {
		if hit {
			h.hits[i][at]++
		}
	}
}

// Merge adds another heat of the same size.
func (h *Heat) Merge(o *Heat) {
	for at, n := range o.n {
		h.n[at] += n
		for i := range h.hits {
			h.hits[i][at] += o.hits[i][at]
		}
	}
}

// Count returns how many values a pair of entities has.
func (h *Heat) Count(row, column int) int { return int(h.n[row*h.columns+column]) }

// Hits returns how many of them lay inside the interval Levels[level].
func (h *Heat) Hits(level, row, column int) int {
	return int(h.hits[level][row*h.columns+column])
}

// RowCount returns how many values an entity has.
func (h *Heat) RowCount(row int) int {
	sum := 0
	for _, n := range h.n[row*h.columns : (row+1)*h.columns] {
		sum += int(n)
	}
	return sum
}

// HeatLabels name what a drawing shows.
type HeatLabels struct {
	RowMode, ColumnMode string
	Rows, Columns       []string // the entities' ids
}

// WritePNG draws the calibration rate at Levels[level] as a PNG image: a row for
// each of the entities with values, or for the 300 with most of them.
func (h *Heat) WritePNG(w io.Writer, level int, labels HeatLabels) error {
	return h.drawing(level, labels).WritePNG(w)
}

// WriteSVG draws the same as an SVG document.
func (h *Heat) WriteSVG(w io.Writer, level int, labels HeatLabels) error {
	return h.drawing(level, labels).WriteSVG(w)
}

func (h *Heat) drawing(level int, labels HeatLabels) *heatmap.Map {
	var shown []int
	var names []string
	for row := range h.rows {
		if h.RowCount(row) > 0 {
			shown = append(shown, row)
			names = append(names, labels.Rows[row])
		}
	}
	return &heatmap.Map{
		Title:   fmt.Sprintf("Share of values inside the %g %% interval, %s by %s", 100*Levels[level], labels.RowMode, labels.ColumnMode),
		RowName: labels.RowMode, ColumnName: labels.ColumnMode,
		Rows: names, Columns: labels.Columns[:h.columns], Nominal: Levels[level],
		Rate: func(row, column int) float64 {
			// 0/0 is NaN: no values, no colour.
			return float64(h.Hits(level, shown[row], column)) / float64(h.Count(shown[row], column))
		},
		Weight: func(row int) int { return h.RowCount(shown[row]) },
	}
}
