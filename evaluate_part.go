package kft

import (
	"context"
	"fmt"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/dataset"
)

// EvaluatePart measures the model on the rows that were in one part of the
// table it was fitted to, which the files must be: that is known by the hash of
// their text.
func (m *Model) EvaluatePart(ctx context.Context, files []string, part dataset.Part, opt TableOptions) (Score, Summary, error) {
	schema, format, err := tableOf(m.spec)
	if err != nil {
		return Score{}, Summary{}, err
	}
	format.Stdin = opt.Format.Stdin
	if opt.Format.Delimiter != 0 {
		format.Delimiter = opt.Format.Delimiter
	}
	if opt.Format.Header != dataset.HeaderAuto {
		format.Header = opt.Format.Header
	}
	table, err := dataset.Read(ctx, files, schema, format, opt.Threads)
	if err != nil {
		return Score{}, Summary{}, err
	}
	if table.Counts.Rows != len(m.parts) || hashText(table.Hash) != m.about.DataHash {
		return Score{}, Summary{}, fmt.Errorf("%s is not the table the model was fitted to, whose parts it knows; leave out --part to measure all rows", files[0])
	}
	parts := make([]dataset.Part, table.Len())
	for i := range parts {
		parts[i] = m.parts[table.SourceRow(i)]
	}
	o := take(table, parts, part)
	if o.Len() == 0 {
		return Score{}, Summary{}, fmt.Errorf("%s: no row was in the %s part of the fit; its split was %s", files[0], part, m.about.Split)
	}
	path, err := cpu.Choose()
	if err != nil {
		return Score{}, Summary{}, err
	}
	m.forgetUntrained(o.Codes)
	engine := cpu.New(path, opt.Threads)
	tally, err := m.measure(engine, m.moments(engine, o.Codes), o.Codes, o.Y, o.W, 0, true)
	if err != nil {
		return Score{}, Summary{}, err
	}
	sum := m.newSummary()
	sum.Rows = o.Len()
	m.countSources(&sum, o.Codes, o.Y)
	return tally.score(m), sum, nil
}
