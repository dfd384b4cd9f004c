package update

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/evaluate"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/ledger"
	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/model"
)

// coldLevels are the numbers of rows after which new ids are measured; the last stands for
// all rows that are not measured, if these are not too many.
var coldLevels = []int{0, 1, 3, 10, 30, AllRows}

// AllRows is the number of rows of a [ColdLevel] with all rows that are not measured.
const AllRows = -1

// mostColdRows is the largest number of rows that an evaluation takes in.
const mostColdRows = 250_000

// A ColdReport measures a model on ids of a mode that have no training rows: before any
// row of them was taken in, and after some.
type ColdReport struct {
	Mode   string      `json:"mode"`
	IDs    int         `json:"ids"`
	Levels []ColdLevel `json:"levels"`
}

// A ColdLevel has the measures after a number of rows of each id was taken in. They are
// over rows that are never taken in, of the ids with enough others. Before are the
// measures of the same rows without any row taken in.
type ColdLevel struct {
	Rows   int           `json:"rows"` // taken in, per id; AllRows for all others
	IDs    int           `json:"ids"`
	Score  metrics.Score `json:"score"`
	Before metrics.Score `json:"before"`
}

// Cold measures a model on the rows of a table whose id of a mode has no training rows. Half
// of the rows of such an id, drawn with the seed of the model, are measured; of the others
// 0, 1, 3, 10, 30 and all are taken in. part restricts the rows to a part of the fitted table,
// nil for all.
func Cold(ctx context.Context, m *model.Model, source tableio.Source, mode string, part *dataset.Part, table model.TableOptions) (*ColdReport, error) {
	at := slices.Index(m.Spec().ModeNames(), mode)
	if at < 0 {
		return nil, fielderr.Errorf("data.modes", "the model has no mode %q", mode)
	}
	u, err := New(m, table.Threads)
	if err != nil {
		return nil, err
	}
	rows, err := u.coldRows(ctx, source, part, table, at)
	if err != nil {
		return nil, err
	}
	measured, pool, ids := divide(rows, at, m.Spec().Seed)
	if ids == 0 {
		return nil, fielderr.Errorf("split", "%v: no %s without training rows has two rows or more; fit with a split by entity, as in entity:%s=10%%", source, mode, mode)
	}
	report := &ColdReport{Mode: mode, IDs: ids}
	cold, err := u.Model()
	if err != nil {
		return nil, err
	}
	for _, n := range coldLevels {
		var take []int
		enough := map[int32]bool{}
		for code, own := range pool {
			if len(own) >= n {
				enough[code] = true
				if n == AllRows {
					take = append(take, own...)
				} else {
					take = append(take, own[:n]...)
				}
			}
		}
		if len(enough) == 0 || len(take) > mostColdRows {
			continue
		}
		slices.Sort(take)
		keep := slices.DeleteFunc(slices.Clone(measured), func(i int) bool { return !enough[rows.Codes[at][i]] })
		level := ColdLevel{Rows: n, IDs: len(enough)}
		if level.Before, err = u.measure(cold, rows.Select(keep)); err != nil {
			return nil, err
		}
		level.Score = level.Before
		if n != 0 {
			book := *m.Ledger()
			book.Rows = u.state.rows.Append(rows.Select(take))
			s, err := replay(u.state.fitted, &book, u.state.engine)
			if err != nil {
				return nil, err
			}
			warm, err := s.model()
			if err != nil {
				return nil, err
			}
			if level.Score, err = u.measure(warm, rows.Select(keep)); err != nil {
				return nil, err
			}
		}
		report.Levels = append(report.Levels, level)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return report, nil
}

// coldRows returns the rows of a table whose id of a mode has no rows in the model, which
// then contains their ids.
func (u *Updater) coldRows(ctx context.Context, source tableio.Source, part *dataset.Part, table model.TableOptions, at int) (ledger.Rows, error) {
	var all ledger.Rows
	if part != nil {
		fitted, err := evaluate.ReadFitted(ctx, u.state.fitted, source, table)
		if err != nil {
			return all, err
		}
		r := fitted.Part(*part)
		all = ledger.Rows{Codes: r.Codes, Y: make([]float64, len(r.Y)), W: r.W, Exposure: r.Exposure, Censored: r.Censored}
		for i := range all.Y {
			all.Y[i] = r.Target(i)
		}
	} else {
		b, _, err := u.read(ctx, source, table)
		if err != nil {
			return all, err
		}
		grown, err := u.state.withIDs(b, &Report{})
		if err != nil {
			return all, err
		}
		u.state.setFitted(grown)
		all = b.rows
	}
	var cold []int
	for i := range all.Len() {
		if !math.IsNaN(all.Y[i]) && !u.state.hasRows(at, all.Codes[at][i]) {
			cold = append(cold, i)
		}
	}
	if len(cold) == 0 {
		return all, fielderr.Errorf("split", "%v: all rows have ids with training rows; fit with a split by entity, as in entity:%s=10%%", source, u.state.fitted.Modes()[at].Name)
	}
	return all.Select(cold), nil
}

// divide draws half of the rows of each id that are measured, and the order in which the
// others are taken in.
func divide(rows ledger.Rows, at int, seed uint64) (measured []int, pool map[int32][]int, ids int) {
	own := map[int32][]int{}
	for i, code := range rows.Codes[at] {
		own[code] = append(own[code], i)
	}
	pool = map[int32][]int{}
	for code, list := range own {
		if len(list) < 2 {
			continue
		}
		rng := randstream.New(seed, "cold", uint64(code))
		rng.Shuffle(len(list), func(a, b int) { list[a], list[b] = list[b], list[a] })
		half := len(list) / 2
		pool[code] = list[:half]
		measured = append(measured, list[half:]...)
	}
	slices.Sort(measured)
	return measured, pool, len(pool)
}

// measure measures a model on rows.
func (u *Updater) measure(m *model.Model, rows ledger.Rows) (metrics.Score, error) {
	r := evaluate.Rows{Codes: make([][]int32, len(rows.Codes)), Y: make([]float32, rows.Len()), Low: make([]float32, rows.Len()), W: rows.W, Exposure: rows.Exposure, Censored: rows.Censored}
	for i, y := range rows.Y {
		r.Y[i] = float32(y)
		r.Low[i] = float32(y - float64(r.Y[i]))
	}
	for mode, column := range rows.Codes {
		r.Codes[mode] = slices.Clone(column)
	}
	r.Horizon = evaluate.Horizons(u.state.engine, m, r.Codes)
	m.ForgetUntrained(r.Codes)
	sums, err := evaluate.Measure(u.state.engine, m, m.Moments(u.state.engine, r.Codes), r, true)
	if err != nil {
		return metrics.Score{}, fmt.Errorf("rows of new ids: %w", err)
	}
	return sums.Score(m), nil
}
