package kft

import (
	"errors"
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/calibrate"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/tt"
)

// A measurement sums what scores of predictions need. Measurements of disjoint
// rows add up.
type measurement struct {
	point       model.Tally
	calibration *calibrate.Tally // nil where it is not asked for
}

func (m *Model) newMeasurement(calibration bool) *measurement {
	t := &measurement{}
	if calibration {
		t.calibration = calibrate.NewTally(len(m.modes), m.spec.Seed)
	}
	return t
}

func (t *measurement) merge(o *measurement) {
	t.point.Merge(&o.point)
	if t.calibration != nil {
		t.calibration.Merge(o.calibration)
	}
}

// score returns the measures.
func (t *measurement) score(m *Model) Score {
	s := t.point.Score()
	if t.calibration != nil && s.N > 0 {
		report := t.calibration.Report(m.spec.ModeNames(), s.R2)
		for mode := range report.CoverageByMode {
			table := report.CoverageByMode[mode].Table
			for i := range table {
				table[i].ID = m.dicts[mode].ID(table[i].Entity)
			}
		}
		s.Calibration = &report
	}
	return s
}

// measurePiece is how many rows one task measures; the cut depends on the data
// alone, so that sums do not depend on the number of threads.
const measurePiece = 8192

// measure compares predictions, moments on the modelling scale, with targets y of
// weights w, nil for 1. first is the number of the first row. A missing target,
// NaN, is passed over; one outside the transform's domain is a
// *model.DomainError.
func (m *Model) measure(b backend.Backend, z tt.Moments, codes [][]int32, y, w []float32, first int, calibration bool) (*measurement, error) {
	pieces := make([]*measurement, (len(y)+measurePiece-1)/measurePiece)
	failed := make([]error, len(pieces))
	var unmet []bool
	if calibration && len(y) > 0 {
		unmet = m.field.Unmet(codes)
	}
	backend.Each(b, len(pieces), func(k int) {
		pieces[k] = m.newMeasurement(calibration)
		for i := k * measurePiece; i < min(len(y), (k+1)*measurePiece); i++ {
			if err := m.measureRow(pieces[k], z, codes, y, w, i, first, unmet); err != nil && failed[k] == nil {
				failed[k] = err
			}
		}
	})
	total := m.newMeasurement(calibration)
	for k, p := range pieces {
		if failed[k] != nil {
			return nil, failed[k]
		}
		total.merge(p)
	}
	return total, nil
}

func (m *Model) measureRow(t *measurement, z tt.Moments, codes [][]int32, y, w []float32, i, first int, unmet []bool) error {
	v := float64(y[i])
	if math.IsNaN(v) {
		return nil
	}
	if err := m.checkRow(y, i); err != nil {
		return err
	}
	weight := 1.0
	if w != nil {
		weight = float64(w[i])
	}
	p := m.predictive(z, codes, i)
	t.point.Add(v, weight, p.Mean(), p.Median(), m.scale.OnScale(v), m.scale.Predicted(z.Mean[i]))
	if t.calibration != nil {
		row := calibrate.Row{Y: v, Weight: weight, Index: uint64(first + i), Seen: math.MaxInt, Unmet: unmet[i]}
		row.Entities = make([]int32, len(codes))
		for mode := range codes {
			row.Entities[mode] = m.fittedCode(mode, codes[mode][i])
			row.Seen = min(row.Seen, m.seenRows(mode, codes[mode][i]))
		}
		t.calibration.Add(p, row)
	}
	return nil
}

// fittedCode returns the code of an id of the fitted table, unknown for another:
// codes that came later are not the same in every batch.
func (m *Model) fittedCode(mode int, code int32) int32 {
	if int(code) >= len(m.seen[mode]) {
		return tt.Unknown
	}
	return code
}

// seenRows returns the number of training rows of a code.
func (m *Model) seenRows(mode int, code int32) int {
	if code < 0 || int(code) >= len(m.seen[mode]) {
		return 0
	}
	return int(m.seen[mode][code])
}

// checkRow refuses a target that the model's scale or likelihood cannot take by a
// *model.DomainError.
func (m *Model) checkRow(y []float32, i int) error {
	err := model.CheckDomain(m.scale.Transform, y[i:i+1])
	var domain *model.DomainError
	if errors.As(err, &domain) {
		domain.Position = i
	}
	return err
}
