package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/explain"
	"github.com/kernel-fried-tensor/kft/internal/digits"
	"github.com/kernel-fried-tensor/kft/internal/figure"
)

type explainEffect = explain.Effect

// maxColumns is the largest number of side columns of a mode that are measured, and
// maxCurves that of the curves that are drawn.
const (
	maxColumns = 40
	maxCurves  = 16
)

// side shows which modes and columns matter and the learned curves.
func (b *builder) side() error {
	f := b.fitted
	if b.measured == nil || len(b.measured.y) == 0 || b.record.Valid.N+b.record.Test.N == 0 {
		f = nil
	}
	summary, err := b.x.Summarize(b.ctx, f, explain.ImportanceOptions{Rows: 50_000, Permutations: 1, Columns: maxColumns})
	if err != nil {
		return err
	}
	var blocks []block
	rank := map[string]int{}
	if len(summary.Importances) > 0 {
		bars := figure.Bars{Title: "Importance of modes and side columns", Unit: fmt.Sprintf("fall of R2 (%s) on the %s if the values are exchanged at random", summary.Scale, summary.Rows())}
		for i, imp := range summary.Importances {
			name := imp.Mode
			if imp.Column != "" {
				name += "." + imp.Column
			}
			rank[name] = i
			if i < 25 {
				bars.Bars = append(bars.Bars, figure.Bar{Label: name, Value: imp.Loss, Text: fmt.Sprintf("%.4f", imp.Loss)})
			}
		}
		blocks = append(blocks, block{Figure: bars.Figure()})
	}
	for mode, info := range b.m.Modes() {
		if side := b.m.SideOf(mode); side != nil && len(side.Table.Names()) > maxColumns {
			blocks = append(blocks, text("Of the %d columns of %s the first %d were measured.", len(side.Table.Names()), info.Name, maxColumns))
		}
	}
	curves := slices.DeleteFunc(summary.Curves, func(c explain.Curve) bool { // periods are drawn with the effects
		return c.Column == "" && slices.ContainsFunc(b.m.Modes(), func(info dataset.Mode) bool { return info.Name == c.Mode && !info.Covariate() })
	})
	slices.SortStableFunc(curves, func(a, c explain.Curve) int { return rankOf(rank, a) - rankOf(rank, c) })
	if len(curves) > maxCurves {
		blocks = append(blocks, text("The curves of %d of %d columns are drawn, those that matter most.", maxCurves, len(curves)))
		curves = curves[:maxCurves]
	}
	for _, c := range curves {
		blocks = append(blocks, block{Figure: curveFigure(c)})
	}
	b.add("side", "Side information that matters", blocks...)
	return nil
}

func rankOf(rank map[string]int, c explain.Curve) int {
	if at, known := rank[c.Name()]; known {
		return at
	}
	if at, known := rank[c.Column]; known { // of a number in a linear function
		return at
	}
	return len(rank)
}

// curveFigure draws numbers as a line and names as bars.
func curveFigure(c explain.Curve) *figure.Figure {
	const unit = "change of the level of an average cell"
	if c.Points[0].X == nil {
		bars := figure.Bars{Title: "Effect of " + c.Name(), Unit: unit}
		for _, p := range c.Points {
			bar := figure.Bar{Label: short(p.Label), Value: p.Effect, Text: digits.Signed(p.Effect, 3)}
			if p.Effect < 0 {
				bar.Colour = 'b'
			}
			bars.Bars = append(bars.Bars, bar)
		}
		return bars.Figure()
	}
	line := figure.Series{Name: "effect", Colour: 'a'}
	chart := figure.Lines{Title: "Effect of " + c.Name(), XName: c.Name(), YName: unit, Reference: []float64{0}, Height: 220}
	// Values of several orders of magnitude need a logarithmic axis.
	first, last := *c.Points[0].X, *c.Points[len(c.Points)-1].X
	logarithmic := first > 0 && last > 100*first
	if logarithmic {
		chart.XName += " (logarithm to base 10)"
	}
	for k, p := range c.Points {
		x := *p.X
		if logarithmic {
			x = math.Log10(x)
		}
		if c.Column == explain.Season {
			x = float64(k)
			chart.Labels = append(chart.Labels, p.Label)
		}
		line.X, line.Y = append(line.X, x), append(line.Y, p.Effect)
	}
	chart.Series = []figure.Series{line}
	return chart.Figure()
}
