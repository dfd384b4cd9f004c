package update

import (
	"math"

	"github.com/kernel-fried-tensor/kft/ledger"
	"github.com/kernel-fried-tensor/kft/likelihood"
	"github.com/kernel-fried-tensor/kft/model"
)

// lawOf returns the likelihood of a model on the standardised scale, nil for Gaussian
// noise.
func lawOf(m *model.Model, book *ledger.Ledger) likelihood.Law {
	n, spread := m.Noise(), m.Scale().Spread
	if law, ok := n.Count().(likelihood.Law); ok {
		return law
	}
	switch {
	case n.Bernoulli != nil:
		return likelihood.Bernoulli{} // without the calibration of its probabilities
	case n.Ordinal != nil:
		return *n.Ordinal
	case n.Student != nil:
		law := *n.Student
		law.Variance /= spread * spread * book.Weight
		return law
	case m.Spec().Data.Censored != "" && n.Constant != nil:
		return likelihood.Censored{Variance: n.Constant.Variance / (spread * spread * book.Weight)}
	}
	return nil
}

// weightOf returns the weight of a row relative to the mean weight of the training rows.
func (s *state) weightOf(row int32) float64 {
	if s.rows.W == nil {
		return 1 / s.book.Weight
	}
	return float64(s.rows.W[row]) / s.book.Weight
}

// site returns the Gaussian observation of a row at the moments of the fit, or at the
// current ones if the row has another likelihood.
func (s *state) site(row int32) (target, weight float64) {
	target, weight = s.ownSite(row)
	return target, s.seen(row, weight)
}

// seen returns the precision of a row, given that of its value, if a part of the field at the row is not one that
// rows move: what a curve does beyond the range of the fit, which is then noise. The fit had no such rows.
func (s *state) seen(row int32, weight float64) float64 {
	if weight > 0 {
		weight /= 1 + weight*s.lost[row]
	}
	return weight
}

func (s *state) ownSite(row int32) (target, weight float64) {
	sign := s.rows.Sign(int(row))
	if s.law != nil {
		mean := s.mean[row]
		if sign > 0 {
			mean += s.moved[row]
		}
		return s.lawSite(row, mean, s.variance[row], true)
	}
	var z [1]float32
	if err := s.fitted.Scale().ForwardEach(z[:], func(int) float64 { return s.rows.Y[row] }); err != nil {
		panic("update: " + err.Error()) // rows were checked
	}
	weight = s.weightOf(row) / s.book.Noise
	if s.fitted.Spec().Uncertainty.NoiseUse == "fit" {
		weight = s.ownWeight(row) / s.book.Noise
	}
	return float64(z[0]), sign * weight
}

// ownWeight returns the precision of a row whose noise depends on its entities or size.
func (s *state) ownWeight(row int32) float64 {
	scale, noise := s.fitted.Scale(), s.fitted.Noise()
	codes := make([][]int32, len(s.rows.Codes))
	for m := range codes {
		codes[m] = s.rows.Codes[m][row : row+1]
	}
	variance := noise.UnitVariance(scale.Location(float32(s.mean[row])), codes, 0)
	return s.weightOf(row) * s.book.Weight * scale.Spread * scale.Spread / variance
}

// lawSite returns the site of a row at a mean and a variance of the field. bound takes the
// site of a lower bound of the likelihood, which does not overshoot.
func (s *state) lawSite(row int32, mean, variance float64, bound bool) (target, weight float64) {
	offset := s.offset(row)
	y := float32(s.rows.Y[row])
	if scale := s.fitted.Scale(); !scale.Transform.Linked() {
		var z [1]float32
		if err := scale.ForwardEach(z[:], func(int) float64 { return s.rows.Y[row] }); err != nil {
			panic("update: " + err.Error()) // rows were checked
		}
		y = z[0]
	}
	cells := likelihood.Cells{Y: []float32{y}, Mean: []float32{float32(mean + offset)}, Variance: []float32{float32(variance)}, Weight: []float32{float32(s.weightOf(row))}}
	if s.rows.Censored != nil {
		cells.Censored = s.rows.Censored[row : row+1]
	}
	out := likelihood.Sites{Target: make([]float32, 1), Precision: make([]float32, 1)}
	if bound {
		s.law.Bound(cells, out, nil)
	} else {
		s.law.Sites(cells, out, nil)
	}
	return float64(out.Target[0]) - offset, s.rows.Sign(int(row)) * float64(out.Precision[0])
}

// offset returns what is added to the field at a row of a likelihood with a link.
func (s *state) offset(row int32) float64 {
	scale := s.fitted.Scale()
	if !scale.Transform.Linked() {
		return 0
	}
	offset := scale.Center
	if s.rows.Exposure != nil {
		offset += math.Log(float64(s.rows.Exposure[row]))
	}
	return offset
}

// Rounds of sites: the first take those of the bound, the others are mixed with those
// before.
const (
	boundRounds = 5
	mostRounds  = 40
	siteMix     = 0.5
)

// settle alternates between blocks and sites until the sites of the given rows agree with
// the posterior. Gaussian rows need no more than one round.
func (s *state) settle(blocks []mover, rows []int32, passes int) error {
	if err := s.relax(blocks, passes); err != nil || s.law == nil {
		return err
	}
	for round := range mostRounds {
		most := 0.0
		for _, row := range rows {
			most = math.Max(most, s.resite(row, round < boundRounds))
		}
		s.regather()
		if err := s.relax(blocks, passes); err != nil {
			return err
		}
		if round >= boundRounds && most < tolerance {
			break
		}
	}
	return nil
}

// resite moves the site of a row to the current posterior, and returns by how much its
// target moved in standard deviations of the site. The site of a removed training row is
// that of the fit.
func (s *state) resite(row int32, bound bool) float64 {
	if s.weight[row] <= 0 {
		return 0
	}
	variance := s.variance[row]
	for _, l := range s.links[row] {
		if l.slot.block.shared {
			continue // few rows change little of what all rows say
		}
		variance += l.slot.quadratic(s, l.x) - l.prior
	}
	target, weight := s.lawSite(row, s.mean[row]+s.moved[row], math.Max(variance, 0), bound)
	weight = s.seen(row, weight)
	if !bound && s.law.Damped() {
		old, fresh := (1-siteMix)*s.weight[row], siteMix*weight
		if weight = old + fresh; weight > 0 {
			target = (old*s.target[row] + fresh*target) / weight
		}
	}
	if !(weight > 0) || math.IsInf(weight, 0) || math.IsNaN(target) || math.IsInf(target, 0) {
		return 0
	}
	change := weight - s.weight[row]
	for _, l := range s.links[row] {
		if l.slot.block.shared {
			continue // see regather
		}
		l.slot.add(change, design{x: l.x, c: l.c, spread: l.spread})
	}
	distance := math.Abs(target-s.target[row]) * math.Sqrt(weight)
	s.target[row], s.weight[row] = target, weight
	return distance
}
