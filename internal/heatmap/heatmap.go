// Package heatmap draws a matrix of rates as coloured cells with a legend, as PNG or
// SVG. The same map gives the same bytes on every machine.
package heatmap

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/internal/canvas"
)

// A Map is a matrix of rates in [0, 1].
type Map struct {
	Title      string
	RowName    string // name of the row mode, such as store
	ColumnName string
	Rows       []string // labels
	Columns    []string
	Nominal    float64 // the rate at the centre of the colour scale
	Rate       func(row, column int) float64
	Weight     func(row int) int // selects the rows if there are too many; nil selects the first
}

// MaxRows is the maximum number of rows. If there are more, those with the largest
// weights are drawn in their original order, and the title says so.
const MaxRows = 300

// maxLabels is the maximum number of labels of an axis.
const maxLabels = 40

// layout holds the geometry of a map.
type layout struct {
	m              *Map
	shown          []int // selected rows
	columns        int
	title          string
	cellW, cellH   int
	left, top      int
	width, height  int
	rowStep        int // every rowStep-th row has a label
	columnStep     int
	columnLabelLen int
}

func (m *Map) layout() layout {
	l := layout{m: m, shown: largest(len(m.Rows), m.Weight), columns: len(m.Columns), title: m.Title}
	if len(l.shown) < len(m.Rows) {
		l.title += fmt.Sprintf(" (%d of %d %s entities, those with the most values)", len(l.shown), len(m.Rows), m.RowName)
	}
	rows := len(l.shown)
	l.cellH = clamp(720/max(rows, 1), 3, 24)
	l.cellW = clamp(960/max(l.columns, 1), 3, 32)
	labelLen := len([]rune(m.RowName))
	for _, r := range l.shown {
		labelLen = max(labelLen, len([]rune(shorten(m.Rows[r]))))
	}
	for _, c := range m.Columns {
		l.columnLabelLen = max(l.columnLabelLen, len([]rune(shorten(c))))
	}
	l.rowStep = step(rows, l.cellH)
	l.columnStep = step(l.columns, l.cellW)
	l.left = 12 + labelLen*canvas.GlyphWidth + 6
	l.top = 32
	bottom := 8 + l.columnLabelLen*canvas.GlyphWidth + 2*canvas.GlyphHeight + 8
	l.height = l.top + max(rows*l.cellH, legendHeight) + bottom
	l.width = max(l.left+l.columns*l.cellW+legendSpace, 2*12+len([]rune(l.title))*canvas.GlyphWidth)
	return l
}

// step returns the distance between labels such that they do not overlap and are not
// too many.
func step(count, size int) int {
	byRoom := (canvas.GlyphHeight + 2 + size - 1) / size
	byCount := (count + maxLabels - 1) / maxLabels
	return max(byRoom, byCount, 1)
}

// labelled reports whether entry i of count has a label: every step-th, and the last
// one.
func labelled(i, count, step int) bool {
	if i == count-1 {
		return true
	}
	return i%step == 0 && count-1-i >= step
}

func largest(count int, weight func(row int) int) []int {
	rows := make([]int, count)
	for i := range rows {
		rows[i] = i
	}
	if count <= MaxRows {
		return rows
	}
	if weight != nil {
		slices.SortStableFunc(rows, func(a, b int) int { return weight(b) - weight(a) })
	}
	rows = rows[:MaxRows]
	slices.Sort(rows)
	return rows
}

const (
	legendSpace  = 110
	legendHeight = 200
	legendSteps  = 50
)

func (l layout) draw(c canvas.Canvas) {
	m := l.m
	c.Rect(0, 0, l.width, l.height, canvas.White)
	c.Text(12, 14, l.title, canvas.Left)
	for i, r := range l.shown {
		y := l.top + i*l.cellH
		for k := range l.columns {
			c.Rect(l.left+k*l.cellW, y, l.cellW, l.cellH, shade(m.Rate(r, k), m.Nominal))
		}
		if labelled(i, len(l.shown), l.rowStep) {
			c.Text(l.left-4, y+l.cellH/2, shorten(m.Rows[r]), canvas.Right)
		}
	}
	bottom := l.top + len(l.shown)*l.cellH
	for k, name := range m.Columns {
		if labelled(k, l.columns, l.columnStep) {
			c.Text(l.left+k*l.cellW+l.cellW/2, bottom+4, shorten(name), canvas.Upwards)
		}
	}
	c.Text(l.left-4, l.top-8, m.RowName, canvas.Right)
	c.Text(l.left+l.columns*l.cellW/2, l.height-10, m.ColumnName, canvas.Middle)
	l.legend(c)
}

func (l layout) legend(c canvas.Canvas) {
	x := l.left + l.columns*l.cellW + 16
	h := legendHeight / legendSteps
	for i := range legendSteps {
		rate := 1 - (float64(i)+0.5)/legendSteps
		c.Rect(x, l.top+i*h, 16, h, shade(rate, l.m.Nominal))
	}
	marks := []float64{0, 0.5, 1}
	if math.Abs(l.m.Nominal-0.5) < 0.05 {
		marks = []float64{0, 1}
	}
	if near := l.m.Nominal; near > 0.95 {
		marks = []float64{0, 0.5}
	}
	for _, rate := range append(marks, l.m.Nominal) {
		y := l.top + int(math.Round((1-rate)*legendHeight))
		label := fmt.Sprintf("%g", rate)
		if rate == l.m.Nominal {
			label += " nominal"
		}
		// Skip a label that would overlap with the nominal one.
		if rate != l.m.Nominal && math.Abs(rate-l.m.Nominal) < 0.05 {
			continue
		}
		c.Text(x+20, y, label, canvas.Left)
	}
	c.Rect(x, l.top+legendHeight+10, 16, 8, empty)
	c.Text(x+20, l.top+legendHeight+14, "no values", canvas.Left)
}

var (
	empty = color.RGBA{225, 225, 225, 255}
	under = color.RGBA{178, 24, 43, 255}
	ideal = color.RGBA{247, 247, 240, 255}
	over  = color.RGBA{33, 102, 172, 255}
)

// shade returns the colour of a rate: pale at the nominal rate, red below and blue
// above, with equal intensity for equal distances on both sides, and grey for NaN.
// The square root of the distance emphasizes small distances.
func shade(rate, nominal float64) color.RGBA {
	share := math.Sqrt(math.Abs(rate-nominal) / max(nominal, 1-nominal))
	switch {
	case math.IsNaN(rate):
		return empty
	case rate < nominal:
		return mix(ideal, under, share)
	}
	return mix(ideal, over, share)
}

func mix(a, b color.RGBA, share float64) color.RGBA {
	part := func(x, y uint8) uint8 { return uint8(math.Round(float64(x) + share*(float64(y)-float64(x)))) }
	return color.RGBA{part(a.R, b.R), part(a.G, b.G), part(a.B, b.B), 255}
}

// shorten truncates a label.
func shorten(s string) string {
	r := []rune(s)
	if len(r) > 24 {
		return string(r[:22]) + ".."
	}
	return s
}

func clamp(v, low, high int) int { return min(max(v, low), high) }

// WritePNG writes the map as a PNG image.
func (m *Map) WritePNG(w io.Writer) error {
	return m.write(w, canvas.NewPNG)
}

// WriteSVG writes the map as an SVG document.
func (m *Map) WriteSVG(w io.Writer) error {
	return m.write(w, canvas.NewSVG)
}

func (m *Map) write(w io.Writer, newCanvas func(width, height int) canvas.Canvas) error {
	l := m.layout()
	c := newCanvas(l.width, l.height)
	l.draw(c)
	return c.Write(w)
}
