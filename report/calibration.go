package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/internal/figure"
	"github.com/kernel-fried-tensor/kft/metrics"
)

// calibration shows the PIT, the coverage by level, and coverage against width by group.
func (b *builder) calibration() error {
	part, score := b.record.Judged()
	var blocks []block
	if c := score.Calibration; c != nil {
		pit := make([]float64, len(c.PIT))
		for i, share := range c.PIT {
			pit[i] = 100 * float64(share)
		}
		blocks = append(blocks, text("If the predicted distributions are right, each bar of the histogram has the same height: values fall below the quantile of level p in a share p of the rows. A hump means that intervals are too wide, a valley that they are too narrow, a slope that predictions are too high or too low."),
			block{Figure: figure.Histogram{Title: "PIT: where values fall in their distributions, " + partName(part), XName: "predicted probability of a smaller value", YName: "percent of rows", To: 1, Values: pit, Reference: []float64{100 / float64(max(len(pit), 1))}}.Figure()})
		levels := &grid{Caption: "Values inside central intervals, " + partName(part), Header: []string{"interval", "values inside", "difference"}}
		for _, l := range c.XiByLevel {
			levels.Rows = append(levels.Rows, []string{percent(l.Level), percent(float64(l.Share)), points(float64(l.Share) - l.Level)})
		}
		blocks = append(blocks, block{Table: levels})
		if b.discrete() {
			blocks = append(blocks, text("Intervals of a target with few values have to hold more values than their level, as in this table. Below, values on the edge of an interval count in part, so that a calibrated model has 90 %%."))
		}
	}
	if b.measured != nil {
		blocks = append(blocks, b.coverageGroups()...)
	}
	if blocks == nil {
		blocks = []block{text("The predictive distributions were not measured: the fit had no rows for it, or the model was recalibrated since.")}
	}
	b.add("calibration", "Calibration", blocks...)
	return nil
}

// points writes a difference of shares.
func points(v float64) string {
	rounded := math.Round(1000*v) / 10
	if rounded == 0 {
		return "0.0 points" // without the sign of a rounded number
	}
	return fmt.Sprintf("%+.1f points", rounded)
}

// minDotRows is the number of rows from which an id is drawn.
const minDotRows = 50

// coverageGroups draws coverage against width by group and lists the worst groups.
func (b *builder) coverageGroups() []block {
	s := b.measured
	c := figure.Lines{Title: fmt.Sprintf("Coverage against width, by id with %d rows or more", minDotRows), XName: "mean width of the 90 % interval (logarithm to base 10)", YName: "percent of values inside the 90 % interval", Reference: []float64{90}}
	for mode, info := range b.m.Modes() {
		ids := b.m.Dicts()[mode]
		groups := s.by(ids.Len(), func(i int) int { return int(s.codes[mode][i]) }, func(k int) string { return ids.ID(int32(k)) })
		groups = slices.DeleteFunc(groups, func(g group) bool { return g.N < minDotRows || !(g.meanWidth() > 0) })
		slices.SortStableFunc(groups, func(a, c group) int { return cmp.Compare(c.N, a.N) })
		series := figure.Series{Name: info.Name, Colour: "abcd"[mode%4], Dots: true}
		for _, g := range groups[:min(len(groups), 250)] {
			series.X, series.Y = append(series.X, math.Log10(g.meanWidth())), append(series.Y, 100*g.coverage())
		}
		if len(series.X) > 0 {
			c.Series = append(c.Series, series)
		}
	}
	var blocks []block
	if len(c.Series) > 0 {
		blocks = append(blocks, block{Figure: c.Figure()})
	}
	blocks = append(blocks, block{Table: groupGrid("By size of the prediction", s.byDecile(b.record.DecileEdges))})
	if worst := b.worstGroups(15); len(worst) > 0 {
		blocks = append(blocks, block{Table: groupGrid("Groups with the worst coverage", worst)})
	} else {
		blocks = append(blocks, text("No group of %d rows or more has a coverage that differs from 90 %% by more than 5 points and beyond chance.", metrics.MinEntityRows))
	}
	return blocks
}

// residuals shows what is left to explain, by time and by the ids of each mode.
func (b *builder) residuals() error {
	if b.measured == nil {
		return nil
	}
	s := b.measured
	blocks := []block{text("A standardised residual is (value - prediction) / sd on the modelling scale. Its mean over many rows is close to 0 if predictions have no bias; a group far from 0 has something that the model misses. Measured on the %s.", partName(s.part))}
	if b.m.Saw(s.part) {
		blocks[0].Text += " " + seenRows
	}
	for mode, info := range b.m.Modes() {
		ids := b.m.IDs(mode)
		groups := s.by(len(ids), func(i int) int { return int(s.codes[mode][i]) }, func(k int) string { return ids[k] })
		if b.m.IsTime(mode) {
			blocks = append(blocks, b.residualsByTime(mode, ids)...)
			continue
		}
		groups = slices.DeleteFunc(groups, func(g group) bool { return g.N < 30 })
		// Standard errors from 0: a few rows far away say less than many rows off by a little.
		off := func(g group) float64 { return math.Abs(g.meanScore()) * math.Sqrt(float64(g.N)) }
		slices.SortStableFunc(groups, func(a, c group) int { return cmp.Compare(off(c), off(a)) })
		if len(groups) == 0 {
			continue
		}
		bars := figure.Bars{Title: fmt.Sprintf("%s ids with the largest bias", info.Name), Unit: "mean standardised residual; above 0 the model predicts too little"}
		for _, g := range groups[:min(len(groups), 10)] {
			bar := figure.Bar{Label: g.Name, Value: g.meanScore(), Text: fmt.Sprintf("%+.2f (%s rows)", g.meanScore(), count(g.N))}
			if bar.Value < 0 {
				bar.Colour = 'b'
			}
			bars.Bars = append(bars.Bars, bar)
		}
		blocks = append(blocks, block{Figure: bars.Figure()})
	}
	b.add("residuals", "Residuals", blocks...)
	return nil
}

// residualsByTime draws the mean residual and the totals of each period.
func (b *builder) residualsByTime(mode int, ids []string) []block {
	s, info := b.measured, b.m.Modes()[mode]
	order := info.Order(ids)
	place := make([]int, len(ids))
	labels := make([]string, len(ids))
	for k, code := range order {
		place[code], labels[k] = k, ids[code]
	}
	groups := s.by(len(ids), func(i int) int {
		if c := s.codes[mode][i]; c >= 0 && int(c) < len(place) {
			return place[c]
		}
		return -1
	}, func(k int) string { return labels[k] })
	residual := figure.Series{Name: "mean standardised residual", Colour: 'a'}
	actual, predicted := figure.Series{Name: "actual total", Colour: 's'}, figure.Series{Name: "predicted total", Colour: 'a'}
	for _, g := range groups {
		k := float64(slices.Index(labels, g.Name))
		residual.X, residual.Y = append(residual.X, k), append(residual.Y, g.meanScore())
		actual.X, actual.Y = append(actual.X, k), append(actual.Y, g.y)
		predicted.X, predicted.Y = append(predicted.X, k), append(predicted.Y, g.mean)
	}
	return []block{
		{Figure: figure.Lines{Title: "Residuals by " + info.Name, XName: info.Name, YName: "mean standardised residual", Labels: labels, Series: []figure.Series{residual}, Reference: []float64{0}}.Figure()},
		{Figure: figure.Lines{Title: "Totals of " + b.m.Spec().Data.Target + " by " + info.Name, XName: info.Name, YName: "sum over the rows of the " + partName(s.part), Labels: labels, Series: []figure.Series{actual, predicted}, FromZero: true}.Figure()},
	}
}
