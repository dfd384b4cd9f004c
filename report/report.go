// Package report writes one self-contained HTML page about a fitted model: whether it is
// better than simple formulas and whether its intervals hold, the data, scores,
// calibration, residuals, effects of ids, side information, series, and the specification
// that reproduces it. The page needs no network and stays below 2 MB for any table.
package report

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/evaluate"
	"github.com/kernel-fried-tensor/kft/explain"
	"github.com/kernel-fried-tensor/kft/internal/buildinfo"
	"github.com/kernel-fried-tensor/kft/internal/digits"
	"github.com/kernel-fried-tensor/kft/internal/figure"
	"github.com/kernel-fried-tensor/kft/model"
)

// MaxBytes is the largest size of a report.
const MaxBytes = 2 << 20

// Options specify what a report contains.
type Options struct {
	// Source is the table of the fit. Nil means the files that the specification of the
	// model names, if they can be read; without them the report has only what the model
	// knows.
	Source *tableio.Source
	Table  model.TableOptions
	Name   string // of the model, for the title
	// Series are cells whose history is drawn, without the mode of time. By default those
	// with the most rows are.
	Series []model.Cell
	// Horizon is the number of periods after the end of the table for which these cells are
	// forecast; 0 means 6, a negative number none.
	Horizon int
}

// Write writes the report of a model. A table that the model was not fitted to is an
// *evaluate.NotFittedError.
func Write(ctx context.Context, w io.Writer, m *model.Model, opt Options) error {
	p, err := build(ctx, m, opt)
	if err != nil {
		return err
	}
	// Ids of any length and number may make a page too large: the list of ids is what can
	// be shortened.
	for {
		var page bytes.Buffer
		if err := p.write(&page); err != nil {
			return err
		}
		if page.Len() <= MaxBytes || len(p.Entities) == 0 {
			_, err = w.Write(page.Bytes())
			return err
		}
		p.shortenEntities()
	}
}

// A page has the contents of a report.
type page struct {
	Title, Name, Version string
	Verdict              verdict
	Missing              string // why there is no table, "" if there is one
	Sections             []section

	Entities []entityList // the data of the search box
	Dims     int
}

// A section is a part of the page.
type section struct {
	ID, Title string
	Blocks    []block
}

// A block is a paragraph, a figure, a table, a text of several lines, or the search box.
type block struct {
	Text     string
	Figure   *figure.Figure
	Table    *grid
	Pre      string
	Search   bool
	Warnings []string
}

// A grid is a table. The first column has the names of the rows.
type grid struct {
	Caption string
	Header  []string
	Rows    [][]string
	Words   bool // values are words, not numbers
}

// builder collects the sections of a page.
type builder struct {
	ctx      context.Context
	m        *model.Model
	opt      Options
	record   model.Record
	x        *explain.Explainer
	fitted   *evaluate.Fitted // nil without a table
	measured *measures        // of the rows that the model is judged by; nil without a table
	page     *page

	periods []string // after the end of the table
}

func newBuilder(ctx context.Context, m *model.Model, opt Options) *builder {
	if opt.Horizon == 0 {
		opt.Horizon = 6
	}
	return &builder{ctx: ctx, m: m, opt: opt, record: m.Record(), page: &page{Title: "Model of " + m.Spec().Data.Target, Name: opt.Name, Version: buildinfo.Version()}}
}

func build(ctx context.Context, m *model.Model, opt Options) (*page, error) {
	b := newBuilder(ctx, m, opt)
	var err error
	if b.x, err = explain.New(m); err != nil {
		return nil, err
	}
	if err := b.openTable(); err != nil {
		return nil, err
	}
	if err := b.measureJudged(); err != nil {
		return nil, err
	}
	for _, add := range []func() error{b.data, b.scores, b.calibration, b.residuals, b.effects, b.side, b.series, b.training, b.specification} {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := add(); err != nil {
			return nil, err
		}
	}
	b.page.Verdict = b.verdict()
	return b.page, nil
}

// openTable reads the table of the fit, or says on the page why it is missing.
func (b *builder) openTable() error {
	source := b.opt.Source
	if source == nil {
		files := b.m.Spec().Data.Files
		if missing := unreadable(files); missing != "" {
			b.page.Missing = missing
			return nil
		}
		own := tableio.Files(files...)
		source = &own
	}
	var err error
	b.fitted, err = evaluate.ReadFitted(b.ctx, b.m, *source, b.opt.Table)
	var other *evaluate.NotFittedError
	switch {
	case err == nil:
	case b.opt.Source == nil && errors.As(err, &other):
		b.page.Missing = fmt.Sprintf("%s has changed since the fit", source)
		b.fitted = nil
		return nil
	default:
		return err
	}
	return nil
}

// measureJudged measures the rows that the model is judged by.
func (b *builder) measureJudged() (err error) {
	if b.fitted == nil {
		return nil
	}
	part, _ := b.record.Judged()
	b.measured, err = measure(b.m, b.fitted, part)
	return err
}

// unreadable says why the files of a specification cannot be used, "" if they can.
func unreadable(files []string) string {
	if len(files) == 0 {
		return "the model does not name its table"
	}
	for _, file := range files {
		if file == "-" || strings.Contains(file, "://") {
			return fmt.Sprintf("the table %s of the fit cannot be read again", file)
		}
		if _, err := os.Stat(file); err != nil {
			return fmt.Sprintf("the table %s of the fit is not there", file)
		}
	}
	return ""
}

func (b *builder) add(id, title string, blocks ...block) {
	if len(blocks) > 0 {
		b.page.Sections = append(b.page.Sections, section{id, title, blocks})
	}
}

func text(format string, args ...any) block { return block{Text: fmt.Sprintf(format, args...)} }

// partName names a part in words.
func partName(p dataset.Part) string {
	return map[dataset.Part]string{dataset.Train: "training", dataset.Valid: "validation", dataset.Test: "test"}[p] + " set"
}

func number(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	return digits.Short(v, 4)
}

func percent(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", math.Round(1000*v)/10+0) // + 0 for -0
}

// ranks writes the ranks between the cores of a term; effects and series have none.
func ranks(r []int) string {
	if len(r) == 0 {
		return "–"
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(r), " ", ", "), "[]")
}

// count writes a number with separators of thousands.
func count(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
