package kft

import (
	"github.com/kernel-fried-tensor/kft/conformal"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/errorcode"
	"github.com/kernel-fried-tensor/kft/evaluate"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train/checkpoint"
)

// Sentinels for [errors.Is].
var (
	ErrNoColumn       = dataset.ErrNoColumn           // a column that a table does not have
	ErrUnseenID       = model.ErrUnseenID             // an id that is not in the training data, in strict mode
	ErrDomain         = targetscale.ErrDomain         // a target that the transform or the likelihood does not allow
	ErrConstantTarget = targetscale.ErrConstantTarget // a target that has the same value in all training rows
	ErrDiverged       = solver.ErrDiverged            // training that did not produce finite weights
	ErrTooFewRows     = conformal.ErrTooFewRows       // a calibration set that is too small for an interval
	ErrFormat         = modelfile.ErrFormat           // a file that is not a complete, unmodified model
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
	Problems              = spec.Problems             // everything that is wrong with a specification
	Problem               = spec.Problem              // one part of it, with its field path and its place in the file
	FieldError            = fielderr.Error            // an error with the path of a specification field
	InputError            = dataset.InputError        // a value or a row of a table, with its place
	DomainError           = targetscale.DomainError   // a target outside of the domain of the scale or likelihood
	ConstantError         = targetscale.ConstantError // a constant target
	DivergedError         = solver.DivergedError      // training that did not produce finite weights
	CheckpointError       = checkpoint.Error          // a checkpoint that belongs to another fit
	CheckpointExistsError = checkpoint.ExistsError    // a checkpoint that a fit that does not resume it would overwrite
	FormatError           = modelfile.FormatError     // a file that is not a complete, unmodified model
	CellError             = model.CellError           // a cell that does not fit the model's modes
	UnknownTableError     = model.UnknownTableError   // a table of which the model knows no id at all
	UnseenError           = model.UnseenError         // an id that is not in the training data, in strict mode
	NotFiniteError        = model.NotFiniteError      // a row for which a model gives no finite number
	SideError             = model.SideError           // a side table that the model cannot use
	QuantileError         = model.QuantileError       // levels for which no quantiles can be computed
	SamplesError          = model.SamplesError        // a number of samples that cannot be drawn
	TooFewRowsError       = conformal.TooFewRowsError // a calibration set that is too small
	NotFittedError        = evaluate.NotFittedError   // a table that is not the one the model was fitted to
	ModeError             = evaluate.ModeError        // an unknown mode of a coverage map
)

// FieldPath returns the path of the specification field that can fix an error, as in
// "data.target", and "" if there is none.
func FieldPath(err error) string { return fielderr.Path(err) }

// ErrorCode returns a word for the kind of an error, for programs that cannot use
// [errors.As]. Package errorcode lists the words, which do not change.
func ErrorCode(err error) string { return errorcode.Of(err) }
