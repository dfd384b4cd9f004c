package evaluate

import (
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/predictive"
	"github.com/kernel-fried-tensor/kft/tt"
)

// Sums accumulate what scores of predictions need. Sums of disjoint rows add up.
type Sums struct {
	point       metrics.PointSums
	bias        *metrics.BiasSums
	binary      metrics.BinarySums
	censored    metrics.CensoredSums
	calibration *metrics.CalibrationSums // nil if it was not asked for
}

func newSums(m *model.Model, calibration bool) *Sums {
	s := &Sums{bias: metrics.NewBiasSums(m.DecileEdges())}
	if calibration {
		s.calibration = metrics.NewCalibrationSums(len(m.Modes()), m.Spec().Seed)
	}
	return s
}

func (s *Sums) merge(o *Sums) {
	s.point.Merge(&o.point)
	s.bias.Merge(o.bias)
	s.binary.Merge(&o.binary)
	s.censored.Merge(&o.censored)
	if s.calibration != nil {
		s.calibration.Merge(o.calibration)
	}
}

// Score returns the measures.
func (s *Sums) Score(m *model.Model) metrics.Score {
	score := s.point.Score()
	score.BiasByDecile = s.bias.Deciles()
	score.Binary = s.binary.Binary()
	score.Censored = s.censored.Censored()
	if s.calibration != nil && score.N > 0 {
		report := s.calibration.Calibration(m.Spec().ModeNames(), score.R2)
		for mode := range report.CoverageByMode {
			ids := m.Dicts()[mode]
			table := report.CoverageByMode[mode].Table
			for i := range table {
				table[i].ID = ids.ID(table[i].Entity)
			}
		}
		score.Calibration = &report
	}
	return score
}

// rowsPerTask is the least number of rows that one task measures.
const rowsPerTask = 8192

// taskRows returns the number of rows that one task measures: as many as there are ids of a
// mode, because a task sums by id. The cut depends only on the data, so sums do not depend on
// the number of threads.
func (r Rows) taskRows() int {
	rows := rowsPerTask
	for _, codes := range r.Codes {
		if len(codes) > rows {
			rows = max(rows, int(slices.Max(codes))+1)
		}
	}
	return rows
}

// Rows are rows of a table with their targets.
type Rows struct {
	Codes [][]int32
	Y     []float32 // NaN is missing
	W     []float32 // weights, nil for 1
	First int       // number of the first row

	Exposure []float32 // nil for 1
	Censored []float32 // above 0 for targets known from below only; nil for none

	Horizon []int32 // see model.Rows

	// Low is what float32 takes from Y, see dataset.Table; nil for nothing.
	Low []float32
}

// Target returns the target of row i, NaN if it is missing.
func (r Rows) Target(i int) float64 { return dataset.TargetAt(r.Y, r.Low, i) }

// censored reports whether the target of row i is known from below only.
func (r Rows) censored(i int) bool { return r.Censored != nil && r.Censored[i] > 0 }

// given returns what predictions of the rows depend on.
func (r Rows) given() model.Rows {
	return model.Rows{Codes: r.Codes, Weight: r.W, Exposure: r.Exposure, Horizon: r.Horizon}
}

// Measure compares predictions, given by their moments on the modelling scale, with
// the targets of rows. Rows without a target or of weight 0 are skipped. A target outside the
// transform's domain is a *predictive.DomainError.
func Measure(b backend.Backend, m *model.Model, z tt.Moments, rows Rows, calibration bool) (*Sums, error) {
	n := len(rows.Y)
	var newCombination []bool
	if calibration && n > 0 {
		newCombination = m.NewCombinations(b.Threads(), rows.Codes)
	}
	total := newSums(m, calibration)
	each := rows.taskRows()
	tasks := make([]*Sums, 4*b.Threads()) // merged before the next ones
	failed := make([]error, len(tasks))
	for first := 0; first < n; first += len(tasks) * each {
		count := min(len(tasks), (n-first+each-1)/each)
		backend.ParallelFor(b, count, func(k int) {
			from := first + k*each
			tasks[k], failed[k] = measureTask(m, z, rows, calibration, newCombination, from, min(n, from+each))
		})
		for k, s := range tasks[:count] {
			if failed[k] != nil {
				return nil, failed[k]
			}
			total.merge(s)
		}
	}
	return total, nil
}

// measureTask measures the rows [from, to). It returns the first error.
func measureTask(m *model.Model, z tt.Moments, rows Rows, calibration bool, newCombination []bool, from, to int) (sums *Sums, failed error) {
	sums, scale := newSums(m, calibration), m.Scale()
	cells, entities := m.Distributions(z, rows.given()), make([]int32, len(rows.Codes))
	for i := from; i < to; i++ {
		if err := sums.add(m, scale, z, rows, i, &cells, entities, newCombination); err != nil && failed == nil {
			failed = err
		}
	}
	return sums, failed
}

// add measures row i. entities is scratch memory.
func (s *Sums) add(m *model.Model, scale predictive.Scale, z tt.Moments, rows Rows, i int, cells *model.Distributions, entities []int32, newCombination []bool) error {
	v := rows.Target(i)
	if math.IsNaN(v) || rows.W != nil && rows.W[i] == 0 {
		return nil
	}
	if err := m.CheckTarget(rows.Y, i); err != nil {
		return err
	}
	weight := 1.0
	if rows.W != nil {
		weight = float64(rows.W[i])
	}
	if err := m.CheckMoments(z, rows.given(), rows.First, i); err != nil {
		return err
	}
	p := cells.At(i)
	if rows.Censored != nil {
		s.censored.Add(*p, v, weight, rows.censored(i))
	}
	if rows.censored(i) {
		return nil // its error is not known
	}
	raw := p.UncorrectedMean()
	mean := p.CorrectedMean(raw)
	if err := model.CheckMean(mean, rows.First, i); err != nil {
		return err
	}
	s.bias.Add(v, weight, mean, raw)
	if scale.Transform == predictive.Logit {
		s.binary.Add(v, weight, mean)
	}
	s.point.Add(v, weight, mean, p.Median(), scale.OnScale(v), scale.LevelOnScale(m.Level(z.Mean[i], rows.given(), i)))
	if s.calibration != nil {
		row := metrics.Observation{Y: v, Weight: weight, Index: uint64(rows.First + i), Seen: math.MaxInt, NewCombination: newCombination[i]}
		row.Entities = entities
		for mode := range rows.Codes {
			row.Entities[mode] = m.FittedCode(mode, rows.Codes[mode][i])
			row.Seen = min(row.Seen, m.TrainingRows(mode, rows.Codes[mode][i]))
		}
		s.calibration.Add(*p, row)
	}
	return nil
}
