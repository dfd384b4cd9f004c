// Package history computes covariates from the values of training rows: the target of
// the same series some periods before (a lag), and the number of periods in which a
// combination of ids was observed. A series is the cells that differ in time only.
//
// Values of validation and test rows are never used. A lag is missing if it falls on a
// period before the first or after the last training period, so a row h periods after the
// last one has lag(L) only if L >= h. In between, a cell without a row is a value of its
// own (covariate.NoRow) if all rows up to the last training period are training rows, as
// in a split by time; otherwise it is missing, because its row may be in another part.
package history

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/covariate"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
)

// A History holds the values of training rows by series. It does not change and may be
// shared.
type History struct {
	frame
	zero bool  // a cell without a row within the life of its series is 0
	full bool  // all rows up to the last training period are training rows
	last int64 // last period of the training rows

	series map[string]int32 // by the codes of the keys
	keys   []int32          // these codes, one series after the other
	start  []int32          // rows of series s are start[s] to start[s+1]
	codes  []int32          // time of each row, in order of time
	value  []float32

	periods map[string]map[string]int32 // by mode, then by the codes of its combination
}

// Options say how a history is made.
type Options struct {
	Source string // name of the table, for messages
	Zero   bool   // a cell without a row, from the first training row of its series to the last training period, has the value 0
}

// New returns the history of the rows of a table for which training is true. The table
// has the modes that are computed, but perhaps not their dictionaries yet. It costs
// O(n log n).
func New(t *dataset.Table, training func(k int) bool, opt Options) (*History, error) {
	f, err := newFrame(t.Modes, t.Dicts)
	if err != nil {
		return nil, err
	}
	h := &History{frame: f, zero: opt.Zero}
	if err := h.checkModes(); err != nil {
		return nil, err
	}
	h.series, h.start = map[string]int32{}, []int32{0}
	rows, _ := h.bySeries(t, training)
	for _, own := range rows {
		if len(own) == 0 {
			continue // no training row
		}
		h.series[string(h.appendKey(nil, t, own[0]))] = int32(len(h.series))
		for _, m := range h.key {
			h.keys = append(h.keys, t.Codes[m][own[0]])
		}
		for i, k := range own {
			if i > 0 && h.time >= 0 && h.at(t, own[i-1]) == h.at(t, k) {
				a, b := min(own[i-1], k), max(own[i-1], k)
				return nil, fielderr.Errorf("data.modes", "%s: data rows %d and %d: the cells %s and %s are of the same series and period, so a lag has two values; write each period in one way",
					opt.Source, t.SourceRow(int(a))+1, t.SourceRow(int(b))+1, t.CellName(a), t.CellName(b))
			}
			code := int32(0)
			if h.time >= 0 {
				code = t.Codes[h.time][k]
			}
			h.codes, h.value = append(h.codes, code), append(h.value, float32(t.Target(int(k))))
		}
		h.start = append(h.start, int32(len(h.codes)))
	}
	h.finish()
	h.full = h.time >= 0
	for k := range t.Len() {
		h.full = h.full && (training(k) || h.at(t, int32(k)) > h.last)
	}
	return h, nil
}

// Ahead returns the number of periods from the last training period to that of row k of
// the fitted table, 0 if it is not after it.
func (h *History) Ahead(t *dataset.Table, k int) int {
	if h.time < 0 {
		return 0
	}
	return int(max(h.at(t, int32(k))-h.last, 0))
}

// checkModes returns an error for a mode that cannot be computed.
func (h *History) checkModes() error {
	for _, m := range h.modes {
		if m.Lag() > 0 {
			if err := h.needTime("data.lags", "a lag"); err != nil {
				return err
			}
		}
		if !m.Derived() || m.Lag() > 0 {
			continue
		}
		for _, name := range m.Columns {
			if !slices.ContainsFunc(h.key, func(k int) bool { return h.modes[k].Name == name }) {
				return fielderr.Errorf("data.history", "%s: %s is not a mode that distinguishes series; name modes such as store and item, without the time", m.Expression(), name)
			}
		}
	}
	return nil
}

// finish computes what follows from the rows.
func (h *History) finish() {
	h.last = math.MinInt64
	if h.time >= 0 {
		for _, c := range h.codes {
			h.last = max(h.last, h.step[c])
		}
	}
	h.periods = map[string]map[string]int32{}
	for _, m := range h.modes {
		if m.Derived() && m.Lag() == 0 {
			h.periods[m.Name] = h.countPeriods(m)
		}
	}
}

// countPeriods counts the different periods of each combination of a mode.
func (h *History) countPeriods(m dataset.Mode) map[string]int32 {
	var at []int // places of the combination's modes in the key of a series
	for _, name := range m.Columns {
		at = append(at, slices.IndexFunc(h.key, func(k int) bool { return h.modes[k].Name == name }))
	}
	count, seen := map[string]int32{}, map[string]bool{}
	distinct := len(at) == len(h.key) || h.time < 0 // no two rows of a combination share a period
	var key []byte
	for s := range len(h.start) - 1 {
		key = key[:0]
		for _, i := range at {
			key = binary.LittleEndian.AppendUint32(key, uint32(h.keys[s*len(h.key)+i]))
		}
		for _, c := range h.codes[h.start[s]:h.start[s+1]] {
			if !distinct {
				cell := string(binary.LittleEndian.AppendUint64(slices.Clone(key), uint64(h.step[c])))
				if seen[cell] {
					continue
				}
				seen[cell] = true
			}
			count[string(key)]++
		}
	}
	return count
}

// Columns returns the computed covariates of the rows of a table that has the ids of the
// fit, one slice per mode in their order, as [History.Value] does.
func (h *History) Columns(t *dataset.Table) [][]float64 {
	of, first := h.number(t)
	var columns [][]float64
	for _, m := range h.modes {
		if !m.Derived() {
			continue
		}
		values := make([]float64, t.Len())
		series, periods := make([]int32, len(first)), make([]float64, len(first))
		for s, k := range first {
			series[s] = -1
			if at, known := h.series[string(h.appendKey(nil, t, k))]; known {
				series[s] = at
			}
			if m.Lag() == 0 {
				periods[s] = h.Value(m, func(mode int) int32 { return t.Codes[mode][k] }, nil)
			}
		}
		for k := range values {
			if m.Lag() == 0 {
				values[k] = periods[of[k]]
			} else {
				values[k] = h.valueAt(series[of[k]], h.at(t, int32(k))-int64(m.Lag()))
			}
		}
		columns = append(columns, values)
	}
	return columns
}

// Value returns a covariate of a row: NaN if it is missing. code returns the code of the
// row in a mode that identifies a cell, negative if the id is unknown, and id its id,
// which is asked for only if the code of the mode of time is not that of a fitted id.
func (h *History) Value(m dataset.Mode, code func(mode int) int32, id func(mode int) string) float64 {
	var room [64]byte
	key := room[:0]
	if m.Lag() == 0 {
		for _, name := range m.Columns {
			at := slices.IndexFunc(h.modes, func(o dataset.Mode) bool { return o.Name == name })
			key = binary.LittleEndian.AppendUint32(key, uint32(code(at)))
		}
		return float64(h.periods[m.Name][string(key)])
	}
	for _, k := range h.key {
		key = binary.LittleEndian.AppendUint32(key, uint32(code(k)))
	}
	s, known := h.series[string(key)]
	if !known {
		s = -1 // no row at any time
	}
	var step int64
	if c := code(h.time); c >= 0 && int(c) < len(h.step) {
		step = h.step[c]
	} else if step, known = h.line.Step(id(h.time)); !known {
		return math.NaN() // an id that is not a period of the grid
	}
	return h.valueAt(s, step-int64(m.Lag()))
}

// valueAt returns the value of a series in a period; s is -1 for one without rows.
func (h *History) valueAt(s int32, step int64) float64 {
	var from, to int32
	if s >= 0 {
		from, to = h.start[s], h.start[s+1]
	}
	i, found := slices.BinarySearchFunc(h.codes[from:to], step, func(c int32, step int64) int { return int(h.step[c] - step) })
	switch {
	case found:
		return float64(h.value[int(from)+i])
	case step < 0 || step > h.last:
		return math.NaN()
	case h.zero && i > 0:
		return 0
	case h.full:
		return covariate.NoRow
	}
	return math.NaN()
}
