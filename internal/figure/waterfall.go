package figure

import "fmt"

// A Step of a waterfall leads from one value to the next; the first starts at From and
// may have its own meaning, such as an average.
type Step struct {
	Label    string
	From, To float64
	Change   string // text beside the bar
}

// A Waterfall shows how a value comes about.
type Waterfall struct {
	Title, Unit string
	Steps       []Step
}

// Figure draws the waterfall.
func (c Waterfall) Figure() *Figure {
	const row, head = 26.0, 46.0
	label, beside := 0.0, 0.0
	var values []float64
	for _, s := range c.Steps {
		label, beside = max(label, TextWidth(shortenMiddle(s.Label, 48))), max(beside, TextWidth(s.Change))
		values = append(values, s.From, s.To)
	}
	f := &Figure{Width: 16 + label + 370 + beside + 20, Height: head + row*float64(len(c.Steps)) + 30, Title: c.Title}
	f.Text(10, 16, Start, "head", Shorten(c.Title, int(f.Width/7)))
	f.Text(10, 33, Start, "soft", c.Unit)
	a := &axes{f: f, x: 16 + label, y: head, w: 370, h: row * float64(len(c.Steps))}
	a.xMin, a.xMax = spread(append(values, 0)...)
	for _, v := range ticks(a.xMin, a.xMax, 5) {
		f.Line(a.across(v), a.y, a.across(v), a.y+a.h, "rule")
	}
	for i, s := range c.Steps {
		y := a.y + row*float64(i)
		from, to := a.across(s.From), a.across(s.To)
		class := "fa"
		switch {
		case i == 0:
			class = "fs"
		case s.To < s.From:
			class = "fb"
		}
		f.Text(a.x-8, y+row/2, End, "", shortenMiddle(s.Label, 48))
		f.Rect(min(from, to), y+4, max(abs(to-from), 1), row-8, class, fmt.Sprintf("%s: %s to %s", s.Label, Number(s.From), Number(s.To)))
		f.Text(max(from, to)+5, y+row/2, Start, "soft", s.Change)
		if i+1 < len(c.Steps) {
			f.Line(to, y+row-4, to, y+row+4, "axis")
		}
		f.Description += fmt.Sprintf("%s: from %s to %s. ", s.Label, Number(s.From), Number(s.To))
	}
	a.horizontal(5)
	return f
}

func abs(v float64) float64 { return max(v, -v) }
