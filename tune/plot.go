package tune

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/kernel-fried-tensor/kft/internal/canvas"
)

// WriteSVG draws the study as SVG: the score of each trial, the best score so
// far, and the parameter importances.
func (r Record) WriteSVG(w io.Writer) error { return r.draw(w, canvas.NewSVG) }

// WritePNG draws the same plot as a PNG image.
func (r Record) WritePNG(w io.Writer) error { return r.draw(w, canvas.NewPNG) }

func (r Record) draw(w io.Writer, newCanvas func(width, height int) canvas.Canvas) error {
	important, err := r.Importances()
	if err != nil {
		return err
	}
	c := newCanvas(pictureWidth, pictureHeight)
	c.Rect(0, 0, pictureWidth, pictureHeight, canvas.White)
	drawHistory(c, r)
	drawImportances(c, important)
	return c.Write(w)
}

// Layout in pixels.
const (
	pictureWidth, pictureHeight = 940, 380
	plotTop, plotBottom         = 44, 300
	plotLeft, plotRight         = 78, 570
	legendTop                   = 358
	barLeft, barRight           = 760, 890
	barStep                     = 18
	maxBars                     = (plotBottom - plotTop) / barStep
)

var (
	axisColour   = color.RGBA{110, 110, 110, 255}
	gridColour   = color.RGBA{232, 232, 232, 255}
	doneColour   = color.RGBA{33, 102, 172, 255}
	bestColour   = color.RGBA{217, 95, 2, 255}
	prunedColour = color.RGBA{130, 130, 130, 255}
	failedColour = color.RGBA{178, 24, 43, 255}
)

// drawHistory draws one mark per trial by trial number, and the best score so far.
func drawHistory(c canvas.Canvas, r Record) {
	def := Definition{Goal: Goal(r.Fact("goal"))}
	best, worst, beyond, ok := def.limits(r.Trials)
	title := "score of each trial"
	if beyond > 0 {
		title += fmt.Sprintf(" (%d far worse, drawn at the edge)", beyond)
	}
	c.Text(plotLeft, 14, title, canvas.Left)
	c.Text(plotLeft-6, plotTop-14, shorten(r.Fact("objective"), 11), canvas.Right)
	count := len(r.Trials)
	xOf := func(number int) int {
		return plotLeft + int(math.Round((float64(number)+0.5)/float64(count)*(plotRight-plotLeft)))
	}
	low, high := min(best, worst), max(best, worst)
	yOf := func(score float64) int {
		return plotBottom - int(math.Round(min(max((score-low)/(high-low), 0), 1)*(plotBottom-plotTop)))
	}
	if ok {
		for _, v := range ticks(low, high, 6) {
			c.Rect(plotLeft, yOf(v.at), plotRight-plotLeft, 1, gridColour)
			c.Text(plotLeft-6, yOf(v.at), v.text, canvas.Right)
		}
	} else {
		c.Text((plotLeft+plotRight)/2, (plotTop+plotBottom)/2, "no completed trials yet", canvas.Middle)
	}
	for _, v := range ticks(0, float64(count), 10) {
		if n := int(v.at); n > 0 && v.at == float64(n) {
			c.Rect(xOf(n-1), plotBottom, 1, 4, axisColour)
			c.Text(xOf(n-1), plotBottom+12, strconv.Itoa(n), canvas.Middle)
		}
	}
	c.Rect(plotLeft, plotTop, 1, plotBottom-plotTop, axisColour)
	c.Rect(plotLeft, plotBottom, plotRight-plotLeft, 1, axisColour)
	c.Text((plotLeft+plotRight)/2, plotBottom+28, "trial", canvas.Middle)
	drawBest(c, def, r.Trials, xOf, yOf)
	radius := 3
	if count > 150 {
		radius = 2
	}
	for _, t := range r.Trials {
		drawTrial(c, t, xOf(t.Number), yOf, radius)
	}
	drawLegend(c)
}

// drawBest draws the best score so far as a step line.
func drawBest(c canvas.Canvas, def Definition, trials []Trial, xOf func(int) int, yOf func(float64) int) {
	var best *Trial
	for i, t := range trials {
		if t.State != Done || best != nil && def.loss(t) >= def.loss(*best) {
			continue
		}
		if best != nil {
			c.Rect(xOf(best.Number), yOf(*best.Score)-1, xOf(t.Number)-xOf(best.Number)+1, 2, bestColour)
			top, bottom := min(yOf(*best.Score), yOf(*t.Score)), max(yOf(*best.Score), yOf(*t.Score))
			c.Rect(xOf(t.Number)-1, top-1, 2, bottom-top+2, bestColour)
		}
		best = &trials[i]
	}
	if best != nil {
		c.Rect(xOf(best.Number), yOf(*best.Score)-1, plotRight-xOf(best.Number), 2, bestColour)
	}
}

// drawTrial draws a dot for a completed trial, a ring for a pruned one, and a
// square on the axis for a failed one.
func drawTrial(c canvas.Canvas, t Trial, x int, yOf func(float64) int, radius int) {
	switch {
	case t.State == Failed:
		c.Rect(x-radius+1, plotBottom-radius+1, 2*radius-1, 2*radius-1, failedColour)
	case t.State == Pruned && t.Score != nil:
		c.Dot(x, yOf(*t.Score), radius, prunedColour)
		c.Dot(x, yOf(*t.Score), radius-1, canvas.White)
	case t.State == Done:
		c.Dot(x, yOf(*t.Score), radius, doneColour)
	}
}

func drawLegend(c canvas.Canvas) {
	value := 0.0
	level := func(float64) int { return legendTop }
	x := plotLeft
	for _, entry := range []struct {
		mark func(x int)
		text string
	}{
		{func(x int) { drawTrial(c, Trial{State: Done, Score: &value}, x, level, 3) }, "done"},
		{func(x int) { drawTrial(c, Trial{State: Pruned, Score: &value}, x, level, 3) }, "pruned (score at last rung)"},
		{func(x int) { c.Rect(x-2, legendTop-2, 5, 5, failedColour) }, "failed"},
		{func(x int) { c.Rect(x-6, legendTop-1, 12, 2, bestColour) }, "best so far"},
	} {
		entry.mark(x)
		c.Text(x+12, legendTop, entry.text, canvas.Left)
		x += 12 + len(entry.text)*canvas.GlyphWidth + 30
	}
}

// limits returns the scores at the ends of the axis. Scores much worse than most
// are cut off, so that a diverged fit does not compress the plot; beyond counts
// them.
func (d Definition) limits(trials []Trial) (best, worst float64, beyond int, ok bool) {
	var losses []float64
	for _, t := range trials {
		if t.Finished() && t.Score != nil {
			losses = append(losses, d.loss(t))
		}
	}
	if len(losses) == 0 {
		return 0, 0, 0, false
	}
	slices.Sort(losses)
	least, most := losses[0], losses[len(losses)-1]
	if upper := losses[len(losses)*3/4]; upper > least {
		most = min(most, upper+(upper-least))
	}
	for _, loss := range losses {
		if loss > most {
			beyond++
		}
	}
	margin := 0.05 * (most - least)
	if margin == 0 {
		margin = max(math.Abs(least)*0.05, 1e-3)
	}
	best, worst = least-margin, most+margin
	if d.Goal == Maximize {
		best, worst = -best, -worst
	}
	return best, worst, beyond, true
}

// drawImportances draws one bar per parameter.
func drawImportances(c canvas.Canvas, important []Importance) {
	c.Text(plotRight+40, 14, "importance: share of rank variance explained", canvas.Left)
	if important == nil {
		c.Text(plotRight+40, plotTop+barStep/2, fmt.Sprintf("requires %d finished trials that differ", MinTrialsForImportance), canvas.Left)
		return
	}
	bottom := plotTop + min(len(important), maxBars)*barStep
	for share := 0.0; share <= 1; share += 0.5 {
		x := barLeft + int(math.Round(share*(barRight-barLeft)))
		c.Rect(x, plotTop, 1, bottom-plotTop+4, gridColour)
		c.Text(x, bottom+12, strconv.FormatFloat(share, 'g', -1, 64), canvas.Middle)
	}
	for i, p := range important {
		y := plotTop + i*barStep + barStep/2
		if i == maxBars-1 && len(important) > maxBars {
			c.Text(barLeft-6, y, fmt.Sprintf("and %d more", len(important)-i), canvas.Right)
			break
		}
		length := int(math.Round(p.Share * (barRight - barLeft)))
		c.Text(barLeft-6, y, shorten(p.Name, 24), canvas.Right)
		c.Rect(barLeft, y-5, length, 10, doneColour)
		c.Text(barLeft+length+5, y, strconv.FormatFloat(p.Share, 'f', 2, 64), canvas.Left)
	}
	c.Rect(barLeft, plotTop, 1, bottom-plotTop, axisColour)
}

// A tick is a labelled position on an axis.
type tick struct {
	at   float64
	text string
}

// ticks returns at most the given number of round values between low and high,
// spaced by 1, 2 or 5 times a power of ten.
func ticks(low, high float64, most int) []tick {
	power := math.Pow(10, math.Floor(math.Log10((high-low)/float64(most))))
	step := 10 * power
	for _, times := range []float64{5, 2, 1} {
		if (high-low)/(times*power) < float64(most) {
			step = times * power
		}
	}
	digits := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	var all []tick
	for i := math.Ceil(low / step); i*step <= high; i++ {
		all = append(all, tick{i * step, strconv.FormatFloat(i*step+0, 'f', digits, 64)})
	}
	return all
}

// shorten truncates a text to the given number of characters.
func shorten(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-2]) + ".."
	}
	return s
}
