package update

import (
	"context"
	"io"

	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/model"
)

// Table returns the model with the rows of a table that have a target taken in, or removed:
// all of them, or none. See [Updater] for single rows.
func Table(ctx context.Context, m *model.Model, source tableio.Source, table model.TableOptions, opt Options) (*model.Model, *Report, error) {
	u, err := New(m, table.Threads)
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

// Load reads a model file, with the rows that the model took in after its fit.
func Load(path string) (*model.Model, error) {
	m, err := model.Load(path)
	if err != nil {
		return nil, err
	}
	return Replay(m, path)
}

// Read reads a model from r, with the rows that the model took in after its fit. Messages
// use name for it.
func Read(r io.Reader, name string) (*model.Model, error) {
	m, err := model.Read(r, name)
	if err != nil {
		return nil, err
	}
	return Replay(m, name)
}
