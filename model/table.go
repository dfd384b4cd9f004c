package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
	"github.com/kernel-fried-tensor/kft/tt"
)

// TableOptions specify how a table is read for prediction or evaluation.
type TableOptions struct {
	Threads int            // 0 for as many as the process may use
	Format  tableio.Format // of a text table; the zero value detects it
	Strict  bool           // unseen ids are an error

	// AllowUnknown lets PredictTable predict a table of which the model knows no id at
	// all; otherwise that is an *UnknownTableError.
	AllowUnknown bool

	Output tableio.Output // of PredictTable; the zero value is text

	// Only names the columns that PredictTable adds to Parquet and Arrow, as in prediction
	// or q0.05, beside the samples; nil for all. Means alone take a fraction of
	// the time.
	Only []string

	// Quantiles are the levels, in increasing order, for which PredictTable adds a
	// column each: q0.05.
	Quantiles []float64
	// Samples is the number of draws for which PredictTable adds a column each:
	// sample_1. A draw is one of the whole tensor: all its cells share the drawn
	// weights, so sums over the cells of a draw are draws of the sum.
	Samples int
}

// format returns how a table is read. Its numbers are written as those of the table of
// the fit, unless the options say otherwise.
func (m *Model) format(opt TableOptions) tableio.Format {
	format := opt.Format
	if format.Numbers.Plain() {
		format.Numbers = m.numberFormat()
	}
	return format
}

// numberFormat returns how numbers are written in the table of the fit.
func (m *Model) numberFormat() dataset.NumberFormat {
	format, _ := dataset.ParseNumberFormat(m.spec.Data.Decimal, m.spec.Data.Thousands) // Validate has checked it
	return format
}

// ErrUnseenID is the sentinel of [UnseenError].
var ErrUnseenID = errors.New("the id is not in the training data")

// An UnseenError reports an id that is not in the training data, in strict mode.
type UnseenError struct {
	Row      int    // data row of a table, or cell of a request, from 1
	Unit     string // what Row counts if the ids are not those of a table ("cell"); else ""
	Mode, ID string
}

func (e *UnseenError) Error() string {
	unit := e.Unit
	if unit == "" {
		unit = "data row"
	}
	return fmt.Sprintf("%s %d: mode %s: the id %q is not in the training data", unit, e.Row, e.Mode, e.ID)
}

// Unwrap returns ErrUnseenID.
func (e *UnseenError) Unwrap() error { return ErrUnseenID }

// unseenColumn names the modes of a row whose id is not in the training data.
const unseenColumn = "unseen"

// addedColumns are the columns that PredictTable adds. Those that a table of the model
// has under the same name, because it is the column of a mode, the target, a weight or an
// exposure, are renamed; renamed lists them.
func (m *Model) addedColumns(opt TableOptions) (names, renamed []string) {
	schema := m.targetSchema()
	taken := schema.Columns()
	names = resultColumns(opt)
	for i, name := range names {
		names[i] = m.prefix + name
		for slices.Contains(taken, names[i]) {
			names[i] = "kft_" + names[i]
		}
		if names[i] != m.prefix+name {
			renamed = append(renamed, name+": "+names[i])
		}
	}
	return names, renamed
}

// resultColumns are the columns that PredictTable adds if no name is taken.
func resultColumns(opt TableOptions) []string {
	names := []string{"prediction", "median", "sd", "sd_model", "sd_noise"}
	for _, p := range opt.Quantiles {
		names = append(names, quantileColumn(p))
	}
	for i := range opt.Samples {
		names = append(names, sampleColumn(i))
	}
	return append(names, unseenColumn)
}

// PredictTable writes the table to w in the format opt.Output, with its rows and
// columns unchanged and columns added: prediction (the mean), median, sd with its
// parts sd_model and sd_noise, the quantiles and samples of opt, and unseen, which
// names the modes whose id is not in the training data, followed by :side for an id
// that is predicted from its side information. A name that is also one of a column that
// the model reads gets the prefix kft_, and Summary.Renamed says so. A table that has
// another column of such a name is an error. A table of which the model knows no id is an
// *UnknownTableError, unless opt allows it; rows have been written then. The table may have the columns of weights and exposures; where
// they are absent or empty, they are 1, like a weight of 0. The target is ignored.
func (m *Model) PredictTable(ctx context.Context, source tableio.Source, w io.Writer, opt TableOptions) (Summary, error) {
	sum := m.NewSummary()
	if err := m.CheckOneTarget(); err != nil {
		return sum, err
	}
	if err := m.CheckQuantiles(opt.Quantiles); err != nil {
		return sum, err
	}
	drawn, err := m.newSamples(opt.Samples, opt.Threads)
	if err != nil {
		return sum, err
	}
	predict := m.BatchPredictor(opt.Strict)
	if opt.Output.Format == "" {
		opt.Output.Format = "text"
	}
	results := resultColumns(opt)
	names, renamed := m.addedColumns(opt)
	added := make([]tableio.AddedColumn, len(names))
	for i, name := range names {
		added[i] = tableio.AddedColumn{Name: name, Text: results[i] == unseenColumn, Wide: m.Wide() && !strings.HasPrefix(results[i], "sd") && results[i] != unseenColumn}
	}
	omit := func(result string) bool {
		return opt.Only != nil && opt.Output.Format != "text" && !slices.Contains(opt.Only, result)
	}
	for i, result := range results {
		added[i].Omit = omit(result) && !strings.HasPrefix(result, "sample_") // draws that are asked for are written
	}
	columns := newNumberColumns(results, added, opt.Quantiles)
	unseen := len(names) - 1 // the column of unknown modes
	schema := dataset.Schema{Modes: m.covariates.Columns(), Weight: m.spec.Data.Weight, Exposure: m.spec.Data.Exposure, Optional: true, Absent: names}
	schema.Unneeded = m.unneeded(schema.Modes)
	var mutex sync.Mutex
	err = tableio.AppendColumns(ctx, source, schema, m.dicts[:len(schema.Modes)], m.format(opt), opt.Threads, w, opt.Output, added, func(b *tableio.Batch, values *tableio.AddedValues) error {
		m, z, err := predict(b)
		if err != nil {
			return err
		}
		batch := m.NewSummary()
		batch.Rows, batch.decoded = len(z.Mean), b.Decoded
		given := m.RowsOf(b)
		if b.W == nil && schema.Weight != "" && !m.scale.Transform.Linked() {
			batch.Assumed = append(batch.Assumed, schema.Weight)
		}
		if b.Exposure == nil && schema.Exposure != "" {
			batch.Assumed = append(batch.Assumed, schema.Exposure)
		}
		if err := columns.fill(values, m, z, given, b.First); err != nil {
			return err
		}
		m.nameUnseen(values.Texts[unseen], b.Codes, &batch)
		m.addExamples(&batch, b, nil)
		var wide [][]float64
		if m.Wide() {
			wide = values.Wide[unseen-opt.Samples : unseen]
		}
		if err := drawn.fill(values.Numbers[unseen-opt.Samples:unseen], wide, m, z, rows{Rows: given, first: b.First, id: b.ID}); err != nil {
			return err
		}
		if err := CheckColumns(values, unseen, len(z.Mean), b.First); err != nil {
			return err
		}
		mutex.Lock()
		defer mutex.Unlock()
		sum.add(batch)
		return nil
	})
	if share := opt.Output.Share; share != nil {
		if sum, _, err = m.totalSummary(share, sum, nil, err); err == nil && !share.Writes() {
			return sum, nil
		}
	}
	sum.Renamed = renamed
	if err != nil {
		return sum, err
	}
	if err := m.knowsNothing(sum); err != nil && !opt.AllowUnknown {
		return sum, fmt.Errorf("%v: %w", source, err)
	}
	sum.Warnings = m.tableWarnings(sum)
	return sum, nil
}

// targetSchema is what a table with the target has.
func (m *Model) targetSchema() dataset.Schema {
	return dataset.Schema{Modes: m.covariates.Columns(), Target: m.spec.Data.Target, Weight: m.spec.Data.Weight, Exposure: m.spec.Data.Exposure, Censored: m.spec.Data.Censored, AllKnown: true, WordTargets: m.noise.Bernoulli != nil}
}

// unneeded says which of the first modes are covariates that neither a term nor the noise uses.
func (m *Model) unneeded(modes []dataset.Mode) []bool {
	noise := slices.Concat(m.NoiseModes()...)
	out := make([]bool, len(modes))
	for i, mode := range modes {
		out[i] = mode.Covariate() && !m.UsesMode(i) && !slices.Contains(noise, i) && m.groupMode != i
	}
	return out
}

// nameUnseen names, for each row, the modes whose id is not in the training data, and
// counts them.
func (m *Model) nameUnseen(dst []string, codes [][]int32, sum *Summary) {
	for mode := range m.modes {
		name := m.modes[mode].Name
		for i, c := range codes[mode] {
			if m.isTrained(mode, c) {
				continue
			}
			switch m.Origin(mode, c) {
			case FromSide:
				for _, at := range m.sideModes(mode, codes, i) {
					sum.Side[at]++
					dst[i] = joined(dst[i], m.modes[at].Name+":side")
				}
			case FromPrior:
				sum.Unseen[mode]++
				dst[i] = joined(dst[i], name)
			}
		}
	}
}

func joined(names, name string) string {
	if names == "" {
		return name
	}
	return names + "+" + name
}

// Visit predicts a table that has the target and calls see for its batches, several
// at a time. The codes of the batch are those of the model that see receives. A
// *targetscale.DomainError of see gets its place in the table.
func (m *Model) Visit(ctx context.Context, source tableio.Source, opt TableOptions, see func(m *Model, z tt.Moments, b *tableio.Batch) error) (Summary, error) {
	sum, _, err := m.VisitShare(ctx, source, opt, see, func() []byte { return nil })
	return sum, err
}

// VisitShare is Visit by the processes of opt.Output.Share, if there are several: each sees some of the batches.
// The one that writes gets the summary of all of them, and what result returned there when they were done.
func (m *Model) VisitShare(ctx context.Context, source tableio.Source, opt TableOptions, see func(m *Model, z tt.Moments, b *tableio.Batch) error, result func() []byte) (Summary, [][]byte, error) {
	sum := m.NewSummary()
	if err := m.CheckOneTarget(); err != nil {
		return sum, nil, err
	}
	format, share := m.format(opt), opt.Output.Share
	format.Share = share
	predict := m.BatchPredictor(opt.Strict)
	var mutex sync.Mutex
	schema := m.targetSchema()
	err := tableio.VisitBatches(ctx, source, schema, m.dicts[:len(schema.Modes)], format, opt.Threads, func(b *tableio.Batch) error {
		batch := m.NewSummary()
		batch.addNoIDs(b)
		m, z, err := predict(b)
		if err != nil {
			return err
		}
		if err := see(m, z, b); err != nil {
			var domain *targetscale.DomainError
			if errors.As(err, &domain) {
				err = fmt.Errorf("%v: data row %d, column %s: %w", source, b.First+domain.Position+1, m.spec.Data.Target, err)
			}
			return err
		}
		batch.Rows, batch.decoded = len(z.Mean), b.Decoded
		m.CountOrigins(&batch, b.Codes, b.Y)
		m.addExamples(&batch, b, b.Y)
		mutex.Lock()
		defer mutex.Unlock()
		sum.add(batch)
		return nil
	})
	var results [][]byte
	if share != nil {
		sum, results, err = m.totalSummary(share, sum, result(), err)
	}
	if err == nil && (share == nil || share.Writes()) {
		sum.Warnings = m.tableWarnings(sum)
	}
	return sum, results, err
}

// BatchPredictor returns a function that computes the field's moments at batches of a table whose
// codes are those of [Model.Dicts], several at a time. It sets the codes of ids without weights to
// entity.Unknown, and returns the model that the other codes belong to, which also contains ids that
// describe themselves.
func (m *Model) BatchPredictor(strict bool) func(b *tableio.Batch) (*Model, tt.Moments, error) {
	// What one batch learned of new ids serves the next ones. A slice of a model does
	// not depend on its other slices, so it does not matter which batch stores last.
	var latest atomic.Pointer[Model]
	latest.Store(m)
	fitted := m
	return func(b *tableio.Batch) (*Model, tt.Moments, error) {
		codes, id, wrong := fitted.covariates.Encode(b.Codes, b.Field)
		if wrong != nil {
			return nil, tt.Moments{}, fmt.Errorf("data row %d: %w", b.First+wrong.Row+1, wrong)
		}
		b.Codes = codes
		b.SetIDs(id)
		m := latest.Load().withSelfDescribed(b.Codes, b.ID)
		if m.muchLarger(fitted) {
			latest.Store(fitted)
		} else {
			latest.Store(m)
		}
		m.ForgetUntrained(b.Codes)
		if strict {
			if err := m.checkSeen(b); err != nil {
				return nil, tt.Moments{}, err
			}
		}
		var z tt.Moments
		m.engines.use(func(engine *cpu.Backend) { z = m.Moments(engine, b.Codes) })
		return m, z, nil
	}
}

// checkSeen returns an *UnseenError for the first unknown id of a batch.
func (m *Model) checkSeen(b *tableio.Batch) error {
	for i := range b.Codes[0] {
		for mode := range m.modes {
			if m.Origin(mode, b.Codes[mode][i]) == FromPrior {
				return &UnseenError{Row: b.First + i + 1, Mode: m.modes[mode].Name, ID: b.ID(mode, i)}
			}
		}
	}
	return nil
}
