package evaluate

import (
	"cmp"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/copula"
	"github.com/kernel-fried-tensor/kft/internal/gather"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/entity"
)

// Forecasts are rows of known values after the training rows of a model, with their horizons.
type Forecasts struct {
	Model *model.Model
	Rows  Rows
}

const (
	copulaRows  = 100_000 // most rows from which a copula is learned
	copulaDraws = 32      // draws of each
)

// Copula learns what the errors of forecasts from several origins have in common beyond what draws of the models have, given the
// training rows before the first of them. It is nil if there is nothing. It takes a prediction for each row and draw.
func Copula(b backend.Backend, origins []Forecasts, history copula.Series) (*copula.Copula, error) {
	all := copula.Rows{Drawn: make([][]float32, copulaDraws)}
	for origin, f := range origins {
		if err := f.add(b, &all, int32(origin), copulaRows/len(origins)); err != nil {
			return nil, err
		}
	}
	return copula.Learn(b.Threads(), all, history), nil
}

// add adds the scores of at most so many rows.
func (f Forecasts) add(b backend.Backend, all *copula.Rows, origin int32, most int) error {
	m, series := f.Model, f.Model.Series()
	var some []int
	n := len(f.Rows.Y)
	for k := range min(n, most) {
		i := k * n / min(n, most)
		unknown := slices.ContainsFunc(series.Keys, func(mode int) bool { return entity.CodeOf(f.Rows.Codes[mode][i]) == entity.Unknown })
		if !unknown && f.Rows.Horizon[i] >= 1 && !math.IsNaN(f.Rows.Target(i)) {
			some = append(some, i)
		}
	}
	if len(some) == 0 {
		return nil
	}
	drawn, err := m.NewScoreDraws(copulaDraws, b.Threads())
	if err != nil {
		return err
	}
	codes := gather.All(f.Rows.Codes, some)
	z := m.Moments(b, codes)
	score, weight, mean, draws := make([]float64, len(some)), make([]float64, len(some)), make([]float64, len(some)), make([][]float32, copulaDraws)
	for k := range draws {
		draws[k] = make([]float32, len(some))
	}
	failed := make([]error, (len(some)+rowsPerPiece-1)/rowsPerPiece)
	backend.ParallelFor(b, len(failed), func(piece int) {
		from, to := piece*rowsPerPiece, min((piece+1)*rowsPerPiece, len(some))
		own := some[from:to]
		rows := model.Rows{Codes: gather.All(f.Rows.Codes, own), Weight: gather.Rows(f.Rows.W, own), Exposure: gather.Rows(f.Rows.Exposure, own), Horizon: gather.Rows(f.Rows.Horizon, own)}
		at := tt.Moments{Mean: z.Mean[from:to]}
		if z.Var != nil {
			at.Var = z.Var[from:to]
		}
		wide := make([][]float64, copulaDraws)
		for k := range wide {
			wide[k] = make([]float64, len(own))
		}
		id := func(mode, i int) string {
			if code := entity.CodeOf(rows.Codes[mode][i]); code != entity.Unknown {
				return m.Dicts()[mode].ID(code)
			}
			return "" // a period
		}
		if failed[piece] = drawn.FillRows(wide, m, at, rows, from, id); failed[piece] != nil {
			return
		}
		cells := m.Distributions(at, rows)
		for i, row := range own {
			score[from+i] = drawn.Score(&cells, i, f.Rows.Target(row))
			moments := cells.At(i).Moments()
			mean[from+i], weight[from+i] = moments.Mean, moments.SD
			centre := 0.0
			for k := range wide {
				centre += wide[k][i] / copulaDraws
			}
			for k := range wide { // as large as around the mean of all draws
				draws[k][from+i] = float32((wide[k][i] - centre) * math.Sqrt(copulaDraws/(copulaDraws-1.0)))
			}
		}
	})
	if err := cmp.Or(failed...); err != nil {
		return err
	}
	for k := range draws {
		all.Drawn[k] = append(all.Drawn[k], draws[k]...)
	}
	all.Score, all.Weight, all.Mean = append(all.Score, score...), append(all.Weight, weight...), append(all.Mean, mean...)
	if all.Keys == nil {
		all.Keys = make([][]int32, len(series.Keys))
	}
	for i, row := range some {
		for k, mode := range series.Keys {
			all.Keys[k] = append(all.Keys[k], entity.CodeOf(codes[mode][i]))
		}
		horizon := f.Rows.Horizon[row]
		all.Origin, all.Horizon = append(all.Origin, origin), append(all.Horizon, horizon)
		all.Period = append(all.Period, int32(series.OriginOf(codes, i))+horizon)
	}
	return nil
}
