package forecast

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/flat"
	"github.com/kernel-fried-tensor/kft/internal/plural"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/panel"
)

// Write writes the forecasts of a model to w as a table in long form: the columns of the
// fitted table that identify a cell, then mean, median, lo-90 and hi-90 (or other levels),
// the quantiles and the draws. With Options.By the rows are groups and periods. It costs
// one prediction per cell, and one more per cell and draw.
func Write(ctx context.Context, m *model.Model, w io.Writer, o Options) (Summary, error) {
	if err := o.check(m); err != nil {
		return Summary{}, err
	}
	o.setDecimal(m)
	m, err := o.withSide(ctx, m)
	if err != nil {
		return Summary{}, err
	}
	f := &forecaster{m: m, o: &o, time: m.Series().Time}
	if err := f.open(ctx); err != nil {
		return Summary{}, err
	}
	if o.By != "" {
		err = f.writeTotals(ctx, w)
	} else {
		err = f.writeCells(ctx, w)
	}
	f.sum.Warnings = append(f.sum.Warnings, f.warnings()...)
	return f.sum, err
}

// A forecaster writes one forecast.
type forecaster struct {
	m      *model.Model
	o      *Options
	time   int // mode of time
	source tableio.Source
	names  []string  // columns of the source
	by     []*levels // of Options.By
	sum    Summary

	planned map[string]int      // rows of the table of future cells, by cell
	ahead   map[string]*planned // what that table has of each series, with a horizon

	mutex    sync.Mutex
	nearest  int32 // smallest horizon
	farthest int32 // largest horizon
	prior    int   // cells whose period is predicted by the prior
	unknown  int   // cells with another id that is predicted by the prior
	example  string
}

// open finds the cells to forecast.
func (f *forecaster) open(ctx context.Context) error {
	var err error
	if f.by, err = f.parseBy(); err != nil {
		return err
	}
	if !f.o.Future.IsZero() {
		return f.openFuture(ctx)
	}
	cells, err := futureCells(f.m, f.o)
	if err != nil {
		return err
	}
	f.source, f.names = cells.source, cells.names
	f.sum.Series, f.sum.Own = cells.series, f.m.Series().Own
	return nil
}

// schema describes the columns of the cells.
func (f *forecaster) schema() dataset.Schema {
	s := f.m.Spec()
	return dataset.Schema{Modes: f.m.Covariates().Columns(), Weight: s.Data.Weight, Exposure: s.Data.Exposure, Optional: true}
}

// dicts returns the dictionaries of the modes that are columns of a table.
func (f *forecaster) dicts() []*dataset.Dict { return f.m.Dicts()[:len(f.m.Covariates().Columns())] }

// openFuture checks the rows of a table of future cells before anything is written: every
// row must be in a period after the training rows and have all its ids. A table that can be
// read once is kept in memory.
func (f *forecaster) openFuture(ctx context.Context) error {
	f.source = f.o.Future
	if !f.source.Repeatable() {
		frame, err := tableio.ReadFrame(ctx, f.source, f.o.Format)
		if err != nil {
			return err
		}
		made := &columnMaker{names: frame.Names, columns: map[string][]string{}}
		for c, name := range frame.Names {
			made.columns[name] = frame.Columns[c]
		}
		if f.source, err = made.source(); err != nil {
			return err
		}
	}
	var err error
	if f.names, err = tableio.ColumnNames(f.source, f.o.Format); err != nil {
		return err
	}
	if err := tableio.VisitBatches(ctx, f.source, f.schema(), f.dicts(), f.o.Format, f.o.Threads, f.checkBatch); err != nil {
		return err
	}
	return f.checkHorizons()
}

func (f *forecaster) checkBatch(b *tableio.Batch) error {
	series, modes := f.m.Series(), f.m.Modes()
	for i := range b.Len() {
		cell, entity := "", ""
		for m, mode := range f.m.Covariates().Columns() {
			id := b.ID(m, i)
			if !mode.Covariate() {
				cell += id + "\x00"
				if m != f.time {
					entity += id + "\x00"
				}
			}
			known := mode.Covariate() && f.m.TrainingRows(m, f.m.Code(m, dataset.MissingID)) > 0 // missing values have a bin
			if id == "" && !known || mode.Covariate() && dataset.Missing(id) && !known {
				return &dataset.InputError{File: f.o.Future.String(), Line: b.First + i + 1, Unit: "data row", Column: strings.Join(mode.Columns, "+"), Problem: "the value is missing, and the forecast of the row depends on it", Remedy: "fill it in or remove the row"}
			}
		}
		id := b.ID(f.time, i)
		h := series.Horizon(id, b.Codes, i)
		if h == 0 {
			last, _ := series.Line.ID(series.OriginOf(b.Codes, i))
			problem, remedy := series.Line.WhyNone(id), "correct it or remove the row"
			if problem == "" {
				problem, remedy = fmt.Sprintf("this is not a period after the last training period %s%s", last, ofSeries(series)), "forecast later periods, or predict the table"
			}
			return &dataset.InputError{File: f.o.Future.String(), Line: b.First + i + 1, Unit: "data row", Column: modes[f.time].Columns[0], Value: id,
				Problem: problem, Remedy: remedy}
		} else if f.o.Horizon > 0 && int(h) > f.o.Horizon {
			return &dataset.InputError{File: f.o.Future.String(), Line: b.First + i + 1, Unit: "data row", Column: modes[f.time].Columns[0], Value: id,
				Problem: fmt.Sprintf("this is %d periods ahead, beyond the horizon of %d", h, f.o.Horizon), Remedy: "extend the horizon or remove the row"}
		}
		if err := f.once(cell, entity, series.OriginOf(b.Codes, i), h, b.First+i+1); err != nil {
			return err
		}
	}
	return nil
}

// planned is what a table of future cells has of a series.
type planned struct {
	row     int   // the first one
	origin  int64 // of the series
	periods []int32
}

// ofSeries says of which rows the last training period is.
func ofSeries(p *panel.Panel) string {
	if p.Own {
		return " of the series"
	}
	return ""
}

// once returns an error for a row whose cell another row has, unless the model keeps such rows, and notes it.
func (f *forecaster) once(cell, entity string, origin int64, horizon int32, row int) error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if other, twice := f.planned[cell]; twice {
		if f.m.Spec().Data.Duplicates == "keep" {
			return nil
		}
		return &dataset.InputError{File: f.o.Future.String(), Line: max(row, other), Unit: "data row", Value: listed(cell),
			Problem: fmt.Sprintf("data row %d has the same cell", min(row, other)), Remedy: "keep one of the rows"}
	}
	if f.planned == nil {
		f.planned, f.ahead = map[string]int{}, map[string]*planned{}
	}
	f.planned[cell] = row
	if f.o.Horizon > 0 {
		p := f.ahead[entity]
		if p == nil {
			p = &planned{row: row, origin: origin}
			f.ahead[entity] = p
		}
		p.row, p.periods = min(p.row, row), append(p.periods, horizon)
	}
	return nil
}

// listed writes the ids of a cell as a list.
func listed(cell string) string {
	return strings.ReplaceAll(strings.TrimSuffix(cell, "\x00"), "\x00", ", ")
}

// checkHorizons returns an error unless every series of a table of future cells has all
// periods of the horizon, if there is one.
func (f *forecaster) checkHorizons() error {
	first, others := "", -1
	for entity, p := range f.ahead {
		if len(p.periods) < f.o.Horizon {
			if others++; first == "" || p.row < f.ahead[first].row {
				first = entity
			}
		}
	}
	if first == "" {
		return nil
	}
	p := f.ahead[first]
	missing := int32(1)
	for slices.Contains(p.periods, missing) {
		missing++
	}
	series := f.m.Series()
	id, err := series.Line.ID(p.origin + int64(missing))
	if err != nil {
		return err
	}
	problem := fmt.Sprintf("this series has no row for %s, one of the %s of the horizon", id, plural.Count(f.o.Horizon, "period"))
	if others == 1 {
		problem += "; another series also lacks rows"
	} else if others > 1 {
		problem += fmt.Sprintf("; %d other series also lack rows", others)
	}
	return &dataset.InputError{File: f.o.Future.String(), Line: p.row, Unit: "data row", Value: listed(first), Problem: problem,
		Remedy: "add the rows, or leave out the horizon to forecast the rows of the table alone"}
}

// writeCells writes one row per cell.
func (f *forecaster) writeCells(ctx context.Context, w io.Writer) error {
	drawn, err := f.m.NewDraws(f.o.Draws, f.o.Threads)
	if err != nil {
		return err
	}
	predict := f.m.BatchPredictor(false)
	names := f.o.columns(f.names)
	added := make([]tableio.AddedColumn, len(names))
	for i, name := range names {
		added[i] = tableio.AddedColumn{Name: name, Wide: f.m.Wide()}
	}
	levels := append([]float64{0.5}, f.o.quantileLevels()...)
	draws := len(names) - f.o.Draws
	err = tableio.AppendColumns(ctx, f.source, f.schema(), f.dicts(), f.o.Format, f.o.Threads, w, f.o.Output, added, func(b *tableio.Batch, values *tableio.AddedValues) error {
		m, z, err := predict(b)
		if err != nil {
			return err
		}
		f.see(m, b)
		rows := m.RowsOf(b)
		quantiles := make([]float64, len(levels))
		for i := range z.Mean {
			if err := m.CheckMoments(z, rows, b.First, i); err != nil {
				return err
			}
			p := m.Distribution(z, rows, i)
			mean := p.CorrectedMean(p.UncorrectedMean())
			if err := model.CheckMean(mean, b.First, i); err != nil {
				return err
			}
			p.Quantiles(quantiles, levels)
			model.SetNumber(values, 0, i, mean)
			for k, v := range quantiles {
				model.SetNumber(values, 1+k, i, v)
			}
		}
		wide := make([][]float64, f.o.Draws)
		for k := range wide {
			wide[k] = make([]float64, b.Len())
		}
		if err := drawn.Fill(wide, m, z, b); err != nil {
			return err
		}
		for k := range wide {
			for i, v := range wide[k] {
				model.SetNumber(values, draws+k, i, v)
			}
		}
		return model.CheckColumns(values, len(names), b.Len(), b.First)
	})
	if share := f.o.Output.Share; share != nil {
		err = f.total(share, err)
	}
	f.sum.Rows = f.sum.Cells
	return err
}

// total adds what the processes of a share have seen, given the error of this one.
func (f *forecaster) total(share tableio.Share, failed error) error {
	own := seen{f.sum.Cells, f.prior, f.nearest, f.farthest, f.sum.First, f.sum.Last, f.unknown, f.example}
	parts, err := share.Total(flat.Encode(&own), failed)
	if err != nil || !share.Writes() {
		return err
	}
	f.sum.Cells, f.prior, f.nearest, f.farthest, f.unknown, f.example = 0, 0, 0, 0, 0, ""
	for _, part := range parts {
		var s seen
		if err := flat.Decode(part, &s); err != nil {
			return err
		}
		f.sum.Cells += s.Cells
		f.prior += s.Prior
		f.note(s.Unknown, s.Example)
		if s.Nearest > 0 && (f.nearest == 0 || s.Nearest < f.nearest) {
			f.nearest, f.sum.First = s.Nearest, s.First
		}
		if s.Farthest > f.farthest {
			f.farthest, f.sum.Last = s.Farthest, s.Last
		}
	}
	return nil
}

// inTotals says that totals, which contain all series in all periods, are larger than those of the table, because
// some series have no row in the last periods, or because most rows are absent.
func inTotals(m *model.Model, ended, periods int) string {
	series := m.Series()
	rows, possible := 0.0, 0.0
	for i, first := range series.First {
		rows += float64(series.Rows[i])
		possible += float64(series.End - int64(first) + 1)
	}
	switch {
	case rows < possible/2 && m.Spec().Data.Absent != "zero":
		return fmt.Sprintf("the totals contain all %d series in each period, but the table has only %.0f %% of these rows; if an absent row means 0, fit the model with data.absent set to zero; if series have ended, leave them out: set active",
			series.Len(), 100*rows/possible)
	case ended > 0:
		return fmt.Sprintf("%d of %d series have no row in the last %s of the table, and the totals contain their forecasts; if these series have ended, leave them out: set active to %d",
			ended, series.Len(), plural.Count(periods, "period"), periods)
	}
	return ""
}
