package evaluate

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/conformal"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/peers"
	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/multitarget"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/tt"
)

// Recalibrate returns the model with a conformal correction and a correction of its
// means computed from the rows of a table that have a target. The kind is split, group:mean or group:MODE. The
// rows must not have been used for anything else; package conformal states what the
// correction then guarantees. Summary.Fitted is set if they are the rows of the fit.
// Too few rows are a *conformal.TooFewRowsError.
func Recalibrate(ctx context.Context, m *model.Model, source tableio.Source, kind string, opt model.TableOptions) (*model.Model, model.Summary, error) {
	uncorrected, err := withoutCorrection(m, kind)
	if err != nil {
		return nil, m.NewSummary(), err
	}
	models, err := multitarget.Models(uncorrected)
	if err != nil {
		return nil, m.NewSummary(), err
	}
	if len(models) > 1 && !source.Repeatable() {
		return nil, m.NewSummary(), fmt.Errorf("%v: a table of several targets is read once for each, so it must be a file", source)
	}
	var all scores
	var sum model.Summary
	for _, one := range models {
		if sum, err = all.addTable(ctx, one, source, opt); err != nil {
			return nil, sum, err
		}
	}
	if len(all.score) == 0 {
		return nil, sum, noTargets(m, source, sum)
	}
	corrected, err := all.correct(opt.Threads, m, uncorrected, kind)
	if err != nil {
		return nil, sum, fmt.Errorf("%v: %w", source, err)
	}
	sum.Fitted = isFitted(ctx, models[0], source, sum.Rows, opt)
	return corrected, sum, nil
}

// addTable adds the scores of the rows of a table that have a target.
func (s *scores) addTable(ctx context.Context, uncorrected *model.Model, source tableio.Source, opt model.TableOptions) (model.Summary, error) {
	var mutex sync.Mutex
	batches := map[int]*scores{} // by first row
	sum, err := uncorrected.Visit(ctx, source, opt, func(m *model.Model, z tt.Moments, b *tableio.Batch) error {
		own, err := scoresOf(m, z, b, m.Horizons(b.Codes, b.ID))
		mutex.Lock()
		defer mutex.Unlock()
		batches[b.First] = own
		return err
	})
	if err != nil {
		return sum, err
	}
	for _, first := range slices.Sorted(maps.Keys(batches)) {
		s.append(batches[first])
	}
	return sum, nil
}

// append appends the scores of other rows.
func (s *scores) append(o *scores) {
	s.score, s.location, s.entity = append(s.score, o.score...), append(s.location, o.location...), append(s.entity, o.entity...)
	s.spread = append(s.spread, o.spread...)
	s.horizon = append(s.horizon, o.horizon...)
	s.means.append(&o.means)
}

// RecalibratePart is Recalibrate with the rows that were in one part of the table that the
// model was fitted to, the validation or the test set. The source must contain that table.
// The validation rows that the fit used to choose its penalty and its end are among them.
func RecalibratePart(ctx context.Context, m *model.Model, source tableio.Source, part dataset.Part, kind string, opt model.TableOptions) (*model.Model, model.Summary, error) {
	sum := m.NewSummary()
	if part != dataset.Valid && part != dataset.Test {
		return nil, sum, fmt.Errorf("the model cannot be calibrated with its %s set, because errors on rows that it was fitted to are too small; use the validation or the test set", partName(part))
	}
	if m.Saw(part) {
		kept := spec.RefitNone
		if part == dataset.Test {
			kept = spec.RefitValid
		}
		return nil, sum, fmt.Errorf("the model cannot be calibrated with its %s set, because it was trained again on these rows; use a table of other rows, or a fit with fit.refit set to %s", partName(part), kept)
	}
	uncorrected, err := withoutCorrection(m, kind)
	if err != nil {
		return nil, sum, err
	}
	models, err := multitarget.Models(uncorrected)
	if err != nil {
		return nil, sum, err
	}
	var all scores
	for _, one := range models {
		rows, engine, err := partOf(ctx, one, source, part, opt)
		if err != nil {
			return nil, sum, err
		}
		horizon := Horizons(engine, one, rows.Codes)
		one.ForgetUntrained(rows.Codes)
		own, err := scoresOf(one, PartMoments(engine, one, part, rows), &tableio.Batch{Codes: rows.Codes, Y: rows.Y, Low: rows.Low, W: rows.W, Exposure: rows.Exposure}, horizon)
		if err != nil {
			return nil, sum, err
		}
		all.append(own)
		sum = one.NewSummary()
		sum.Rows = len(rows.Y)
		one.CountOrigins(&sum, rows.Codes, rows.Y)
	}
	corrected, err := all.correct(opt.Threads, m, uncorrected, kind)
	if err != nil {
		return nil, sum, fmt.Errorf("%v: %w", source, err)
	}
	return corrected, sum, nil
}

// withoutCorrection returns the model without the correction that is to be replaced by one
// of the given kind.
func withoutCorrection(m *model.Model, kind string) (*model.Model, error) {
	if kind != "split" && kind != "horizon" && !strings.HasPrefix(kind, "group:") {
		return nil, fielderr.Errorf("uncertainty.conformal", "%q is not a correction that can be computed from data; use split, group:mean, group:MODE or horizon", kind)
	}
	u := m.Spec().Uncertainty
	if u.Finite() || m.Spec().Data.Censored != "" {
		return nil, fielderr.Errorf("uncertainty.conformal", "a model of values 0 and 1 or of censored targets has no conformal correction; fit it again with more validation rows instead")
	}
	return m.WithCorrection(kind, nil)
}

// correct returns the uncorrected model with the corrections that the scores give, and
// with the record of m.
func (s *scores) correct(threads int, m, uncorrected *model.Model, kind string) (*model.Model, error) {
	correction, err := s.correction(nil, threads, kind)
	if err != nil {
		return nil, err
	}
	corrected, err := uncorrected.WithCorrection(kind, correction)
	if err != nil {
		return nil, err
	}
	if len(m.Targets()) == 0 && m.Blend() == nil { // several targets have several units; means that follow recent values were learned without a curve
		corrected = corrected.WithMeanCurve(s.means.curve(nil, threads))
	}
	// The measures of the fit were taken with other corrections.
	record := m.Record()
	record.Valid.Calibration, record.Test.Calibration = nil, nil
	for i := range record.Targets {
		t := &record.Targets[i]
		t.Valid.Calibration, t.Test.Calibration = nil, nil
	}
	if m.MeanCurve() != nil || corrected.MeanCurve() != nil {
		for _, s := range []*metrics.Score{&record.Train, &record.Valid, &record.Test} {
			withoutMeans(s)
		}
	}
	return corrected.WithRecord(record), nil
}

// Horizons returns the horizons of rows of the fitted table by their codes, from before
// unseen ids were forgotten; nil for a model without a mode of time.
func Horizons(engine backend.Backend, m *model.Model, codes [][]int32) []int32 {
	series := m.Series()
	if series == nil {
		return nil
	}
	out := backend.Make[int32](engine, len(codes[series.Time]))
	parallel.Blocks(engine.Threads(), len(out), func(from, to int) {
		for i := from; i < to; i++ {
			out[i] = series.HorizonOf(codes, i)
		}
	})
	return out
}

// HeldOut returns how many rows of the validation set the fit kept for the
// conformal correction alone.
func HeldOut(m *model.Model) int {
	if len(m.Targets()) > 0 { // a row has several observations, or some of them
		if c := m.Uncertainty().Conformal; c != nil {
			return c.Rows
		}
		return 0
	}
	valid := 0
	for row := range m.FittedRows() {
		if m.Part(row) == dataset.Valid {
			valid++
		}
	}
	record := m.Record()
	return valid + record.Rows.ValidZeros - record.Valid.N
}

// A correction by the size of predictions has meanGroups groups, fewer if they would
// have fewer than rowsPerGroup rows each. With fineRows rows each bin of the size is divided
// by spread, and there are more of them, up to fineMeanGroups: targets that come in lots
// (6, 12 or 24 bottles) have medians that change with the size in steps.
const (
	meanGroups       = 20
	rowsPerGroup     = 2 * conformal.MinGroupRows
	fineMeanGroups   = 200
	spreadGroups     = 5
	fineRowsPerGroup = 250
	fineRows         = meanGroups * spreadGroups * fineRowsPerGroup
)

// Correction computes a conformal correction from rows that were used for nothing
// else, and the field's moments at them. Ranks of the backend share the work.
func Correction(b backend.Backend, m *model.Model, z tt.Moments, rows Rows, kind string) (*conformal.Correction, error) {
	n, seed := len(rows.Y), m.Spec().Seed
	s := scores{score: make([]float64, n), location: make([]float64, n), spread: make([]float64, n), entity: rows.Codes[m.GroupMode()], horizon: rows.Horizon}
	values := eachRow(b, n, 3, func(i int, dst []float64) {
		p := m.Uncorrected(z, rows.given(), i)
		dst[0], dst[1], dst[2] = p.Score(rows.Target(i), seed, uint64(i)), p.Location(), p.Spread()
	})
	for i := range n {
		s.score[i], s.location[i], s.spread[i] = values[3*i], values[3*i+1], values[3*i+2]
	}
	return s.correction(backend.RanksOf(b), b.Threads(), kind)
}

// scores are the conformal scores of rows with what they are grouped by.
type scores struct {
	score, location, spread []float64
	entity                  []int32 // of the grouping mode
	horizon                 []int32
	means                   meanPairs
}

// bins returns the number of groups by size of the prediction.
func (s *scores) bins() int { return min(meanGroups, max(1, len(s.score)/rowsPerGroup)) }

// correction returns the correction of a kind. The processes of a group, nil for one, have the same scores.
func (s *scores) correction(group peers.Group, threads int, kind string) (*conformal.Correction, error) {
	switch kind {
	case "split":
		return conformal.NewSplit(threads, s.score)
	case "group:mean":
		if n := len(s.score); n >= fineRows {
			return conformal.NewBySpread(group, threads, s.score, s.location, s.spread, min(fineMeanGroups, n/(spreadGroups*fineRowsPerGroup)), spreadGroups)
		}
		return conformal.NewByMean(threads, s.score, s.location, s.bins())
	case "horizon":
		if s.horizon == nil {
			return nil, fielderr.Errorf("uncertainty.conformal", "a correction by horizon needs a model with a mode of time; use group:mean")
		}
		return conformal.NewByHorizon(threads, s.score, s.location, s.horizon, s.bins())
	}
	return conformal.NewByEntity(threads, s.score, s.entity)
}

// scoresOf returns the scores of the rows of a batch that have a target. An entity
// that was not in the fitted table has no group.
func scoresOf(m *model.Model, z tt.Moments, b *tableio.Batch, horizon []int32) (*scores, error) {
	s := &scores{}
	mode, seed := m.GroupMode(), m.Spec().Seed
	given := model.Rows{Codes: b.Codes, Weight: b.W, Exposure: b.Exposure, Horizon: horizon}
	for i := range b.Y {
		y := dataset.TargetAt(b.Y, b.Low, i)
		if math.IsNaN(y) || b.W != nil && b.W[i] == 0 {
			continue
		}
		if err := m.CheckTarget(b.Y, i); err != nil {
			return nil, err
		}
		p := m.Uncorrected(z, given, i)
		s.score = append(s.score, p.Score(y, seed, uint64(b.First+i)))
		s.location, s.spread = append(s.location, p.Location()), append(s.spread, p.Spread())
		s.entity = append(s.entity, m.FittedCode(mode, b.Codes[mode][i]))
		if horizon != nil {
			s.horizon = append(s.horizon, horizon[i])
		} else {
			s.horizon = append(s.horizon, 0)
		}
		weight := 1.0
		if b.W != nil {
			weight = float64(b.W[i])
		}
		s.means.add(p.UncorrectedMean(), y, weight)
	}
	return s, nil
}

// isFitted reports whether a source with the given number of rows is the table that
// the model was fitted to. It is false for a source that cannot be read again, and
// for one that cannot be read like the fitted table.
func isFitted(ctx context.Context, m *model.Model, source tableio.Source, rows int, opt model.TableOptions) bool {
	if !source.Repeatable() || rows != m.FittedRows() {
		return false
	}
	table, err := readAsFitted(ctx, m, source, opt)
	return err == nil && wasFittedTo(m, table)
}
