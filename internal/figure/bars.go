package figure

import (
	"fmt"
	"math"
)

// A Bar has a label, a value, and a text beside it.
type Bar struct {
	Label  string
	Value  float64
	Text   string // "" for the value
	Colour byte   // a if 0
}

// Bars is a chart of horizontal bars.
type Bars struct {
	Title, Unit string
	Bars        []Bar
	Reference   []float64 // vertical lines
	From        *float64  // start of the axis; nil for 0
}

// Figure draws the chart.
func (c Bars) Figure() *Figure {
	const row = 22.0
	top := 46.0
	label, beside := 40.0, 40.0
	values := append([]float64(nil), c.Reference...)
	if c.From != nil {
		values = append(values, *c.From)
	} else {
		values = append(values, 0)
	}
	f := &Figure{Title: c.Title}
	for _, b := range c.Bars {
		label = max(label, TextWidth(shortenMiddle(b.Label, 36)))
		beside = max(beside, TextWidth(b.text()))
		values = append(values, b.Value)
		f.Description += fmt.Sprintf("%s: %s. ", b.Label, b.text())
	}
	f.Width, f.Height = label+16+370+beside+20, top+row*float64(len(c.Bars))+30
	f.Text(10, 16, Start, "head", Shorten(c.Title, int(f.Width/7)))
	f.Text(10, 33, Start, "soft", c.Unit)
	a := &axes{f: f, x: label + 16, y: top, w: 370, h: row * float64(len(c.Bars))}
	a.xMin, a.xMax = spread(values...)
	for _, v := range ticks(a.xMin, a.xMax, 5) {
		f.Line(a.across(v), a.y, a.across(v), a.y+a.h, "rule")
	}
	start := a.across(min(max(0, a.xMin), a.xMax))
	for i, b := range c.Bars {
		y := a.y + row*float64(i)
		f.Text(a.x-8, y+row/2, End, "", shortenMiddle(b.Label, 36))
		if finite(b.Value) {
			at := a.across(b.Value)
			colour := byte('a')
			if b.Colour != 0 {
				colour = b.Colour
			}
			f.Rect(min(start, at), y+4, max(abs(at-start), 1), row-8, "f"+string(colour), b.Label+": "+b.text())
			f.Text(max(start, at)+5, y+row/2, Start, "soft", b.text())
		}
	}
	for _, v := range c.Reference {
		f.Line(a.across(v), a.y, a.across(v), a.y+a.h, "mark")
	}
	a.horizontal(5)
	return f
}

func (b Bar) text() string {
	if b.Text != "" {
		return b.Text
	}
	return Number(b.Value)
}

// Histogram is a chart of vertical bars over equal bins.
type Histogram struct {
	Title, XName, YName string
	From, To            float64 // of the bins together
	Values              []float64
	Reference           []float64 // horizontal lines
}

// Figure draws the chart.
func (c Histogram) Figure() *Figure {
	f := &Figure{Width: 640, Height: 240, Title: c.Title}
	f.Text(10, 16, Start, "head", c.Title)
	f.Text(10, 34, Start, "soft", c.YName)
	a := &axes{f: f, x: 62, y: 46, w: f.Width - 78, h: f.Height - 92, xMin: c.From, xMax: c.To}
	a.yMin, a.yMax = spread(append(append([]float64{0}, c.Values...), c.Reference...)...)
	a.yMax += 0.05 * (a.yMax - a.yMin)
	a.vertical(4)
	width := a.w / math.Max(float64(len(c.Values)), 1)
	for i, v := range c.Values {
		if finite(v) {
			low := c.From + (c.To-c.From)*float64(i)/float64(len(c.Values))
			f.Rect(a.x+width*float64(i)+1, a.up(v), width-2, a.up(0)-a.up(v), "fa", fmt.Sprintf("from %s: %s", Number(low), Number(v)))
			f.Description += fmt.Sprintf("From %s: %s. ", Number(low), Number(v))
		}
	}
	for _, v := range c.Reference {
		f.Line(a.x, a.up(v), a.x+a.w, a.up(v), "mark")
	}
	a.horizontal(10)
	f.Text(a.x+a.w/2, f.Height-12, Middle, "soft", c.XName)
	return f
}
