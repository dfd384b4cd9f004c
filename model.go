package kft

import (
	"context"
	"encoding/json"
	"io"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/evaluate"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/multitarget"
	"github.com/kernel-fried-tensor/kft/predictive"
	"github.com/kernel-fried-tensor/kft/train"
	"github.com/kernel-fried-tensor/kft/update"
)

// A Model is a fitted specification: everything that predictions need, and a record
// of the fit. It does not change, so goroutines may share it. Methods that add
// something return another model.
type Model struct{ fitted *model.Model }

// Types of predictions and of descriptions of a model. Their fields and methods are
// documented in packages model, predictive (Distribution), dataset (Mode) and evaluate
// (CoverageMap, MapOptions).
type (
	Cell            = model.Cell              // an id for each mode: {"store": "2106", "item": "11776"}
	Prediction      = model.Prediction        // the predictive distribution of one cell
	Distribution    = predictive.Distribution // mean, quantiles, density and draws of one cell
	Summary         = model.Summary           // counts the rows of a table whose ids have no training rows
	TableOptions    = model.TableOptions      // how a table is read for prediction or evaluation
	Mode            = dataset.Mode            // a dimension of the table: a column, several columns, or a function of one
	TermInfo        = model.TermInfo          // a term of a model
	CoreInfo        = model.CoreInfo          // a core of a term
	UncertaintyInfo = model.UncertaintyInfo   // how a model quantifies uncertainty
	NoiseInfo       = model.NoiseInfo
	ConformalInfo   = model.ConformalInfo
	MeansInfo       = model.MeansInfo
	CoverageMap     = evaluate.CoverageMap // the coverage of intervals by the entities of two modes
	MapOptions      = evaluate.MapOptions
)

// MaxSamples is the largest number of samples of a table.
const MaxSamples = model.MaxSamples

// Load reads a model from a file that [Model.Save] wrote.
func Load(path string) (*Model, error) { return wrap(update.Load(path)) }

// ReadModel reads a model from the bytes that [Model.WriteTo] wrote, up to the end of
// r.
func ReadModel(r io.Reader) (*Model, error) { return wrap(update.Read(r, "model")) }

// Verify reads a model or a checkpoint completely. It returns what the file is, "model"
// or "checkpoint", and an error if the file is incomplete, was changed, or holds a number
// that no fit writes. A checksum does not tell who wrote a file.
func Verify(path string) (kind string, err error) { return train.Verify(path) }

func wrap(m *model.Model, err error) (*Model, error) {
	if err != nil {
		return nil, err
	}
	return &Model{m}, nil
}

// wrapWith is wrap beside another result.
func wrapWith[T any](m *model.Model, with T, err error) (*Model, T, error) {
	wrapped, err := wrap(m, err)
	return wrapped, with, err
}

// Save writes the model to one file, completely or not at all.
func (m *Model) Save(path string) error { return m.fitted.Save(path) }

// WriteTo writes the bytes of the model file to w.
func (m *Model) WriteTo(w io.Writer) (int64, error) { return m.fitted.WriteTo(w) }

// Predict returns the predictions of cells. A cell that lacks a mode or names an
// unknown one is a [CellError]. An id without training rows is predicted from its
// side information or, without any, by the prior; Prediction.FromSide and
// Prediction.Unseen say so. A call costs O(P R^2) per cell and term for a point
// estimate and O(P R^3) for a posterior. It is safe for concurrent use.
func (m *Model) Predict(ctx context.Context, cells []Cell) ([]Prediction, error) {
	return m.fitted.Predict(ctx, cells, false)
}

// CellFromColumns returns the cell with the ids of modes that it gives by their columns,
// as in year=2016,month=1 for time=year+month.
func (m *Model) CellFromColumns(cell Cell) (Cell, error) { return m.fitted.CellFromColumns(cell) }

// PredictStrict is Predict, except that an id that is predicted by the prior is an
// [UnseenError].
func (m *Model) PredictStrict(ctx context.Context, cells []Cell) ([]Prediction, error) {
	return m.fitted.Predict(ctx, cells, true)
}

// PredictTable writes the table of a source to w, with its rows and columns unchanged
// and columns added: prediction (the mean), median, sd with its parts sd_model and
// sd_noise, the quantiles and samples of opt, and unseen, which names the modes whose
// id is not in the training data, followed by :side for an id that is predicted from
// its side information. A model of several targets adds these columns for each, as in
// units_prediction.
func (m *Model) PredictTable(ctx context.Context, source Source, w io.Writer, opt TableOptions) (Summary, error) {
	return multitarget.PredictTable(ctx, m.fitted, source, w, opt)
}

// Targets returns the names of the targets, nil if there is only one. A model of several
// predicts and measures by [Model.ForTarget]; only PredictTable takes all of them at once.
func (m *Model) Targets() []string { return m.fitted.Targets() }

// ForTarget returns the model of one of several targets.
func (m *Model) ForTarget(name string) (*Model, error) { return wrap(m.fitted.ForTarget(name)) }

// Samples draws values of cells jointly: row c of the result has n draws of cell c,
// and the draws with the same number share their weights, so the sums of cells over
// draws are draws of the sum.
func (m *Model) Samples(ctx context.Context, cells []Cell, n int) ([][]float64, error) {
	return m.fitted.Samples(ctx, cells, n)
}

// CheckQuantiles returns a [QuantileError] for levels outside (0, 1) or out of order,
// and a [TooFewRowsError] for levels that the conformal correction has too few rows
// for.
func (m *Model) CheckQuantiles(levels []float64) error { return m.fitted.CheckQuantiles(levels) }

// WithSide returns a model that also contains the entities of side tables, written as in
// a specification: store=new_stores.csv. Ids without training rows are then predicted
// from their side rows. A name that is a key of tables denotes that source.
func (m *Model) WithSide(ctx context.Context, sides []string, tables map[string]Source) (*Model, error) {
	return wrap(m.fitted.WithSide(ctx, sides, tables))
}

// Evaluate measures the model on the rows of a table that have a target.
func (m *Model) Evaluate(ctx context.Context, source Source, opt TableOptions) (Score, Summary, error) {
	return evaluate.Table(ctx, m.fitted, source, opt)
}

// EvaluatePart measures the model on the rows that were in one part (train, valid or
// test) of the table it was fitted to. A source with another table is a
// [NotFittedError].
func (m *Model) EvaluatePart(ctx context.Context, source Source, part dataset.Part, opt TableOptions) (Score, Summary, error) {
	return evaluate.Part(ctx, m.fitted, source, part, opt)
}

// Map counts how often the values of a table lie inside the central intervals, by the
// entities of two modes.
func (m *Model) Map(ctx context.Context, source Source, opt MapOptions) (*CoverageMap, error) {
	return evaluate.Map(ctx, m.fitted, source, opt)
}

// Recalibrate returns the model with a conformal correction and a correction of its
// means computed from the rows of a table that have a target. The kind is split, group:mean or group:MODE. The rows
// must not have been used for anything else. Too few rows are a [TooFewRowsError].
func (m *Model) Recalibrate(ctx context.Context, source Source, kind string, opt TableOptions) (*Model, Summary, error) {
	return wrapWith(evaluate.Recalibrate(ctx, m.fitted, source, kind, opt))
}

// RecalibratePart is Recalibrate with the rows that were in the validation or the test set
// of the table that the model was fitted to. A source with another table is a
// [NotFittedError].
func (m *Model) RecalibratePart(ctx context.Context, source Source, part dataset.Part, kind string, opt TableOptions) (*Model, Summary, error) {
	return wrapWith(evaluate.RecalibratePart(ctx, m.fitted, source, part, kind, opt))
}

// Spec returns a copy of the full specification that the model was fitted with.
func (m *Model) Spec() Spec { return m.fitted.Spec() }

// Record returns a copy of the record of the fit.
func (m *Model) Record() Record { return m.fitted.Record() }

// WithClient returns the model with a JSON value in its record, for the program that asked
// for the fit.
func (m *Model) WithClient(value json.RawMessage) (*Model, error) {
	r, err := m.fitted.Record().WithClient(value)
	return wrap(m.fitted.WithRecord(r), err)
}

// HeldOut returns how many rows of the validation set the fit kept for the conformal
// correction alone.
func (m *Model) HeldOut() int { return evaluate.HeldOut(m.fitted) }

// Modes returns a copy of the modes, in order.
func (m *Model) Modes() []Mode { return m.fitted.Modes() }

// IDs returns a copy of the ids of a mode that occur in the fitted table. The model
// may have weights for others, from their side rows. The mode is an index of
// [Model.Modes]; another number panics.
func (m *Model) IDs(mode int) []string { return m.fitted.IDs(mode) }

// Weights returns the number of weights.
func (m *Model) Weights() int { return m.fitted.Weights() }

// Terms describes each term: its cores with their shapes.
func (m *Model) Terms() []TermInfo { return m.fitted.Terms() }

// Uncertainty describes how the model quantifies uncertainty.
func (m *Model) Uncertainty() UncertaintyInfo { return m.fitted.Uncertainty() }
