// Package errorcode gives the kinds of errors words, for programs that run kft.
package errorcode

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"github.com/kernel-fried-tensor/kft/conformal"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/evaluate"
	"github.com/kernel-fried-tensor/kft/history"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train/checkpoint"
	"github.com/kernel-fried-tensor/kft/update"
)

// Of returns the word of an error: unknown_column, input, specification, unseen_id, unknown_table, cell,
// domain, constant_target, diverged, format, side, quantiles, samples, too_few_rows,
// not_fitted, not_finite, not_updatable, refused_row, checkpoint, interrupted,
// missing_file, disk_full, or failed for all others. The words do not change.
func Of(err error) string {
	for _, known := range []struct {
		code string
		is   bool
	}{
		{"unknown_column", errors.Is(err, dataset.ErrNoColumn)},
		{"specification", has[spec.Problems](err)},
		{"unseen_id", errors.Is(err, model.ErrUnseenID)},
		{"unknown_table", has[*model.UnknownTableError](err)},
		{"cell", has[*model.CellError](err)},
		{"domain", errors.Is(err, targetscale.ErrDomain)},
		{"constant_target", errors.Is(err, targetscale.ErrConstantTarget)},
		{"diverged", errors.Is(err, solver.ErrDiverged)},
		{"format", errors.Is(err, modelfile.ErrFormat)},
		{"side", has[*model.SideError](err)},
		{"quantiles", has[*model.QuantileError](err)},
		{"samples", has[*model.SamplesError](err)},
		{"too_few_rows", errors.Is(err, conformal.ErrTooFewRows)},
		{"not_fitted", has[*evaluate.NotFittedError](err)},
		{"not_finite", has[*model.NotFiniteError](err)},
		{"not_updatable", has[*update.NotPossibleError](err)},
		{"refused_row", has[*update.RowError](err)},
		{"checkpoint", has[*checkpoint.Error](err) || has[*checkpoint.ExistsError](err)},
		{"missing_file", errors.Is(err, fs.ErrNotExist)},
		{"disk_full", errors.Is(err, syscall.ENOSPC)},
		{"input", has[*dataset.InputError](err) || has[*history.ValueError](err)},
		{"interrupted", errors.Is(err, context.Canceled)},
	} {
		if known.is {
			return known.code
		}
	}
	return "failed"
}

// has reports whether the chain of err has an error of type E.
func has[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
