package kft

import (
	"context"
	"io"

	"github.com/kernel-fried-tensor/kft/evaluate"
	"github.com/kernel-fried-tensor/kft/explain"
	"github.com/kernel-fried-tensor/kft/report"
)

// Types of explanations and reports, documented in packages explain, evaluate and report.
type (
	Explanation      = explain.Explanation // why the prediction of a cell is what it is
	ExplainOptions   = explain.Options
	Explainer        = explain.Explainer   // keeps what explanations of one model share
	SideChange       = explain.Change      // gives an id another value in a column of its side table
	ChangeError      = explain.ChangeError // a change of side information that is not possible
	ModelExplanation = explain.Summary     // explains a model as a whole
	FittedTable      = evaluate.Fitted     // the table that a model was fitted to
	ReportOptions    = report.Options      // what a report contains
)

// Explain gives the reasons for the predictions of cells: what each term adds, and what
// the own weights and the side information of each id add. On the modelling scale the
// parts sum to the prediction. Use [Model.Explainer] for many calls.
func (m *Model) Explain(ctx context.Context, cells []Cell, opt ExplainOptions) ([]Explanation, error) {
	return explain.Cells(ctx, m.fitted, cells, opt)
}

// ReadFitted reads the table that the model was fitted to, for [ExplainOptions]. Another
// table is a [NotFittedError].
func (m *Model) ReadFitted(ctx context.Context, source Source, opt TableOptions) (*FittedTable, error) {
	return evaluate.ReadFitted(ctx, m.fitted, source, opt)
}

// Explainer returns an explainer of the model, which is safe for concurrent use.
func (m *Model) Explainer() (*Explainer, error) { return explain.New(m.fitted) }

// ParseChange parses a change of side information such as item.price=12.5, or of a
// covariate such as promo=1.
func (m *Model) ParseChange(text string) (SideChange, error) {
	return explain.ParseChange(text, m.fitted.Modes())
}

// ExplainModel explains the model as a whole. With a source, which must be the table of
// the fit, it also measures the importance of modes and columns on the validation set.
// Another table is a [NotFittedError].
func (m *Model) ExplainModel(ctx context.Context, source *Source, opt TableOptions) (*ModelExplanation, error) {
	return explain.Model(ctx, m.fitted, source, opt)
}

// Report writes one self-contained HTML page about the model: verdict, data, scores,
// calibration, residuals, effects of ids, side information, series, and the
// specification. It has at most 2 MB. A table that is not that of the fit is a
// [NotFittedError].
func (m *Model) Report(ctx context.Context, w io.Writer, opt ReportOptions) error {
	return report.Write(ctx, w, m.fitted, opt)
}

// PlotSeries draws the history and the forecasts of series as an SVG picture.
func (m *Model) PlotSeries(ctx context.Context, w io.Writer, opt ReportOptions) error {
	return report.WriteSeries(ctx, w, m.fitted, opt)
}
