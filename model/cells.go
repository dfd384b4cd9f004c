package model

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
	"github.com/kernel-fried-tensor/kft/predictive"
	"github.com/kernel-fried-tensor/kft/tt"
)

// A Prediction is the predictive distribution of one cell in the target's units.
type Prediction struct {
	Mean   float64 `json:"prediction"`
	Median float64 `json:"median"`

	// Unseen names the modes whose id has neither training rows nor side
	// information. The prior, which is the average of the other ids, takes its place.
	Unseen []string `json:"unseen"`
	// FromSide names the modes whose id has no training rows and is predicted from
	// its side information, and the numeric covariates beyond the range of the fit.
	FromSide []string `json:"from_side,omitempty"`

	// SD is the standard deviation. Its parts are the uncertainty of the weights
	// and the noise: SD^2 = SDModel^2 + SDNoise^2.
	SD      float64 `json:"sd"`
	SDModel float64 `json:"sd_model"`
	SDNoise float64 `json:"sd_noise"`

	distribution predictive.Distribution
}

// Distribution returns the predictive distribution of the cell.
func (p Prediction) Distribution() predictive.Distribution { return p.distribution }

// Interval returns the central interval that holds the value with the given
// probability. It panics if the probability does not lie between 0 and 1, which are
// excluded.
func (p Prediction) Interval(probability float64) (low, high float64) {
	if !(probability > 0 && probability < 1) {
		panic(fmt.Sprintf("kft: the probability %v of an interval is not between 0 and 1", probability))
	}
	tail := (1 - probability) / 2
	return p.distribution.Quantile(tail), p.distribution.Quantile(1 - tail)
}

// A Cell has an id for each mode: {"store": "2106", "item": "11776",
// "time": "2016-12"}. It may also have a number above 0 for the column of weights or
// of exposures, if the model has one: {..., "weight": "2.5"}. Otherwise they are 1.
type Cell map[string]string

// A CellError reports a cell that does not fit the model's modes.
type CellError struct {
	Cell    int // position in the request, from 0
	Mode    string
	Problem string
}

func (e *CellError) Error() string { return fmt.Sprintf("cell %d: %s", e.Cell+1, e.Problem) }

// Predict returns the predictions of cells. A cell that lacks a mode or names an
// unknown one is a *CellError. With strict set, an id that has neither training
// rows nor side information is an *UnseenError. It costs O(P R^2) per cell and term
// for a point estimate, O(P R^3) for a posterior, and is safe for concurrent use.
func (m *Model) Predict(ctx context.Context, cells []Cell, strict bool) ([]Prediction, error) {
	if err := ctx.Err(); err != nil || len(cells) == 0 {
		return nil, err
	}
	m, rows, err := m.Resolve(cells)
	if err != nil {
		return nil, err
	}
	codes, modes := rows.Codes, m.modes
	out := make([]Prediction, len(cells))
	for c := range out {
		for i := range modes {
			name := modes[i].Name
			switch m.Origin(i, codes[i][c]) {
			case FromPrior:
				if strict {
					return nil, &UnseenError{Row: c + 1, Unit: "cell", Mode: name, ID: cells[c][name]}
				}
				out[c].Unseen = append(out[c].Unseen, name)
			case FromSide:
				for _, at := range m.sideModes(i, codes, c) {
					out[c].FromSide = append(out[c].FromSide, modes[at].Name)
				}
			}
		}
	}
	var z tt.Moments
	m.engines.use(func(engine *cpu.Backend) { z = m.Moments(engine, codes) })
	for c := range out {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := m.CheckMoments(z, rows, 0, c); err != nil {
			return nil, &NotFiniteError{Row: c + 1, Unit: "cell"}
		}
		p := m.Distribution(z, rows, c)
		all := p.Moments()
		out[c].Mean, out[c].Median, out[c].distribution = all.Mean, p.Median(), p
		out[c].SD, out[c].SDModel, out[c].SDNoise = all.SD, all.SDModel, all.SDNoise
		if err := out[c].checkNumbers(c); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Resolve returns cells as rows, and the model that their codes belong to: m, or one that
// also contains ids that describe themselves, such as future months. Ids with neither
// training rows nor side information have the code entity.Unknown.
func (m *Model) Resolve(cells []Cell) (*Model, Rows, error) {
	rows, id, err := m.rowsOf(cells)
	if err != nil {
		return nil, rows, err
	}
	m = m.describeUnknown(rows.Codes, id)
	m.ForgetUntrained(rows.Codes)
	rows.Horizon = m.horizons(rows.Codes, id)
	return m, rows, nil
}

// codesOf looks up the ids of cells, entity.Unknown for those that the model does not
// contain. It returns a function for the ids.
func (m *Model) codesOf(cells []Cell) ([][]int32, func(mode, c int) string, error) {
	if err := m.CheckOneTarget(); err != nil {
		return nil, nil, err
	}
	modes := m.covariates.Columns()
	unneeded := m.unneeded(modes)
	codes := make([][]int32, len(modes))
	for i := range codes {
		codes[i] = make([]int32, len(cells))
	}
	for c, cell := range cells {
		for name := range cell {
			if !m.hasMode(name) && !m.isMeasure(name) {
				names := m.spec.ModeNames()
				return nil, nil, &CellError{c, name, fmt.Sprintf("the model has no mode %q%s; its modes are %s", name, suggest.Hint(name, names), strings.Join(names, ", "))}
			}
		}
		for i, mode := range modes {
			id, ok := cell[mode.Name]
			if !ok && !unneeded[i] {
				return nil, nil, &CellError{c, mode.Name, missingIDs(cell, modes, unneeded)}
			}
			codes[i][c] = m.Code(i, id)
		}
	}
	codes, id, wrong := m.covariates.Encode(codes, func(mode, c int) string { return cells[c][modes[mode].Name] })
	if wrong != nil {
		return nil, nil, &CellError{wrong.Row, wrong.Mode, wrong.Error()}
	}
	return codes, id, nil
}

// missingIDs names the modes that a cell needs and has no id for, covariates as such, and all that it needs.
func missingIDs(cell Cell, modes []dataset.Mode, unneeded []bool) string {
	var names, all []string
	for i, mode := range modes {
		if unneeded[i] {
			continue
		}
		all = append(all, mode.Name)
		if _, ok := cell[mode.Name]; ok {
			continue
		}
		kind := "mode"
		if mode.Covariate() {
			kind = "covariate"
		}
		names = append(names, fmt.Sprintf("%s %q", kind, mode.Name))
	}
	return "no id for " + strings.Join(names, ", ") + "; a cell needs " + strings.Join(all, ", ")
}

// CellFromColumns returns the cell with the ids of modes that it gives by their columns,
// as in year=2016,month=1 for time=year+month.
func (m *Model) CellFromColumns(cell Cell) (Cell, error) {
	whole := cell
	var used []string
	for _, mode := range m.modes {
		if _, named := cell[mode.Name]; named {
			continue
		}
		id, ok, err := mode.ID(cell)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if used == nil {
			whole = maps.Clone(cell)
		}
		whole[mode.Name] = id
		used = append(used, mode.Columns...)
	}
	for _, column := range used {
		if !m.hasMode(column) {
			delete(whole, column)
		}
	}
	return whole, nil
}

func (m *Model) hasMode(name string) bool {
	return slices.ContainsFunc(m.modes, func(mode dataset.Mode) bool { return mode.Name == name })
}
