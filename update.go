package kft

import (
	"context"

	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/update"
)

type (
	// UpdateOptions specify how rows are taken in.
	UpdateOptions = update.Options
	// An UpdateReport says what rows changed in a model.
	UpdateReport = update.Report
	// An UpdateRowError reports a row that a model cannot take in.
	UpdateRowError = update.RowError
	// A NotUpdatableError says why a model cannot take in rows.
	NotUpdatableError = update.NotPossibleError
	// UpdateRow is a cell and its value.
	UpdateRow = update.Row
)

// Update returns the model with the rows of a table taken in, or removed, without training
// it again: the posteriors of the entities that occur in them change, all else stays. It
// takes all rows or none. See [Model.NewUpdater] for single rows.
func (m *Model) Update(ctx context.Context, source Source, table TableOptions, opt UpdateOptions) (*Model, *UpdateReport, error) {
	u, err := m.NewUpdater(table.Threads)
	if err != nil {
		return nil, nil, err
	}
	report, err := u.TakeTable(ctx, source, table, opt)
	if err != nil {
		return nil, nil, err
	}
	updated, err := u.Model()
	return updated, report, err
}

// An Updater takes rows into a model, one or many at a time: thousands of single rows per
// second. It is not safe for concurrent use; the models that it returns are.
type Updater struct{ updater *update.Updater }

// NewUpdater returns an updater of the model. The model itself does not change.
func (m *Model) NewUpdater(threads int) (*Updater, error) {
	u, err := update.New(m.fitted, threads)
	if err != nil {
		return nil, err
	}
	return &Updater{u}, nil
}

// Take takes in rows, or removes them: all of them, or none if one is refused.
func (u *Updater) Take(ctx context.Context, rows []UpdateRow, opt UpdateOptions) (*UpdateReport, error) {
	return u.updater.Take(ctx, rows, opt)
}

// TakeTable is Take for the rows of a table that have a target.
func (u *Updater) TakeTable(ctx context.Context, source Source, table TableOptions, opt UpdateOptions) (*UpdateReport, error) {
	return u.updater.TakeTable(ctx, source, table, opt)
}

// WithSide gives new ids side information from tables, as [Model.WithSide] does. Call it
// before rows of these ids are taken in.
func (u *Updater) WithSide(ctx context.Context, sides []string, tables map[string]Source) error {
	return u.updater.WithSide(ctx, func(m *model.Model) (*model.Model, error) { return m.WithSide(ctx, sides, tables) })
}

// Model returns the model with all rows taken in.
func (u *Updater) Model() (*Model, error) { return wrap(u.updater.Model()) }

// CheckTarget returns an error for a value that the target of the model cannot have, such as
// a count of -1 or 2 for yes or no.
func (m *Model) CheckTarget(y float64) error { return update.CheckTarget(m.fitted, y) }

// Taken returns the number of rows that the model took in, or out, since its fit.
func (m *Model) Taken() int {
	if l := m.fitted.Ledger(); l != nil {
		return l.Rows.Len()
	}
	return 0
}

type (
	// A ColdReport measures a model on new ids of a mode.
	ColdReport = update.ColdReport
	// A ColdLevel is a ColdReport after a number of rows per id.
	ColdLevel = update.ColdLevel
)

// EvaluateCold measures the model on the rows of a table whose id of a mode has no training
// rows, before and after some rows of these ids are taken in. part restricts the rows to a
// part of the fitted table, nil for all rows.
func (m *Model) EvaluateCold(ctx context.Context, source Source, mode string, part *Part, opt TableOptions) (*ColdReport, error) {
	return update.Cold(ctx, m.fitted, source, mode, part, opt)
}
