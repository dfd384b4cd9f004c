package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/figure"
	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/spec"
)

// data describes the table: its rows, modes, split and side tables.
func (b *builder) data() error {
	r, s := b.record, b.m.Spec()
	var parts [4]int
	for row := range b.m.FittedRows() {
		parts[b.m.Part(row)]++
	}
	sheet := &grid{Caption: "The table of the fit", Header: []string{"fact", "value"}, Words: true}
	add := func(name, value string) { sheet.Rows = append(sheet.Rows, []string{name, value}) }
	add("target", s.Data.Target)
	add("rows", count(r.Rows.Rows))
	for _, n := range []struct {
		name  string
		count int
	}{{"rows without a target", r.Rows.Missing}, {"rows with an empty id", r.Rows.NoID}, {"rows of weight 0", r.Rows.ZeroWeight}, {"rows merged into another of the same cell", r.Rows.Merged}} {
		if n.count > 0 {
			add(n.name, count(n.count))
		}
	}
	for _, p := range []dataset.Part{dataset.Train, dataset.Valid, dataset.Test} {
		add(partName(p), count(parts[p])+" rows"+period(r.Periods[p.String()]))
	}
	add("split", r.Split)
	cells := 1.0
	for mode, info := range b.m.Modes() {
		n := len(b.m.IDs(mode))
		switch {
		case !info.Covariate():
			cells *= float64(n)
			add("mode "+info.Name, count(n)+" ids")
		case info.Joint():
			add("covariate "+info.Name, count(n)+" points of numbers")
		case info.Numeric():
			add("covariate "+info.Name, "a number, in "+count(n)+" bins")
		default:
			add("covariate "+info.Name, count(n)+" levels")
		}
	}
	if b.m.Spec().Data.Duplicates != "keep" { // else rows are no cells
		add("observed cells", fmt.Sprintf("%s of the cells that are possible", percent(float64(r.Rows.Rows)/cells)))
	}
	add("content (SHA-256)", r.DataHash)
	blocks := []block{{Table: sheet}}
	if b.page.Missing != "" {
		blocks = append(blocks, text("This report was made without the table: %s. Residuals, series, the importance of side information and scores by group are left out. Give the table of the fit to add them.", b.page.Missing))
	}
	if f := b.targets(); f != nil {
		blocks = append(blocks, block{Figure: f})
	}
	if len(r.Side) > 0 {
		side := &grid{Caption: "Side information", Header: []string{"mode", "ids with a row", "ids without", "other rows", "columns"}}
		for _, t := range r.Side {
			if t.Curve != nil {
				continue // a covariate
			}
			columns := 0
			for _, c := range t.Table.Columns {
				if !c.Constant {
					columns++
				}
			}
			side.Rows = append(side.Rows, []string{t.Mode, count(t.Table.Matched), count(t.Table.Unmatched), count(t.Table.ExtraRows), count(columns)})
		}
		if len(side.Rows) > 0 {
			blocks = append(blocks, block{Table: side})
		}
	}
	b.add("data", "Data", blocks...)
	return nil
}

func period(text string) string {
	if text == "" {
		return ""
	}
	return ", " + text
}

// targets draws the distribution of the target on the modelling scale, nil without a table.
func (b *builder) targets() *figure.Figure {
	if b.fitted == nil || b.fitted.Table.Len() == 0 {
		return nil
	}
	t, scale := b.fitted.Table, b.m.Scale()
	low, high := math.Inf(1), math.Inf(-1)
	step := max(t.Len()/maxMeasured, 1)
	for i := 0; i < t.Len(); i += step {
		if v := scale.OnScale(t.Target(i)); !math.IsNaN(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	if !(high > low) {
		return nil
	}
	const bins = 40
	shares, n := make([]float64, bins), 0.0
	for i := 0; i < t.Len(); i += step {
		if v := scale.OnScale(t.Target(i)); !math.IsNaN(v) {
			shares[min(int((v-low)/(high-low)*bins), bins-1)]++
			n++
		}
	}
	for k := range shares {
		shares[k] *= 100 / n
	}
	name := b.m.Spec().Data.Target
	if transform := b.m.Spec().Transform; transform != "identity" {
		name += " on the scale " + transform
	} else if b.m.Spec().Uncertainty.Counts() {
		name += " on the scale log1p"
	}
	return figure.Histogram{Title: "Values of the table", XName: name, YName: "percent of rows", From: low, To: high, Values: shares}.Figure()
}

// scores compares the parts, the formulas, and rows of which more or less is known.
func (b *builder) scores() error {
	r := b.record
	parts := &grid{Caption: "Scores by part", Header: []string{"part", "rows", "R2", "RMSE", "MAE", "predicted / actual total", "CRPS", "pinball"}}
	transform := b.m.Spec().Transform
	if transform != "identity" {
		parts.Header = append(parts.Header, "R2 "+transform)
	}
	for _, p := range []struct {
		part  dataset.Part
		score metrics.Score
	}{{dataset.Train, r.Train}, {dataset.Valid, r.Valid}, {dataset.Test, r.Test}} {
		s := p.score
		if s.N == 0 {
			continue
		}
		crps, pinball := "–", "–"
		if s.Calibration != nil {
			crps, pinball = number(float64(s.Calibration.CRPS)), number(float64(s.Calibration.Pinball))
		}
		row := []string{partName(p.part), count(s.N), fmt.Sprintf("%.4f", s.R2), number(s.RMSE), number(s.MAE), number(s.Bias), crps, pinball}
		if transform != "identity" {
			row = append(row, fmt.Sprintf("%.4f", s.R2Scale))
		}
		parts.Rows = append(parts.Rows, row)
	}
	blocks := []block{{Table: parts}}
	groups := measuredBefore
	if b.m.Saw(dataset.Test) {
		groups = seenRows
	}
	switch {
	case r.Refit == nil:
	case !r.Refit.KeepsTest && r.Refit.Measured > 0:
		blocks = append(blocks, text("The model was trained again on the training and validation set (%s rows) before the test set was measured, and then on all %s rows. %s", count(r.Refit.Measured), count(r.Refit.Rows), groups))
	case r.Refit.KeepsTest:
		blocks = append(blocks, text("After the scores of the training and validation set were measured, the model was trained again on both (%s rows). The scores of the test set are those of the final model, which has not seen its rows.", count(r.Refit.Rows)))
	default:
		blocks = append(blocks, text("The model was trained again on all %s rows after these scores were measured. %s", count(r.Refit.Rows), groups))
	}
	if u := b.m.Uncertainty(); u.Pulled != nil {
		blocks = append(blocks, text("Forecasts are pulled towards formulas, with the shares of the forecast on the scale of the model, and rise there by what forecasts from earlier origins lacked: %s.", strings.Join(u.Pulled, "; ")))
	}
	if u := b.m.Uncertainty(); u.Moved != nil {
		blocks = append(blocks, text("Forecasts move by recent values of their series, on the scale of the model by their differences from the forecast times: %s.", strings.Join(u.Moved, "; ")))
	}
	if u := b.m.Uncertainty(); u.Mixed != nil {
		blocks = append(blocks, text("Means of forecasts are mixed: %s; those of the largest forecasts: %s.", strings.Join(u.Mixed, " + "), strings.Join(u.MixedLargest, " + ")))
	}
	part, ours := r.AgainstFormulas()
	formulas := figure.Bars{Title: "MAE of the model and of the best formulas", Unit: "on the " + partName(part) + ", smaller is better"}
	formulas.Bars = append(formulas.Bars, figure.Bar{Label: "this model", Value: ours.MAE, Colour: 'c'})
	for i, f := range r.Baseline {
		if s := f.Of(part); i < 6 && s.N > 0 {
			formulas.Bars = append(formulas.Bars, figure.Bar{Label: f.Name, Value: s.MAE, Colour: 's'})
		}
	}
	if len(formulas.Bars) > 1 && !math.IsNaN(ours.MAE) {
		blocks = append(blocks, block{Figure: formulas.Figure()})
	}
	if b.measured != nil {
		known := groupGrid("Scores by how much is known of a cell, "+partName(part), b.measured.byKnown())
		blocks = append(blocks, block{Table: known})
		if b.measured.of > len(b.measured.y) {
			blocks = append(blocks, text("Groups are measured on %s of the %s rows, evenly spaced.", count(len(b.measured.y)), count(b.measured.of)))
		}
	}
	b.add("scores", "Scores", blocks...)
	return nil
}

func groupGrid(caption string, groups []group) *grid {
	g := &grid{Caption: caption, Header: []string{"group", "rows", "R2", "MAE", "predicted / actual total", "inside 90 %", "width of 90 %"}}
	for _, x := range groups {
		g.Rows = append(g.Rows, []string{x.Name, count(x.N), number(x.r2()), number(x.mae()), number(x.bias()), percent(x.coverage()), number(x.meanWidth())})
	}
	return g
}

// training draws the learning curve and lists warnings and decisions.
func (b *builder) training() error {
	r := b.record
	var blocks []block
	if len(r.History) > 1 {
		train := figure.Series{Name: "training set", Colour: 's'}
		valid := figure.Series{Name: "validation set", Colour: 'a'}
		bound := figure.Series{Name: "evidence bound per row", Colour: 'c'}
		for _, p := range r.History {
			x := float64(p.Sweep + 1)
			train.X, train.Y = append(train.X, x), append(train.Y, p.Train)
			if r.Valid.N > 0 {
				valid.X, valid.Y = append(valid.X, x), append(valid.Y, p.Valid)
			}
			if p.Bound != 0 {
				bound.X, bound.Y = append(bound.X, x), append(bound.Y, p.Bound)
			}
		}
		c := figure.Lines{Title: "Learning curve", XName: "sweep", YName: "mean squared error on the standardised scale", Series: []figure.Series{train}, Marks: []float64{float64(r.Best + 1)}}
		if len(valid.X) > 0 {
			c.Series = append(c.Series, valid)
		}
		blocks = append(blocks, text("The fit ended by: %s. The weights are those of sweep %d, which the vertical line marks.", r.Stop, r.Best+1), block{Figure: c.Figure()})
		if len(bound.X) > 1 {
			blocks = append(blocks, block{Figure: figure.Lines{Title: "Evidence bound", XName: "sweep", YName: "per training row", Series: []figure.Series{bound}}.Figure()})
		}
	}
	terms := &grid{Caption: "Terms and their share in the variance that the model explains", Header: []string{"term", "ranks", "share"}}
	for _, t := range r.Terms {
		share := percent(t.Share)
		if t.Removed {
			share = "removed"
		}
		terms.Rows = append(terms.Rows, []string{spec.ReadableTerms(t.Term), ranks(t.Ranks), share})
	}
	if len(terms.Rows) > 0 {
		blocks = append(blocks, block{Table: terms})
	}
	if len(r.Warnings) > 0 {
		warnings := r.Warnings
		if len(warnings) > 30 {
			warnings = warnings[:30]
		}
		blocks = append(blocks, block{Warnings: warnings})
	}
	b.add("training", "Training", blocks...)
	return nil
}

// specification says how to fit the model again.
func (b *builder) specification() error {
	b.add("specification", "Specification", text("Save this text as kft.yaml beside the table and run the command to fit the same model again. With the same table, version and CPU instructions it has the same bytes."),
		block{Pre: "kft fit -o model.kft"}, block{Pre: string(b.m.Spec().BriefYAML())})
	return nil
}
