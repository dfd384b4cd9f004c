package forecast

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/baseline"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/evaluate"
	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/train/fitdata"
)

// rowsPerTask is the number of rows that one task measures. The cut depends only on the
// data, so sums do not depend on the number of threads.
const rowsPerTask = 8192

// measureModel adds the forecasts of a model for rows that are ahead periods after its
// last training period.
func (b *backtest) measureModel(k int, m *model.Model, rows evaluate.Rows, ahead []int, changes []metrics.Change) error {
	rows.Horizon = evaluate.Horizons(b.engine, m, rows.Codes)
	m.ForgetUntrained(rows.Codes)
	given := model.Rows{Codes: rows.Codes, Weight: rows.W, Exposure: rows.Exposure, Horizon: rows.Horizon}
	z := m.Moments(b.engine, rows.Codes)
	n, seed := len(rows.Y), m.Spec().Seed
	score, location := make([]float64, n), make([]float64, n)
	tasks := make([][]metrics.ForecastSums, (n+rowsPerTask-1)/rowsPerTask)
	failed := make([]error, len(tasks))
	backend.ParallelFor(b.engine, len(tasks), func(t int) {
		tasks[t] = make([]metrics.ForecastSums, b.opt.Horizon+1)
		for i := t * rowsPerTask; i < min(n, (t+1)*rowsPerTask); i++ {
			y, w := dataset.TargetAt(rows.Y, rows.Low, i), weightOf(rows, i)
			err := m.CheckMoments(z, given, 0, i)
			p := m.Distribution(z, given, i)
			mean := p.CorrectedMean(p.UncorrectedMean())
			if err == nil {
				err = model.CheckMean(mean, 0, i)
			}
			if err != nil {
				failed[t] = err
				return
			}
			e := p.Evaluate(y)
			s, bare := &tasks[t][ahead[i]], m.Uncorrected(z, given, i)
			s.Add(y, w, mean, e.Quantiles[2], bare.MeanLog1p(), changes[i])
			s.AddDistribution(y, w, e)
			score[i], location[i] = bare.Score(y, seed, uint64(i)), bare.Location()
		}
	})
	for t, sums := range tasks {
		if failed[t] != nil {
			return failed[t]
		}
		for h := 1; h <= b.opt.Horizon; h++ {
			b.sumOf(place{-1, ModelMethod, k, h}).Merge(&sums[h])
		}
	}
	for i, s := range score {
		if math.IsNaN(s) || math.IsInf(s, 0) {
			continue
		}
		b.score, b.location, b.horizon = append(b.score, s), append(b.location, location[i]), append(b.horizon, int32(ahead[i]))
		block := b.blocks
		if series := m.Series(); series != nil {
			block += 1 + series.Find(rows.Codes, i)
		}
		b.block = append(b.block, block)
	}
	b.blocks++
	if series := m.Series(); series != nil {
		b.blocks += series.Len()
	}
	return nil
}

func weightOf(rows evaluate.Rows, i int) float64 {
	if rows.W == nil {
		return 1
	}
	return float64(rows.W[i])
}

// measureFormulas adds the forecasts of the formulas and of their best mix.
func (b *backtest) measureFormulas(k int, origin int64, known, rows fitdata.Rows, ahead []int, changes []metrics.Change, divided []division) error {
	formulas, predicted := b.classics(known, rows)
	earlier, err := b.data.Between(b.time, b.steps, 0, origin-int64(b.opt.Horizon))
	if err != nil {
		return err
	}
	later, err := b.data.Between(b.time, b.steps, origin-int64(b.opt.Horizon)+1, origin)
	if err != nil {
		return err
	}
	names, before := []string(nil), [][]float64(nil)
	if len(earlier.Y) > 0 && len(later.Y) > 0 {
		names, before = b.classics(earlier, later)
	}
	add := func(method string, values func(i int) float64) {
		sums := make([]metrics.ForecastSums, b.opt.Horizon+1)
		for i := range rows.Y {
			v := values(i)
			sums[ahead[i]].Add(dataset.TargetAt(rows.Y, rows.Low, i), weightOf(rows.Rows, i), v, v, math.Log1p(max(v, 0)), changes[i])
		}
		for h := 1; h <= b.opt.Horizon; h++ {
			b.sumOf(place{-1, method, k, h}).Merge(&sums[h])
		}
		for g, d := range divided {
			predicted := make([]float64, len(d.totals))
			for i, at := range d.of {
				predicted[at] += values(i)
			}
			for at, c := range d.totals {
				v := predicted[at]
				b.sumOf(place{g, method, k, c.ahead}).Add(c.actual, 1, v, v, math.Log1p(max(v, 0)), c.change)
			}
		}
	}
	for f, name := range formulas {
		add(name, func(i int) float64 { return predicted[f][i] })
	}
	if !slices.Equal(names, formulas) {
		return nil // the earlier rows do not allow all formulas, so there is nothing to learn a mix from
	}
	y := make([]float64, len(later.Y))
	for i := range y {
		y[i] = dataset.TargetAt(later.Y, later.Low, i)
	}
	shares := baseline.Mix(before, y)
	var text []string
	for f, s := range shares {
		if s > 0 {
			text = append(text, fmt.Sprintf("%.2g %s", s, formulas[f]))
		}
	}
	b.result.Mix = strings.Join(text, " + ")
	add(MixMethod, func(i int) float64 {
		v := 0.0
		for f, s := range shares {
			v += s * predicted[f][i]
		}
		return v
	})
	return nil
}

// classics fits the formulas to the known rows and returns their predictions of later ones.
func (b *backtest) classics(known, later fitdata.Rows) (names []string, predicted [][]float64) {
	modes := append(slices.Clone(b.keys), b.time) // covariates do not make series
	table := baseline.Table{Threads: b.engine.Threads(), Time: &baseline.Time{Mode: len(b.keys), Seasons: baseline.SeasonsOf(b.line)}}
	table.Time.Periods[baseline.Train], table.Time.Periods[baseline.Test] = known.Step, later.Step
	train, codes := formulaRows(known.Rows), make([][]int32, len(modes))
	train.Codes = nil
	for k, m := range modes {
		train.Codes = append(train.Codes, known.Codes[m])
		table.Names = append(table.Names, b.data.Modes()[m].Name)
		table.Sizes = append(table.Sizes, len(b.data.IDs(m)))
		seen := make([]bool, table.Sizes[k])
		for _, c := range known.Codes[m] {
			seen[c] = true
		}
		codes[k] = slices.Clone(later.Codes[m])
		for i, c := range codes[k] {
			if !seen[c] {
				codes[k][i] = -1
			}
		}
	}
	table.Parts[baseline.Train], table.Parts[baseline.Test] = train, baseline.Rows{Codes: codes}
	for _, f := range baseline.Classics(baseline.Fit(table)) {
		values := make([]float64, len(later.Y))
		for from := 0; from < len(values); from += rowsPerTask {
			f.Predict(baseline.Test, from, values[from:min(from+rowsPerTask, len(values))])
		}
		if later.Exposure != nil {
			for i, e := range later.Exposure {
				values[i] *= float64(e)
			}
		}
		name, _, _ := strings.Cut(strings.TrimSuffix(f.Name, " of all rows"), " by ") // all formulas are by series
		names, predicted = append(names, name), append(predicted, values)
	}
	return names, predicted
}

// formulaRows returns rates and their weights if the rows have exposures.
func formulaRows(rows evaluate.Rows) baseline.Rows {
	out := baseline.Rows{Codes: rows.Codes, Y: rows.Y, W: rows.W}
	if rows.Exposure != nil {
		out.Y, out.W = make([]float32, len(rows.Y)), make([]float32, len(rows.Y))
		for i, e := range rows.Exposure {
			out.Y[i], out.W[i] = rows.Y[i]/e, float32(weightOf(rows, i))*e
		}
	}
	return out
}

// changes returns the change of the series of each row, from the known rows.
func (b *backtest) changes(known, rows evaluate.Rows) []metrics.Change {
	key := func(codes [][]int32, i int) uint64 {
		k := uint64(0)
		for _, m := range b.keys {
			k = k*uint64(len(b.data.IDs(m))) + uint64(codes[m][i])
		}
		return k
	}
	wanted := map[uint64]int{}
	of := make([]int, len(rows.Y))
	for i := range rows.Y {
		k := key(rows.Codes, i)
		if _, seen := wanted[k]; !seen {
			wanted[k] = len(wanted)
		}
		of[i] = wanted[k]
	}
	type row struct {
		series int
		step   int64
		y      float64
	}
	var history []row
	for i := range known.Y {
		if s, seen := wanted[key(known.Codes, i)]; seen {
			history = append(history, row{s, b.steps[known.Codes[b.time][i]], dataset.TargetAt(known.Y, known.Low, i)})
		}
	}
	slices.SortStableFunc(history, func(x, y row) int {
		return cmp.Or(cmp.Compare(x.series, y.series), cmp.Compare(x.step, y.step))
	})
	sums, counts := make([]metrics.Change, len(wanted)), make([]float64, len(wanted))
	for i := 1; i < len(history); i++ {
		if s := history[i].series; s == history[i-1].series {
			d := history[i].y - history[i-1].y
			sums[s].Absolute += math.Abs(d)
			sums[s].Squared += d * d
			counts[s]++
		}
	}
	out := make([]metrics.Change, len(rows.Y))
	for i, s := range of {
		if counts[s] > 0 {
			out[i] = metrics.Change{Absolute: sums[s].Absolute / counts[s], Squared: sums[s].Squared / counts[s]}
		}
	}
	return out
}
