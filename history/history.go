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
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/covariate"
	"github.com/kernel-fried-tensor/kft/dataset/timeline"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/panel"
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

// A frame says which modes make a series, and when the ids of the mode of time are.
type frame struct {
	modes []dataset.Mode     // of the table
	time  int                // the mode of time, -1 if there is none
	line  *timeline.Timeline // nil without time
	step  []int64            // period of each fitted id of the mode of time
	key   []int              // modes that distinguish series
}

// newFrame finds the mode of time. Without one, all modes that identify a cell
// distinguish series.
func newFrame(modes []dataset.Mode, dicts []*dataset.Dict) (frame, error) {
	f := frame{modes: modes}
	f.time = panel.TimeMode(modes, func(mode int) []string { return dicts[mode].IDs() })
	if f.time < 0 {
		for m, mode := range modes {
			if !mode.Covariate() {
				f.key = append(f.key, m)
			}
		}
		return f, nil
	}
	f.key = panel.KeyModes(modes, f.time)
	var err error
	if f.line, err = timeline.New(modes[f.time], dicts[f.time].IDs()); err != nil {
		return f, fielderr.Errorf("data.modes", "%w", err)
	}
	f.step = f.line.Steps()
	return f, nil
}

// needTime returns an error that names a field if there is no mode of time.
func (f *frame) needTime(field, what string) error {
	if f.time >= 0 {
		return nil
	}
	var names []string
	for _, m := range f.key {
		names = append(names, f.modes[m].Name)
	}
	return fielderr.Errorf(field, "%s needs a mode of time, and the order in time of none of the modes %s is known; make one of columns such as time=year+month, or of yearmonth(column) or date(column)", what, strings.Join(names, ", "))
}

// at returns the period of row k, 0 without a mode of time.
func (f *frame) at(t *dataset.Table, k int32) int64 {
	if f.time < 0 {
		return 0
	}
	return f.step[t.Codes[f.time][k]]
}

// bySeries sorts rows of a table by series and time. It returns the series of each row of
// the table, numbered by first appearance, and their numbers by the codes of the keys.
func (f *frame) bySeries(t *dataset.Table, rows []int32) (of []int32, series map[string]int32) {
	of, series = make([]int32, t.Len()), map[string]int32{}
	var key []byte
	for _, k := range rows {
		key = key[:0]
		for _, m := range f.key {
			key = binary.LittleEndian.AppendUint32(key, uint32(t.Codes[m][k]))
		}
		s, known := series[string(key)]
		if !known {
			s = int32(len(series))
			series[string(key)] = s
		}
		of[k] = s
	}
	slices.SortStableFunc(rows, func(a, b int32) int {
		if of[a] != of[b] {
			return int(of[a] - of[b])
		}
		return int(f.at(t, a) - f.at(t, b))
	})
	return of, series
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
	rows := make([]int32, 0, t.Len())
	for k := range t.Len() {
		if training(k) {
			rows = append(rows, int32(k))
		}
	}
	var of []int32
	of, h.series = h.bySeries(t, rows)
	for i, k := range rows {
		if i == 0 || of[k] != of[rows[i-1]] {
			h.start = append(h.start, int32(i))
			for _, m := range h.key {
				h.keys = append(h.keys, t.Codes[m][k])
			}
		} else if a := rows[i-1]; h.time >= 0 && h.at(t, a) == h.at(t, k) {
			a, k = min(a, k), max(a, k)
			return nil, fielderr.Errorf("data.modes", "%s: data rows %d and %d: the cells %s and %s are of the same series and period, so a lag has two values; write each period in one way",
				opt.Source, t.SourceRow(int(a))+1, t.SourceRow(int(k))+1, t.CellName(a), t.CellName(k))
		}
		h.value = append(h.value, float32(t.Target(int(k))))
		code := int32(0)
		if h.time >= 0 {
			code = t.Codes[h.time][k]
		}
		h.codes = append(h.codes, code)
	}
	h.start = append(h.start, int32(len(rows)))
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
