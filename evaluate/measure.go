package evaluate

import (
	"cmp"
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/peers"
	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
	"github.com/kernel-fried-tensor/kft/solver"
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

// rowsPerTask is the number of rows that one task measures. The cut depends only on the data, so
// sums do not depend on the number of threads.
const rowsPerTask = 4096

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

// RowsOf returns observations as rows.
func RowsOf(o *solver.Observations) Rows {
	return Rows{Codes: o.Codes, Y: o.Y, Low: o.Low, W: o.W, Exposure: o.Exposure, Censored: o.Censored}
}

// Target returns the target of row i, NaN if it is missing.
func (r Rows) Target(i int) float64 { return dataset.TargetAt(r.Y, r.Low, i) }

// weight returns the weight of row i.
func (r Rows) weight(i int) float64 {
	if r.W == nil {
		return 1
	}
	return float64(r.W[i])
}

// censored reports whether the target of row i is known from below only.
func (r Rows) censored(i int) bool { return r.Censored != nil && r.Censored[i] > 0 }

// given returns what predictions of the rows depend on.
func (r Rows) given() model.Rows {
	return model.Rows{Codes: r.Codes, Weight: r.W, Exposure: r.Exposure, Horizon: r.Horizon}
}

// Measure compares predictions, given by their moments on the modelling scale, with
// the targets of rows. Rows without a target or of weight 0 are skipped. A target outside the
// transform's domain is a *targetscale.DomainError.
func Measure(b backend.Backend, m *model.Model, z tt.Moments, rows Rows, calibration bool) (*Sums, error) {
	tasks, outcomes, err := measureTasks(b, m, z, rows, calibration)
	if err != nil {
		return nil, err
	}
	return total(b, nil, m, rows, calibration, tasks, outcomes), nil
}

// An outcome tells what of a row is counted for its entities.
type outcome uint8

const (
	uncounted outcome = iota
	outside           // of the 90 % interval
	inside
)

// measureTasks measures rows in tasks. It returns the sums of each, without those by entity, and
// the outcomes of the rows if calibration is asked for.
func measureTasks(b backend.Backend, m *model.Model, z tt.Moments, rows Rows, calibration bool) ([]*Sums, []outcome, error) {
	n := len(rows.Y)
	var newCombination []bool
	var outcomes []outcome
	if calibration && n > 0 {
		newCombination, outcomes = m.NewCombinations(b.Threads(), rows.Codes), make([]outcome, n)
	}
	tasks := make([]*Sums, (n+rowsPerTask-1)/rowsPerTask)
	failed := make([]error, len(tasks))
	parallel.For(b.Threads(), len(tasks), func(k int) {
		sums, scale := newSums(m, calibration), m.Scale()
		cells := m.Distributions(z, rows.given())
		for i := k * rowsPerTask; i < min(n, (k+1)*rowsPerTask) && failed[k] == nil; i++ {
			failed[k] = sums.add(m, scale, z, rows, i, &cells, newCombination, outcomes)
		}
		tasks[k] = sums
	})
	return tasks, outcomes, cmp.Or(failed...)
}

// total adds the sums of tasks of rows in order, and counts the outcomes by entity. The processes
// of a group, which may be nil, count those of some modes each.
func total(b backend.Backend, group peers.Group, m *model.Model, rows Rows, calibration bool, tasks []*Sums, outcomes []outcome) *Sums {
	total := newSums(m, calibration)
	for _, s := range tasks {
		total.merge(s)
	}
	if calibration {
		runs := max(1, b.Threads()/len(rows.Codes)) // of the ids of a mode; each is counted in the order of the rows
		for mode := range rows.Codes {
			total.calibration.Reserve(mode, m.FittedCodes(mode))
		}
		parallel.For(b.Threads(), len(rows.Codes)*runs, func(k int) {
			mode, ids := k/runs, m.FittedCodes(k/runs)
			if group != nil && mode%group.Size() != group.Rank() {
				return
			}
			from, to := int32(ids*(k%runs)/runs), int32(ids*(k%runs+1)/runs)
			for i, code := range rows.Codes[mode] {
				if code >= from && code < to && outcomes[i] != uncounted {
					total.calibration.AddEntity(mode, code, rows.weight(i), outcomes[i] == inside)
				}
			}
		})
		if group != nil {
			total.calibration.ShareEntities(group)
		}
	}
	return total
}

// add measures row i.
func (s *Sums) add(m *model.Model, scale targetscale.Scale, z tt.Moments, rows Rows, i int, cells *model.Distributions, newCombination []bool, outcomes []outcome) error {
	v := rows.Target(i)
	if math.IsNaN(v) || rows.W != nil && rows.W[i] == 0 {
		return nil
	}
	if err := m.CheckTarget(rows.Y, i); err != nil {
		return err
	}
	weight := rows.weight(i)
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
	if scale.Transform == targetscale.Logit {
		s.binary.Add(v, weight, mean)
	}
	s.point.Add(v, weight, mean, p.Median(), scale.OnScale(v), scale.LevelOnScale(m.Level(z.Mean[i], rows.given(), i)))
	if s.calibration != nil {
		row := metrics.Observation{Y: v, Weight: weight, Index: uint64(rows.First + i), NewCombination: newCombination[i]}
		row.Seen = RarestID(m, rows.given(), i)
		outcomes[i] = outside
		if s.calibration.Add(*p, row) {
			outcomes[i] = inside
		}
	}
	return nil
}

// RarestID returns the number of training rows of the id of row i that has the fewest. The period
// of a forecast does not count, because every one is new, nor do numbers such as a price.
func RarestID(m *model.Model, rows model.Rows, i int) int {
	time := -1
	if s := m.Series(); s != nil && rows.Horizon != nil && rows.Horizon[i] > 0 {
		time = s.Time
	}
	fewest := math.MaxInt
	for mode, codes := range rows.Codes {
		if mode != time && m.HasIDs(mode) {
			fewest = min(fewest, m.TrainingRows(mode, codes[i]))
		}
	}
	return fewest
}
