package report

import (
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/evaluate"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/tt"
)

// maxMeasured is the largest number of rows that are measured by group, and maxCounts that
// for counts, whose distributions are expensive.
const (
	maxMeasured = 500_000
	maxCounts   = 100_000
)

// measures are what is known of each row of a part.
type measures struct {
	part  dataset.Part
	of    int // rows of the part, of which some are measured
	codes [][]int32
	y     []float64
	mean  []float32
	error []float32 // y - mean, in units of the target
	abs   []float32 // |y - median|
	score []float32 // standardised residual on the modelling scale
	width []float32 // of the 90 % interval
	in90  []float32 // 1 inside of the 90 % interval; between 0 and 1 on its edge, see inside
	rare  []int32   // training rows of the rarest id
	fresh []bool    // the combination of ids is new
}

// measure predicts the rows of a part.
func measure(m *model.Model, f *evaluate.Fitted, part dataset.Part) (*measures, error) {
	rows := f.Part(part)
	out := &measures{part: part, of: len(rows.Y)}
	noise := m.Noise()
	limit := maxMeasured
	if noise.Count() != nil {
		limit = maxCounts
	}
	all := rows
	rows, places := thin(all, limit)
	n := len(rows.Y)
	out.codes = make([][]int32, len(rows.Codes))
	for mode, column := range rows.Codes {
		out.codes[mode] = append([]int32(nil), column...)
	}
	if n == 0 {
		return out, nil
	}
	horizon := evaluate.Horizons(f.Engine, m, rows.Codes)
	m.ForgetUntrained(rows.Codes)
	var z tt.Moments
	if m.Record().Refit.Saw(part) && !m.Saw(part) {
		z = evaluate.PartMoments(f.Engine, m, part, all).Select(places)
	} else {
		z = m.Moments(f.Engine, rows.Codes)
	}
	given := model.Rows{Codes: rows.Codes, Weight: rows.W, Exposure: rows.Exposure, Horizon: horizon}
	out.fresh = m.NewCombinations(1, rows.Codes)
	out.y, out.mean, out.error, out.abs = make([]float64, n), make([]float32, n), make([]float32, n), make([]float32, n)
	out.score, out.width, out.in90, out.rare = make([]float32, n), make([]float32, n), make([]float32, n), make([]int32, n)
	failed := make([]error, n)
	backend.ParallelFor(f.Engine, n, func(i int) {
		if failed[i] = m.CheckMoments(z, given, 0, i); failed[i] != nil {
			return
		}
		p := m.Distribution(z, given, i)
		y := rows.Target(i)
		mean := p.CorrectedMean(p.UncorrectedMean())
		low, high := p.Quantile(.05), p.Quantile(.95)
		out.y[i], out.mean[i], out.error[i], out.abs[i] = y, float32(mean), float32(y-mean), float32(math.Abs(y-p.Median()))
		out.width[i], out.in90[i] = float32(high-low), float32(inside(p.IntervalLimits(y)))
		out.score[i] = float32(p.Score(y, m.Spec().Seed, uint64(i)))
		out.rare[i] = int32(min(evaluate.RarestID(m, given, i), math.MaxInt32))
	})
	for _, err := range failed {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// inside returns the share of the probability of a value that is between the quantiles .05
// and .95, for a value with P(Y < y) = below and P(Y <= y) = upTo. It is 0 or 1 for a value
// without probability of its own. An interval of whole counts has to hold more than 90 % of
// the values; the mean of these shares is 90 % for a calibrated model of any target.
func inside(below, upTo float64) float64 {
	if !(upTo > below) {
		if upTo >= 0.05 && upTo <= 0.95 {
			return 1
		}
		return 0
	}
	return max(0, min(upTo, 0.95)-max(below, 0.05)) / (upTo - below)
}

// thin returns at most n rows that have a target, evenly spaced.
func thin(rows evaluate.Rows, n int) (out evaluate.Rows, places []int) {
	out = evaluate.Rows{Codes: make([][]int32, len(rows.Codes))}
	total := len(rows.Y)
	take := min(n, total)
	for k := range take {
		i := int(int64(k) * int64(total) / int64(take))
		if math.IsNaN(rows.Target(i)) || rows.W != nil && rows.W[i] == 0 {
			continue
		}
		places = append(places, i)
		for mode := range rows.Codes {
			out.Codes[mode] = append(out.Codes[mode], rows.Codes[mode][i])
		}
		out.Y = append(out.Y, rows.Y[i])
		for _, c := range []struct {
			to   *[]float32
			from []float32
		}{{&out.Low, rows.Low}, {&out.W, rows.W}, {&out.Exposure, rows.Exposure}} {
			if c.from != nil {
				*c.to = append(*c.to, c.from[i])
			}
		}
	}
	return out, places
}

// A group sums the measures of rows that have something in common.
type group struct {
	Name                       string
	N                          int
	y, mean, abs, width, score float64
	squares, about, shift      float64 // sums of squared errors and of (y - shift)^2
	in                         float64
}

func (g *group) add(s *measures, i int) {
	y := s.y[i]
	if g.N == 0 {
		g.shift = y // against cancellation for targets far from 0
	}
	g.N++
	g.y += y
	g.about += (y - g.shift) * (y - g.shift)
	g.mean += float64(s.mean[i])
	g.abs += float64(s.abs[i])
	g.width += float64(s.width[i])
	if v := float64(s.score[i]); !math.IsInf(v, 0) && !math.IsNaN(v) {
		g.score += v
	}
	g.squares += float64(s.error[i]) * float64(s.error[i])
	g.in += float64(s.in90[i])
}

func (g *group) coverage() float64 { return g.in / float64(g.N) }
func (g *group) mae() float64      { return g.abs / float64(g.N) }
func (g *group) meanWidth() float64 {
	return g.width / float64(g.N)
}
func (g *group) meanScore() float64 { return g.score / float64(g.N) }
func (g *group) bias() float64      { return g.mean / g.y }

// r2 returns the share of the variance within the group that the means explain.
func (g *group) r2() float64 {
	mean := g.y/float64(g.N) - g.shift
	about := g.about - mean*mean*float64(g.N)
	if !(about > 0) {
		return math.NaN()
	}
	return 1 - g.squares/about
}

// gap returns by how many standard deviations the coverage differs from 90 %, with a
// sign.
func (g *group) gap() float64 {
	return (g.coverage() - 0.9) / math.Sqrt(0.09/float64(g.N))
}

// by groups the rows by a number from 0 to n-1; a negative number is left out.
func (s *measures) by(n int, of func(i int) int, name func(k int) string) []group {
	groups := make([]group, n)
	for i := range s.y {
		if k := of(i); k >= 0 && k < n {
			groups[k].add(s, i)
		}
	}
	var out []group
	for k := range groups {
		if groups[k].N > 0 {
			groups[k].Name = name(k)
			out = append(out, groups[k])
		}
	}
	return out
}
