package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/figure"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
	"github.com/kernel-fried-tensor/kft/model"
)

// defaultSeries is the number of series that are drawn if none are chosen, and maxCounted
// the number of rows that they are found by.
const (
	defaultSeries = 6
	maxCounted    = 5_000_000
)

// WriteSeries draws the series of a report as one SVG picture, each below the one before.
func WriteSeries(ctx context.Context, w io.Writer, m *model.Model, opt Options) error {
	b := newBuilder(ctx, m, opt)
	if err := b.openTable(); err != nil {
		return err
	}
	if b.page.Missing != "" {
		return fmt.Errorf("the history of the series is in the table of the fit, and %s", b.page.Missing)
	}
	figures, why, err := b.seriesFigures()
	if err != nil {
		return err
	}
	if len(figures) == 0 {
		return errors.New(why)
	}
	_, err = figure.Below(figures, b.page.Title).WriteTo(w)
	return err
}

// series adds the section of series.
func (b *builder) series() error {
	if b.fitted == nil {
		return nil
	}
	figures, why, err := b.seriesFigures()
	if err != nil {
		return err
	}
	if len(figures) == 0 {
		if len(b.opt.Series) > 0 {
			b.add("series", "Series", text("No series is drawn: %s.", why))
		}
		return nil
	}
	blocks := []block{text("Dots are values of the table; the line is the predicted median of each period, the band its 90 %% interval. Values of the training set were used to fit the model.")}
	switch {
	case b.record.Refit == nil:
	case b.record.Refit.KeepsTest:
		blocks[0].Text += " It was then trained again on them and on those of the validation set."
	default:
		blocks[0].Text += " It was then trained again on all of them."
	}
	for _, f := range figures {
		blocks = append(blocks, block{Figure: f})
	}
	b.add("series", "Series", blocks...)
	return nil
}

// seriesFigures draws the history of cells over time with their predictions, intervals and
// forecasts. If there are none to draw, it says why.
func (b *builder) seriesFigures() (figures []*figure.Figure, why string, err error) {
	time := -1
	for mode, info := range b.m.Modes() {
		if b.m.IsTime(mode) {
			time = mode
		}
		if info.Covariate() {
			return nil, "a model with covariates has no series to draw: their values belong to rows, not to periods", nil
		}
	}
	if time < 0 {
		return nil, "the model has no mode of time", nil
	}
	cells := b.opt.Series
	for i, cell := range cells {
		if err := b.checkSeries(i, cell, time); err != nil {
			return nil, "", err
		}
	}
	if len(cells) == 0 {
		cells = b.longest(time, defaultSeries)
	}
	if panel := b.m.Series(); panel != nil && panel.Time == time && b.opt.Horizon > 0 && !panel.Own {
		b.periods, _ = panel.Line.Next(b.opt.Horizon) // without a regular grid there is no future
	}
	for _, cell := range cells {
		f, err := b.seriesFigure(cell, time)
		if err != nil {
			return nil, "", err
		}
		figures = append(figures, f)
	}
	return figures, "", nil
}

// checkSeries returns an error unless a cell has an id for each mode but time, which the
// model or side information of its mode may know.
func (b *builder) checkSeries(i int, cell model.Cell, time int) error {
	names := b.m.Spec().ModeNames()
	for _, name := range slices.Sorted(maps.Keys(cell)) {
		if !slices.Contains(names, name) {
			return &model.CellError{Cell: i, Mode: name, Problem: fmt.Sprintf("the model has no mode %q%s; its modes are %s", name, suggest.Hint(name, names), strings.Join(names, ", "))}
		}
	}
	for mode, info := range b.m.Modes() {
		if mode == time {
			continue
		}
		id, has := cell[info.Name]
		if !has {
			return &model.CellError{Cell: i, Mode: info.Name, Problem: fmt.Sprintf("no id for mode %q", info.Name)}
		}
		dict := b.m.Dicts()[mode]
		if _, known := dict.Code([]byte(id)); !known && b.m.SideOf(mode) == nil {
			return &model.CellError{Cell: i, Mode: info.Name, Problem: fmt.Sprintf("the id %q of mode %q is not in the training data%s", id, info.Name, suggest.Hint(id, dict.IDs()))}
		}
	}
	return nil
}

// longest returns the combinations of ids, without time, with the most rows of the table;
// of equally many, those with the largest total.
func (b *builder) longest(time, n int) []model.Cell {
	t := b.fitted.Table
	type total struct {
		row  int
		rows int
		sum  float64
	}
	totals := map[string]*total{}
	key := make([]byte, 0, 32)
	step := max(t.Len()/maxCounted, 1) // a sample of a large table finds them as well
	for i := 0; i < t.Len(); i += step {
		key = key[:0]
		for mode := range t.Codes {
			if mode != time {
				c := uint32(t.Codes[mode][i])
				key = append(key, byte(c), byte(c>>8), byte(c>>16), byte(c>>24))
			}
		}
		x := totals[string(key)]
		if x == nil {
			x = &total{row: i}
			totals[string(key)] = x
		}
		x.rows++
		x.sum += math.Abs(t.Target(i))
	}
	all := slices.SortedFunc(maps.Values(totals), func(a, c *total) int {
		return cmp.Or(cmp.Compare(c.rows, a.rows), cmp.Compare(c.sum, a.sum), cmp.Compare(a.row, c.row))
	})
	var cells []model.Cell
	for _, x := range all[:min(n, len(all))] {
		cell := model.Cell{}
		for mode, info := range b.m.Modes() {
			if mode != time {
				cell[info.Name] = t.Dicts[mode].ID(t.Codes[mode][x.row])
			}
		}
		cells = append(cells, cell)
	}
	return cells
}

func (b *builder) seriesFigure(cell model.Cell, time int) (*figure.Figure, error) {
	ids := b.m.IDs(time)
	name := b.m.Modes()[time].Name
	var labels []string
	var cells []model.Cell
	place := make([]int, len(ids))
	for k, code := range b.m.Modes()[time].Order(ids) {
		place[code], labels = k, append(labels, ids[code])
		whole := maps.Clone(cell)
		whole[name] = ids[code]
		cells = append(cells, whole)
	}
	predictions, err := b.m.Predict(b.ctx, cells, false)
	if err != nil {
		return nil, err
	}
	line := figure.Series{Name: "predicted", Colour: 'a'}
	for k, p := range predictions {
		low, high := p.Interval(.9)
		line.X, line.Y, line.Low, line.High = append(line.X, float64(k)), append(line.Y, p.Median), append(line.Low, low), append(line.High, high)
	}
	chart := figure.Lines{Title: b.seriesName(cell, time), XName: name, YName: b.m.Spec().Data.Target, Labels: labels, Series: []figure.Series{line}}
	chart.Series = append(chart.Series, b.values(cell, time, place)...)
	if future := b.future(cell, time); len(future) > 0 {
		next := figure.Series{Name: "forecast", Colour: 'd'}
		for k, p := range future {
			low, high := p.Interval(.9)
			next.X, next.Y, next.Low, next.High = append(next.X, float64(len(labels)+k)), append(next.Y, p.Median), append(next.Low, low), append(next.High, high)
		}
		chart.Labels = append(chart.Labels, b.periods...)
		chart.Series = append(chart.Series, next)
		chart.Marks = []float64{float64(len(labels)) - 0.5}
	}
	return chart.Figure(), nil
}

// future predicts the periods after the end of the table; nil if they are not known, or a
// prediction of them is the prior's alone.
func (b *builder) future(cell model.Cell, time int) []model.Prediction {
	if b.periods == nil {
		return nil
	}
	name := b.m.Modes()[time].Name
	var cells []model.Cell
	for _, period := range b.periods {
		whole := maps.Clone(cell)
		whole[name] = period
		cells = append(cells, whole)
	}
	predictions, err := b.m.Predict(b.ctx, cells, false)
	if err != nil || slices.Contains(predictions[0].Unseen, name) && b.m.Field().SeriesTime() < 0 {
		return nil
	}
	return predictions
}

func (b *builder) seriesName(cell model.Cell, time int) string {
	var names []string
	for mode, info := range b.m.Modes() {
		if mode != time {
			names = append(names, info.Name+" "+short(cell[info.Name]))
		}
	}
	return strings.Join(names, ", ")
}

// values returns the rows of a cell, by part.
func (b *builder) values(cell model.Cell, time int, place []int) []figure.Series {
	train := figure.Series{Name: "training value", Colour: 's', Dots: true}
	other := figure.Series{Name: "other value", Colour: 'b', Dots: true}
	t := b.fitted.Table
	codes := make([]int32, len(t.Codes))
	for mode, info := range b.m.Modes() {
		codes[mode] = b.m.Code(mode, cell[info.Name])
	}
rows:
	for i := range t.Len() {
		for mode := range t.Codes {
			if mode != time && t.Codes[mode][i] != codes[mode] {
				continue rows
			}
		}
		s := &other
		if b.m.Part(t.SourceRow(i)) == dataset.Train {
			s = &train
		}
		if code := int(t.Codes[time][i]); code < len(place) { // a model from elsewhere may know fewer periods than its table
			s.X, s.Y = append(s.X, float64(place[code])), append(s.Y, t.Target(i))
		}
	}
	return []figure.Series{train, other}
}
