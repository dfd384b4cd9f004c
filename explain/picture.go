package explain

import (
	"fmt"

	"github.com/kernel-fried-tensor/kft/internal/figure"
)

// Waterfall draws the steps of the explanation. The result has the methods WriteTo, for an
// SVG document, and Inline, for an element of a page.
func (e *Explanation) Waterfall() *figure.Figure {
	c := figure.Waterfall{Title: fmt.Sprintf("%s: %s %s", e.cellText(), number(e.Prediction), e.Target), Unit: "from the average cell to the prediction, in " + e.Target}
	for i, s := range e.Steps {
		step := figure.Step{Label: s.Label, From: float64(s.From), To: float64(s.To), Change: number(float64(s.To))}
		if i > 0 {
			step.Change = signed(float64(s.To - s.From))
		}
		c.Steps = append(c.Steps, step)
	}
	return c.Figure()
}
