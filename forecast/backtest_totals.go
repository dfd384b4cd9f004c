package forecast

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/evaluate"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/predictive"
	"github.com/kernel-fried-tensor/kft/tt"
)

// measureTotals adds the totals of a model's forecasts, whose distribution is that of sums of joint
// draws, as in a forecast by groups. It takes a prediction per row and draw.
func (b *backtest) measureTotals(ctx context.Context, k int, m *model.Model, rows evaluate.Rows, divided []division) error {
	if len(divided) == 0 {
		return nil
	}
	drawn, err := m.NewDraws(totalDraws, b.engine.Threads())
	if err != nil {
		return err
	}
	sums := make([]totalSums, len(divided))
	for g, d := range divided {
		sums[g] = newTotalSums(len(d.totals))
	}
	// Blocks are drawn at the same time and added one after the other, so that sums do not depend on the threads.
	n, round := len(rows.Y), b.engine.Threads()
	blocks := make([]block, round)
	for from := 0; from < n; from += round * rowsPerTask {
		if err := ctx.Err(); err != nil {
			return err
		}
		used := min(round, (n-from+rowsPerTask-1)/rowsPerTask)
		for t := range used {
			first := from + t*rowsPerTask
			blocks[t].set(b.engine, m, rows, first, min(n, first+rowsPerTask))
			blocks[t].moments = m.Moments(b.engine, blocks[t].given.Codes)
		}
		failed := make([]error, used)
		backend.ParallelFor(b.engine, used, func(t int) { failed[t] = blocks[t].draw(m, drawn) })
		if err := cmp.Or(failed...); err != nil {
			return err
		}
		backend.ParallelFor(b.engine, totalDraws, func(draw int) {
			for t := range used {
				for g, d := range divided {
					sums[g].add(draw, d.of[blocks[t].first:], blocks[t].draws[draw])
				}
			}
		})
		for t := range used {
			for g, d := range divided {
				for i, mean := range blocks[t].mean {
					sums[g].mean[d.of[blocks[t].first+i]] += mean
				}
			}
		}
	}
	for g, d := range divided {
		for at, c := range d.totals {
			median, meanLog, e := sums[g].evaluate(at, c.actual)
			s := b.sumOf(place{g, ModelMethod, k, c.ahead})
			s.Add(c.actual, 1, sums[g].mean[at], median, meanLog, c.change)
			s.AddDistribution(c.actual, 1, e)
		}
	}
	return nil
}

// A block is some of the rows after an origin, with draws of their values.
type block struct {
	first   int
	given   model.Rows
	ids     [][]int32 // codes of the ids, also of those that the model does not know
	moments tt.Moments
	mean    []float64
	draws   [][]float64 // by draw
}

// set takes the rows from first up to end, which is not included.
func (b *block) set(engine backend.Backend, m *model.Model, rows evaluate.Rows, first, end int) {
	cut := func(v []float32) []float32 {
		if v == nil {
			return nil
		}
		return v[first:end]
	}
	b.first, b.given, b.ids = first, model.Rows{Weight: cut(rows.W), Exposure: cut(rows.Exposure)}, nil
	for _, codes := range rows.Codes {
		b.ids = append(b.ids, codes[first:end])
		b.given.Codes = append(b.given.Codes, slices.Clone(codes[first:end]))
	}
	b.given.Horizon = evaluate.Horizons(engine, m, b.ids)
	m.ForgetUntrained(b.given.Codes)
}

// draw computes means and draws.
func (b *block) draw(m *model.Model, drawn *model.Draws) error {
	n := len(b.ids[0])
	if b.draws == nil {
		b.draws = make([][]float64, totalDraws)
	}
	for k := range b.draws {
		b.draws[k] = slices.Grow(b.draws[k][:0], n)[:n]
	}
	id := func(mode, i int) string { return m.Dicts()[mode].ID(b.ids[mode][i]) }
	if err := drawn.FillRows(b.draws, m, b.moments, b.given, b.first, id); err != nil {
		return err
	}
	cells := m.Distributions(b.moments, b.given)
	b.mean = b.mean[:0]
	for i := range n {
		mean := cells.Mean(i)
		if err := model.CheckMean(mean, b.first, i); err != nil {
			return err
		}
		b.mean = append(b.mean, mean)
	}
	return nil
}

// totalSums are the means and draws of the totals of a grouping.
type totalSums struct {
	mean  []float64
	draws [][]float64 // by draw and total
	one   []float64   // the draws of one total
}

func newTotalSums(totals int) totalSums {
	s := totalSums{mean: make([]float64, totals), draws: make([][]float64, totalDraws), one: make([]float64, totalDraws)}
	for k := range s.draws {
		s.draws[k] = make([]float64, totals)
	}
	return s
}

// add adds a draw of some rows to the totals that they belong to.
func (s *totalSums) add(draw int, of []int32, values []float64) {
	to := s.draws[draw]
	for i, v := range values {
		to[of[i]] += v
	}
}

// evaluate compares the draws of a total with its value.
func (s *totalSums) evaluate(at int, y float64) (median, meanLog float64, e predictive.Evaluation) {
	for k, draws := range s.draws {
		s.one[k] = draws[at]
		meanLog += math.Log1p(max(draws[at], 0)) / float64(len(s.draws))
	}
	slices.Sort(s.one)
	for i, p := range predictive.SummaryLevels {
		e.Quantiles[i] = quantileOf(s.one, p)
	}
	// Of n draws and the value, each order has the same probability if the draws are right.
	below, _ := slices.BinarySearch(s.one, y)
	upTo, _ := slices.BinarySearchFunc(s.one, y, func(draw, y float64) int {
		if draw <= y {
			return -1
		}
		return 1
	})
	e.Below, e.UpTo = float64(below)/float64(len(s.one)+1), float64(upTo+1)/float64(len(s.one)+1)
	e.Limits = [2]float64{e.Below, e.UpTo}
	return e.Quantiles[2], meanLog, e
}
