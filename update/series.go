package update

import (
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/series"
	"github.com/kernel-fried-tensor/kft/tt/seriesterm"
)

// A seriesBlock is a series term whose series take in rows.
type seriesBlock struct {
	term  *seriesterm.Term
	known map[int32]*seriesSlot
	fresh map[string]*seriesSlot
	slots []*seriesSlot
}

// A seriesSlot is one series. Its sites are those of the fit, changed by the rows.
type seriesSlot struct {
	block  *seriesBlock
	entity int32 // in the fitted term, -1 for a series without training data
	combo  []int32

	fitted []series.Point
	rows   []seriesRow
	sites  []series.Point // after relax
}

type seriesRow struct {
	row   int32
	step  int32
	start float64 // mean at the fit
	mean  float64 // current mean
}

// newSeriesSlot returns the slot of a series.
func newSeriesSlot(b *seriesBlock, entity int32, combo []int32) *seriesSlot {
	s := &seriesSlot{block: b, entity: entity, combo: combo}
	if entity >= 0 {
		p := b.term.Process
		for i := p.Start[entity]; i < p.Start[entity+1]; i++ {
			s.fitted = append(s.fitted, series.Point{Step: p.Step[i], Value: float64(p.Value[i]), Precision: float64(p.Precision[i])})
		}
	}
	s.sites = s.fitted
	return s
}

// at returns mean and variance of the series at ascending steps.
func (s *seriesSlot) at(steps []int32) (mean, variance []float32) {
	p := &series.Process{Prior: s.block.term.Prior, Start: []int32{0, int32(len(s.sites))}}
	if scale := s.block.term.Scale; scale != nil && s.entity >= 0 {
		p.Scale = scale[s.entity : s.entity+1]
	}
	for _, site := range s.sites {
		p.Step, p.Value, p.Precision = append(p.Step, site.Step), append(p.Value, float32(site.Value)), append(p.Precision, float32(site.Precision))
	}
	mean, variance = make([]float32, len(steps)), make([]float32, len(steps))
	p.NewReader().At(0, steps, mean, variance)
	return mean, variance
}

// asFitted returns the series as the fit left it.
func (s *seriesSlot) asFitted() *seriesSlot {
	return &seriesSlot{block: s.block, entity: s.entity, sites: s.fitted}
}

// addRow adds a row of the ledger, whose series had the given mean at the fit.
func (s *seriesSlot) addRow(row, step int32) {
	mean, _ := s.asFitted().at([]int32{step})
	now, _ := s.at([]int32{step})
	at, _ := slices.BinarySearchFunc(s.rows, step, func(r seriesRow, step int32) int { return int(r.step) - int(step) })
	s.rows = slices.Insert(s.rows, at, seriesRow{row: row, step: step, start: float64(mean[0]), mean: float64(now[0])})
}

// roundingShare is the share of a precision that rounding to float32 can leave when all
// rows of a site are taken out.
const roundingShare = 1e-4

func (s *seriesSlot) relax(st *state) (float64, error) {
	sites := slices.Clone(s.fitted)
	for i := 0; i < len(s.rows); {
		step := s.rows[i].step
		weight, sum, removed := 0.0, 0.0, 0.0
		for ; i < len(s.rows) && s.rows[i].step == step; i++ {
			row := s.rows[i]
			w := st.weight[row.row]
			weight += w
			if w > 0 {
				sum += w * (st.residual(row.row) + row.mean)
			} else {
				sum += w * (st.target[row.row] - st.mean[row.row] + row.start) // as the fit left it
			}
			removed += math.Max(-w, 0)
		}
		at, found := slices.BinarySearchFunc(sites, step, func(p series.Point, step int32) int { return int(p.Step) - int(step) })
		if !found {
			sites = slices.Insert(sites, at, series.Point{Step: step})
		}
		p := &sites[at]
		sum += p.Precision * p.Value
		weight += p.Precision
		switch {
		case weight > roundingShare*removed:
			p.Precision, p.Value = weight, sum/weight
		case weight >= -roundingShare*removed:
			p.Precision, p.Value = 0, 0
		default:
			return 0, &takenOutError{s.rows[i-1].row}
		}
	}
	s.sites = sites
	steps := make([]int32, len(s.rows))
	for i, row := range s.rows {
		steps[i] = row.step
	}
	mean, variance := s.at(steps)
	size := 0.0
	for i := range s.rows {
		row := &s.rows[i]
		change := float64(mean[i]) - row.mean
		st.moved[row.row] += change
		row.mean += change
		size = math.Max(size, math.Abs(change)/math.Sqrt(math.Max(float64(variance[i]), leastVariance)))
	}
	return size, nil
}

// distance returns how far the series moved at its rows, in standard deviations of the
// fit.
func (s *seriesSlot) distance() float64 {
	steps := make([]int32, len(s.rows))
	for i, row := range s.rows {
		steps[i] = row.step
	}
	_, variance := s.asFitted().at(steps)
	sum := 0.0
	for i, row := range s.rows {
		d := row.mean - row.start
		sum += d * d / math.Max(float64(variance[i]), leastVariance)
	}
	return math.Sqrt(sum / float64(max(len(s.rows), 1)))
}
