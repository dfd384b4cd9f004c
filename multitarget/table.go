// Package multitarget predicts and measures tables by models of several targets, one
// target after the other.
package multitarget

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/model"
)

// Models returns the models of the targets of m, or m itself if it has only one.
func Models(m *model.Model) ([]*model.Model, error) {
	names := m.Targets()
	if len(names) == 0 {
		return []*model.Model{m}, nil
	}
	models := make([]*model.Model, len(names))
	for i, name := range names {
		var err error
		if models[i], err = m.ForTarget(name); err != nil {
			return nil, err
		}
	}
	return models, nil
}

// PredictTable is [model.Model.PredictTable] for any number of targets. The columns of each
// of several targets have its name before theirs: units_prediction, units_median. The
// table with the columns of one target is the input of the next, while it is written. The
// summary is that of the last.
func PredictTable(ctx context.Context, m *model.Model, source tableio.Source, w io.Writer, opt model.TableOptions) (model.Summary, error) {
	models, err := Models(m)
	if err != nil {
		return m.NewSummary(), err
	}
	if len(models) > 1 && opt.Output.AddedOnly {
		return m.NewSummary(), errors.New("predictions without the columns of the table are not available for several targets")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	between := opt
	between.Output = tableio.Output{}
	if f := opt.Output.Format; f != "" && f != "text" {
		between.Output.Format = "arrow-stream"
	}
	name := source.String()
	var pipes []*io.PipeReader
	failures := make([]error, len(models)-1)
	var running sync.WaitGroup
	for i, one := range models[:len(models)-1] {
		from, to := io.Pipe()
		input := source
		running.Go(func() {
			_, failures[i] = one.PredictTable(ctx, input, to, between)
			to.CloseWithError(failures[i])
		})
		pipes, source = append(pipes, from), tableio.Reader(name, from)
	}
	sum, err := models[len(models)-1].PredictTable(ctx, source, w, opt)
	for _, p := range pipes {
		p.CloseWithError(err) // ends those that still write
	}
	running.Wait()
	for _, failure := range failures {
		if failure != nil && !errors.Is(failure, io.ErrClosedPipe) && !errors.Is(failure, err) {
			return sum, failure // the cause of the others
		}
	}
	return sum, err
}
