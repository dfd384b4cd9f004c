package kft

import (
	"context"

	"github.com/kernel-fried-tensor/kft/update"
)

// Types of updates, documented in package update.
type (
	UpdateOptions     = update.Options          // how rows are taken in
	UpdateReport      = update.Report           // what rows changed in a model
	UpdateRow         = update.Row              // a cell and its value
	UpdateRowError    = update.RowError         // a row that a model cannot be updated with
	NotUpdatableError = update.NotPossibleError // why a model cannot be updated
	ColdReport        = update.ColdReport       // measures a model on new ids of a mode
	ColdLevel         = update.ColdLevel        // a ColdReport after a number of rows per id
)

// Update returns the model with all rows of a table taken in, or removed, or none: only the
// posteriors of the entities in them change. See [Model.NewUpdater] for single rows.
func (m *Model) Update(ctx context.Context, source Source, table TableOptions, opt UpdateOptions) (*Model, *UpdateReport, error) {
	return wrapWith(update.Table(ctx, m.fitted, source, table, opt))
}

// CheckUpdate returns a [NotUpdatableError] if the model cannot be updated.
func (m *Model) CheckUpdate() error { return update.Possible(m.fitted) }

type updater = update.Updater

// An Updater takes rows into a model. It is not safe for concurrent use; the models that it
// returns are. Its methods Take, TakeTable and WithSide are those of [update.Updater].
type Updater struct{ *updater }

// NewUpdater returns an updater of the model. The model itself does not change.
func (m *Model) NewUpdater(threads int) (*Updater, error) {
	u, err := update.New(m.fitted, threads)
	if err != nil {
		return nil, err
	}
	return &Updater{u}, nil
}

// Model returns the model with all rows taken in.
func (u *Updater) Model() (*Model, error) { return wrap(u.updater.Model()) }

// CheckTarget returns an error for a value that the target cannot have, as -1 for a count.
func (m *Model) CheckTarget(y float64) error { return update.CheckTarget(m.fitted, y) }

// Taken returns the number of rows that the model took in, or out, since its fit.
func (m *Model) Taken() int { return m.fitted.Ledger().Taken() }

// EvaluateCold measures the model on rows whose id of a mode is new, before and after some
// rows of these ids are taken in; on one part of the fitted table, or on all rows with nil.
func (m *Model) EvaluateCold(ctx context.Context, source Source, mode string, part *Part, opt TableOptions) (*ColdReport, error) {
	return update.Cold(ctx, m.fitted, source, mode, part, opt)
}
