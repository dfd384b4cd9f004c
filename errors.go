package kft

import (
	"github.com/kernel-fried-tensor/kft/conformal"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/errorcode"
	"github.com/kernel-fried-tensor/kft/evaluate"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/predictive"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// Sentinels for [errors.Is].
var (
	// ErrNoColumn is a column that a table does not have.
	ErrNoColumn = dataset.ErrNoColumn
	// ErrUnseenID is an id that is not in the training data, in strict mode.
	ErrUnseenID = model.ErrUnseenID
	// ErrDomain is a target that the transform or the likelihood does not allow.
	ErrDomain = predictive.ErrDomain
	// ErrConstantTarget is a target that has the same value in all training rows.
	ErrConstantTarget = predictive.ErrConstantTarget
	// ErrDiverged is training that did not produce finite weights.
	ErrDiverged = solver.ErrDiverged
	// ErrTooFewRows is a calibration set that is too small for an interval.
	ErrTooFewRows = conformal.ErrTooFewRows
	// ErrFormat is a file that is not a complete, unmodified model.
	ErrFormat = modelfile.ErrFormat
)

// Error types for [errors.As]. Errors that a change of the specification can fix have
// a method FieldPath() string that returns the path of the field, as in "data.target";
// see [FieldPath]. The fields are documented in the packages that the declarations
// name.
//
// An unknown mode is one of the [Problems] in a specification and in the kind of
// [Model.Recalibrate], a [CellError] in a cell, a [SideError] in [Model.WithSide], and
// a [ModeError] in [Model.Map].
type (
	// Problems is everything that is wrong with a specification, and a Problem one part
	// of it, with its field path and its place in the file.
	Problems = spec.Problems
	Problem  = spec.Problem
	// FieldError is an error with the path of a specification field.
	FieldError = fielderr.Error
	// InputError reports a value or a row of a table, with its place.
	InputError = dataset.InputError
	// DomainError reports a target outside of the domain of the scale or likelihood.
	DomainError = predictive.DomainError
	// ConstantError reports a constant target.
	ConstantError = predictive.ConstantError
	// DivergedError reports training that did not produce finite weights.
	DivergedError = solver.DivergedError
	// CheckpointError reports a checkpoint that belongs to another fit.
	CheckpointError = train.CheckpointError
	// CheckpointExistsError reports a checkpoint that a fit that does not resume it would
	// overwrite.
	CheckpointExistsError = train.CheckpointExistsError
	// FormatError reports a file that is not a complete, unmodified model.
	FormatError = modelfile.FormatError
	// CellError reports a cell that does not fit the model's modes.
	CellError = model.CellError
	// UnknownTableError reports a table of which the model knows no id at all.
	UnknownTableError = model.UnknownTableError
	// UnseenError reports an id that is not in the training data, in strict mode.
	UnseenError = model.UnseenError
	// NotFiniteError reports a row for which a model gives no finite number.
	NotFiniteError = model.NotFiniteError
	// SideError reports a side table that the model cannot use.
	SideError = model.SideError
	// QuantileError reports levels for which no quantiles can be computed.
	QuantileError = model.QuantileError
	// SamplesError reports a number of samples that cannot be drawn.
	SamplesError = model.SamplesError
	// TooFewRowsError reports a calibration set that is too small.
	TooFewRowsError = conformal.TooFewRowsError
	// NotFittedError reports a table that is not the one the model was fitted to.
	NotFittedError = evaluate.NotFittedError
	// ModeError reports an unknown mode of a coverage map.
	ModeError = evaluate.ModeError
)

// FieldPath returns the path of the specification field that can fix an error, as in
// "data.target", and "" if there is none.
func FieldPath(err error) string { return fielderr.Path(err) }

// ErrorCode returns a word for the kind of an error, for programs that cannot use
// [errors.As]. Package errorcode lists the words, which do not change.
func ErrorCode(err error) string { return errorcode.Of(err) }
