package kft

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/fit"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/tt"
)

// Evaluate measures the model on the rows of a table that have a target.
func (m *Model) Evaluate(ctx context.Context, file string, opt TableOptions) (Score, Summary, error) {
	single, err := newEngine() // batches are measured at once
	if err != nil {
		return Score{}, m.newSummary(), err
	}
	var mutex sync.Mutex
	tallies := map[int]*measurement{} // by first row, to be added up in order
	sum, err := m.visit(ctx, file, opt, func(m *Model, z tt.Moments, b *dataset.Batch) error {
		tally, err := m.measure(single, z, b.Codes, b.Y, b.W, b.First, true)
		mutex.Lock()
		defer mutex.Unlock()
		tallies[b.First] = tally
		return err
	})
	if err != nil {
		return Score{}, sum, err
	}
	total := m.newMeasurement(true)
	for _, first := range sortedKeys(tallies) {
		total.merge(tallies[first])
	}
	score := total.score(m)
	if score.N == 0 {
		return score, sum, m.noTargets(file)
	}
	return score, sum, nil
}

func (m *Model) noTargets(file string) error {
	return fmt.Errorf("%s: no row has a value in column %s: there is nothing to measure", file, m.spec.Data.Target)
}

// visit predicts a table that has the target, and calls see for batches of it,
// several at once, with the model that the codes are of. A *model.DomainError that
// see returns is given its place in the table.
func (m *Model) visit(ctx context.Context, file string, opt TableOptions, see func(m *Model, z tt.Moments, b *dataset.Batch) error) (Summary, error) {
	sum := m.newSummary()
	predict, err := m.predictor(opt)
	if err != nil {
		return sum, err
	}
	var mutex sync.Mutex
	schema := dataset.Schema{Modes: m.modes, Target: m.spec.Data.Target, Weight: m.spec.Data.Weight}
	none := func([]byte, byte) []byte { return nil }
	err = dataset.Map(ctx, file, schema, m.dicts, opt.Format, opt.Threads, io.Discard, none, func(b *dataset.Batch, dst []byte) ([]byte, error) {
		m, z, err := predict(b)
		if err != nil {
			return dst, err
		}
		if err := see(m, z, b); err != nil {
			var domain *model.DomainError
			if errors.As(err, &domain) {
				err = fmt.Errorf("%s: data row %d, column %s: %w", file, b.First+domain.Position+1, m.spec.Data.Target, err)
			}
			return dst, err
		}
		met := m.newSummary()
		met.Rows = len(z.Mean)
		m.countSources(&met, b.Codes, b.Y)
		mutex.Lock()
		defer mutex.Unlock()
		sum.add(met)
		return dst, nil
	})
	return sum, err
}

func sortedKeys[V any](m map[int]V) []int {
	keys := make([]int, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// EvaluatePart measures the model on the rows that were in one part of the
// table it was fitted to, which the files must be: that is known by the hash of
// their text.
func (m *Model) EvaluatePart(ctx context.Context, files []string, part dataset.Part, opt TableOptions) (Score, Summary, error) {
	o, engine, err := m.partOf(ctx, files, part, opt)
	if err != nil {
		return Score{}, Summary{}, err
	}
	m.forgetUntrained(o.Codes)
	tally, err := m.measure(engine, m.moments(engine, o.Codes), o.Codes, o.Y, o.W, 0, true)
	if err != nil {
		return Score{}, Summary{}, err
	}
	sum := m.newSummary()
	sum.Rows = o.Len()
	m.countSources(&sum, o.Codes, o.Y)
	return tally.score(m), sum, nil
}

// partOf reads the rows that were in one part of the fitted table.
func (m *Model) partOf(ctx context.Context, files []string, part dataset.Part, opt TableOptions) (fit.Observations, backend.Backend, error) {
	none := fit.Observations{}
	table, err := m.readAsFitted(ctx, files, opt)
	if err != nil {
		return none, nil, err
	}
	if !m.wasFittedTo(table) {
		return none, nil, fmt.Errorf("%s is not the table the model was fitted to, whose parts it knows; leave out --part to measure all rows", files[0])
	}
	parts := make([]dataset.Part, table.Len())
	for i := range parts {
		parts[i] = m.parts[table.SourceRow(i)]
	}
	o := take(table, parts, part)
	if o.Len() == 0 {
		return none, nil, fmt.Errorf("%s: no row was in the %s part of the fit; its split was %s", files[0], part, m.about.Split)
	}
	path, err := cpu.Choose()
	if err != nil {
		return none, nil, err
	}
	return o, cpu.New(path, opt.Threads), nil
}

// readAsFitted reads files as the fitted table was read.
func (m *Model) readAsFitted(ctx context.Context, files []string, opt TableOptions) (*dataset.Table, error) {
	schema, format, err := tableOf(m.spec)
	if err != nil {
		return nil, err
	}
	format.Stdin = opt.Format.Stdin
	if opt.Format.Delimiter != 0 {
		format.Delimiter = opt.Format.Delimiter
	}
	if opt.Format.Header != dataset.HeaderAuto {
		format.Header = opt.Format.Header
	}
	return dataset.Read(ctx, files, schema, format, opt.Threads)
}

func (m *Model) wasFittedTo(t *dataset.Table) bool {
	return t.Counts.Rows == len(m.parts) && hashText(t.Hash) == m.about.DataHash
}
