package tune

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/internal/figure"
)

// WriteSVG draws the study as SVG: the score of each trial, the best score so
// far, and the parameter importances.
func (r Record) WriteSVG(w io.Writer) error {
	important, err := r.Importances()
	if err != nil {
		return err
	}
	_, err = figure.Beside(r.history(), importanceBars(important), "study").WriteTo(w)
	return err
}

// history draws one dot per trial by trial number, and the best score so far. Failed
// trials are drawn at the worst score.
func (r Record) history() *figure.Figure {
	def := Definition{Goal: Goal(r.Fact("goal"))}
	best, worst, beyond, ok := def.limits(r.Trials)
	c := figure.Lines{Title: "score of each trial", XName: "trial", YName: figure.Shorten(r.Fact("objective"), 40), Height: 380}
	if !ok {
		c.Title += ": no completed trials yet"
		best, worst = 1, 0
	}
	if beyond > 0 {
		c.Title += fmt.Sprintf(" (%d far worse, drawn at the edge)", beyond)
	}
	low, high := min(best, worst), max(best, worst)
	done := figure.Series{Name: "done", Colour: 'a', Dots: true}
	pruned := figure.Series{Name: "pruned (score at last rung)", Colour: 's', Dots: true}
	failed := figure.Series{Name: "failed", Colour: 'd', Dots: true}
	line := figure.Series{Name: "best so far", Colour: 'b', Step: true}
	add := func(s *figure.Series, t Trial, score float64) {
		s.X, s.Y = append(s.X, float64(t.Number+1)), append(s.Y, min(max(score, low), high))
	}
	for _, t := range r.Trials {
		switch {
		case t.State == Failed:
			add(&failed, t, worst)
		case t.State == Pruned && t.Score != nil:
			add(&pruned, t, *t.Score)
		case t.State == Done:
			add(&done, t, *t.Score)
			top := *t.Score
			if n := len(line.Y); n > 0 && (def.Goal == Maximize) == (line.Y[n-1] > top) {
				top = line.Y[n-1]
			}
			add(&line, t, top)
		}
	}
	c.Series = []figure.Series{line, done, pruned, failed}
	return c.Figure()
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

// maxBars is the maximum number of parameters that are drawn.
const maxBars = 14

// importanceBars draws one bar per parameter.
func importanceBars(important []Importance) *figure.Figure {
	c := figure.Bars{Title: "importance: share of rank variance explained", Reference: []float64{0, 1}}
	if important == nil {
		c.Unit = fmt.Sprintf("requires %d finished trials that differ", MinTrialsForImportance)
	}
	for i, p := range important {
		if i == maxBars {
			c.Unit = fmt.Sprintf("and %d more parameters", len(important)-i)
			break
		}
		c.Bars = append(c.Bars, figure.Bar{Label: p.Name, Value: p.Share})
	}
	return c.Figure()
}
