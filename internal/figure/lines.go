package figure

import (
	"fmt"
	"math"
)

// A Series is a line, or dots, over numbers. A value that is not finite interrupts the
// line.
type Series struct {
	Name      string
	X, Y      []float64
	Low, High []float64 // a band about the line; nil for none
	Colour    byte      // a, b, c, d, or s for a soft one
	Dots      bool      // dots in place of a line
	Step      bool      // a line of steps
}

// Lines is a chart of series. With Labels, the whole numbers of the horizontal axis are
// positions in them.
type Lines struct {
	Title, XName, YName string
	Labels              []string
	Series              []Series
	Reference           []float64 // horizontal lines
	Marks               []float64 // vertical lines
	FromZero            bool      // the vertical axis includes 0
	Width, Height       float64   // 0 for the default, 640 x 280
}

// Figure draws the chart.
func (c Lines) Figure() *Figure {
	f := &Figure{Width: orElse(c.Width, 640), Height: orElse(c.Height, 280), Title: c.Title, Description: c.describe()}
	f.Text(10, 16, Start, "head", Shorten(c.Title, int(f.Width/7)))
	top := 40.0
	if len(c.Series) > 1 {
		c.legend(f, 34)
		top = 50
	}
	if c.YName != "" {
		f.Text(10, top, Start, "soft", c.YName)
		top += 14
	}
	a := &axes{f: f, x: 62, y: top, w: f.Width - 78, h: f.Height - top - 46}
	c.scale(a)
	a.vertical(5)
	for _, v := range c.Reference {
		f.Line(a.x, a.up(v), a.x+a.w, a.up(v), "mark")
	}
	for _, v := range c.Marks {
		f.Line(a.across(v), a.y, a.across(v), a.y+a.h, "mark")
	}
	if c.Labels != nil {
		c.labels(a)
	} else {
		a.horizontal(8)
	}
	f.Text(a.x+a.w/2, f.Height-10, Middle, "soft", c.XName)
	for _, s := range c.Series {
		s.draw(a, c.Labels)
	}
	return f
}

func orElse(v, otherwise float64) float64 {
	if v > 0 {
		return v
	}
	return otherwise
}

// scale sets the ranges of the axes.
func (c Lines) scale(a *axes) {
	var x, y []float64
	for _, s := range c.Series {
		x, y = append(x, s.X...), append(append(append(y, s.Y...), s.Low...), s.High...)
	}
	y = append(y, c.Reference...)
	x = append(x, c.Marks...)
	if c.FromZero {
		y = append(y, 0)
	}
	a.xMin, a.xMax = spread(x...)
	if c.Labels != nil {
		a.xMin, a.xMax = -0.5, max(float64(len(c.Labels))-0.5, 0.5)
	}
	a.yMin, a.yMax = spread(y...)
	if margin := 0.04 * (a.yMax - a.yMin); !c.FromZero || a.yMin < 0 {
		a.yMin -= margin
	}
	a.yMax += 0.04 * (a.yMax - a.yMin)
}

// labels writes labels of positions, as many as there is room for.
func (c Lines) labels(a *axes) {
	widest := 0.0
	for _, text := range c.Labels {
		widest = max(widest, TextWidth(Shorten(text, 16)))
	}
	step := max(int(math.Ceil(float64(len(c.Labels))*(widest+10)/a.w)), 1)
	for i := 0; i < len(c.Labels); i += step {
		x := a.across(float64(i))
		a.f.Line(x, a.y+a.h, x, a.y+a.h+4, "axis")
		a.f.Text(x, a.y+a.h+13, Middle, "soft", Shorten(c.Labels[i], 16))
	}
	a.base()
}

func (c Lines) legend(f *Figure, y float64) {
	x := 10.0
	for _, s := range c.Series {
		f.Rect(x, y-5, 10, 10, "f"+string(s.Colour), "")
		f.Text(x+14, y, Start, "", s.Name)
		x += 14 + TextWidth(s.Name) + 18
	}
}

func (s Series) draw(a *axes, labels []string) {
	s.band(a)
	if s.Dots {
		for i, x := range s.X {
			if finite(s.Y[i]) {
				a.f.Dot(a.across(x), a.up(s.Y[i]), 2.5, "f"+string(s.Colour), s.tip(i, labels))
			}
		}
		return
	}
	var line []float64
	for i, x := range s.X {
		if !finite(s.Y[i]) {
			a.f.Path(line, "l"+string(s.Colour))
			line = nil
			continue
		}
		if s.Step && len(line) > 0 {
			line = append(line, a.across(x), line[len(line)-1])
		}
		line = append(line, a.across(x), a.up(s.Y[i]))
	}
	a.f.Path(line, "l"+string(s.Colour))
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func (s Series) tip(i int, labels []string) string {
	x := Number(s.X[i])
	if labels != nil && s.X[i] >= 0 && int(s.X[i]) < len(labels) {
		x = labels[int(s.X[i])]
	}
	return fmt.Sprintf("%s at %s: %s", s.Name, x, Number(s.Y[i]))
}

func (s Series) band(a *axes) {
	var upper, lower []float64
	close := func() {
		for i := len(lower) - 2; i >= 0; i -= 2 {
			upper = append(upper, lower[i], lower[i+1])
		}
		a.f.Area(upper, "band f"+string(s.Colour))
		upper, lower = nil, nil
	}
	for i := range s.Low {
		if !finite(s.Low[i]) || !finite(s.High[i]) {
			close()
			continue
		}
		upper = append(upper, a.across(s.X[i]), a.up(s.High[i]))
		lower = append(lower, a.across(s.X[i]), a.up(s.Low[i]))
	}
	close()
}

// describe says how each series begins, ends and ranges.
func (c Lines) describe() string {
	text := ""
	for _, s := range c.Series {
		if len(s.Y) == 0 {
			continue
		}
		low, high := spread(s.Y...)
		text += fmt.Sprintf("%s: %d points from %s to %s, first %s, last %s. ", s.Name, len(s.Y), Number(low), Number(high), Number(s.Y[0]), Number(s.Y[len(s.Y)-1]))
	}
	return text
}
