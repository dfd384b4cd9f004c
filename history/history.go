// Package history computes covariates from the values of training rows: the target of
// the same series some periods before (a lag), and the number of periods in which a
// combination of ids was observed. A series is the cells that differ in time only.
//
// Values of validation and test rows are never used. A lag that falls on a cell without a
// training row is missing, so a row h periods after the end of the training rows has
// lag(L) only if L >= h.
package history

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
)

// A History holds the values of training rows by series. Its methods are safe for
// concurrent use.
type History struct {
	modes []dataset.Mode // of the table; those that identify a cell come first
	cells int            // number of these
	time  int            // the mode of time, -1 if there is none
	ids   []string       // of the mode of time, by code
	step  []int32        // period of each id of the mode of time
	last  int32          // last period of the training rows
	zero  bool           // a cell without a row within the life of its series is 0

	series map[string]int32 // by the codes of the other modes that identify a cell
	keys   []int32          // these codes, one series after the other
	start  []int32          // rows of series s are start[s] to start[s+1]
	codes  []int32          // time of each row, in order of time
	value  []float32

	periods map[string]map[string]int32 // by mode, then by the codes of its combination

	mutex sync.Mutex
	later map[string]int32 // periods of ids that are not among ids, noStep for unknown ones
}

// noStep is the period of an id whose place in time is unknown.
const noStep = math.MinInt32

// Options say how a history is made.
type Options struct {
	Source string // name of the table, for messages
	Zero   bool   // a cell without a row, from the first training row of its series to the last training period, has the value 0
}

// New returns the history of the rows of a table for which training is true. O(n log n).
func New(t *dataset.Table, modes []dataset.Mode, training func(k int) bool, opt Options) (*History, error) {
	h := &History{modes: modes, cells: cellModes(modes), zero: opt.Zero}
	if err := h.findTime(t.Dicts); err != nil {
		return nil, err
	}
	rows := make([]int32, 0, t.Len())
	for k := range t.Len() {
		if training(k) {
			rows = append(rows, int32(k))
		}
	}
	of := make([]int32, t.Len())
	h.series = map[string]int32{}
	var key []byte
	for _, k := range rows {
		key = key[:0]
		for _, m := range h.others() {
			key = binary.LittleEndian.AppendUint32(key, uint32(t.Codes[m][k]))
		}
		s, known := h.series[string(key)]
		if !known {
			s = int32(len(h.series))
			h.series[string(key)] = s
			for _, m := range h.others() {
				h.keys = append(h.keys, t.Codes[m][k])
			}
		}
		of[k] = s
	}
	step := func(k int32) int32 {
		if h.time < 0 {
			return 0
		}
		return h.step[t.Codes[h.time][k]]
	}
	slices.SortStableFunc(rows, func(a, b int32) int {
		if of[a] != of[b] {
			return int(of[a] - of[b])
		}
		return int(step(a) - step(b))
	})
	for i, k := range rows {
		if i == 0 || of[k] != of[rows[i-1]] {
			h.start = append(h.start, int32(i))
		} else if a := rows[i-1]; h.time >= 0 && step(a) == step(k) {
			return nil, fielderr.Errorf("data.modes", "%s: data rows %d and %d: the cells %s and %s are in the same period, so the order of the series is unknown; write each period in one way",
				opt.Source, t.SourceRow(int(min(a, k)))+1, t.SourceRow(int(max(a, k)))+1, t.CellName(min(a, k)), t.CellName(max(a, k)))
		}
		h.value = append(h.value, float32(t.Target(int(k))))
		if h.time >= 0 {
			h.codes = append(h.codes, t.Codes[h.time][k])
		} else {
			h.codes = append(h.codes, 0)
		}
	}
	h.start = append(h.start, int32(len(rows)))
	h.finish()
	return h, nil
}

// cellModes returns the number of modes that identify a cell.
func cellModes(modes []dataset.Mode) int {
	n := 0
	for _, m := range modes {
		if !m.Covariate() {
			n++
		}
	}
	return n
}

// findTime sets the mode of time: the last one whose ids are dates or periods.
func (h *History) findTime(dicts []*dataset.Dict) error {
	h.time = -1
	var names []string
	for m := range h.cells {
		names = append(names, h.modes[m].Name)
		if h.modes[m].IsTime(dicts[m].IDs()) {
			h.time = m
		}
	}
	if h.time < 0 {
		if h.lags() {
			return fielderr.Errorf("data.lags", "a lag needs a mode of time, and the order in time of none of the modes %s is known; make one of columns such as time=year+month, or of yearmonth(column) or date(column)", strings.Join(names, ", "))
		}
		return nil
	}
	h.ids = dicts[h.time].IDs()
	line, err := h.modes[h.time].Timeline(h.ids)
	if err != nil {
		return fielderr.Errorf("data.modes", "%w", err)
	}
	h.step = line.Index
	return nil
}

func (h *History) lags() bool {
	return slices.ContainsFunc(h.modes, func(m dataset.Mode) bool { return m.Lag() > 0 })
}

// others returns the modes that identify a series.
func (h *History) others() []int {
	modes := make([]int, 0, h.cells)
	for m := range h.cells {
		if m != h.time {
			modes = append(modes, m)
		}
	}
	return modes
}

// finish computes what follows from the rows.
func (h *History) finish() {
	h.later = map[string]int32{}
	h.last = noStep
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
	others := h.others()
	var at []int // places of the combination's modes in the key of a series
	for _, name := range m.Columns {
		at = append(at, slices.IndexFunc(others, func(o int) bool { return h.modes[o].Name == name }))
	}
	count := map[string]int32{}
	seen := map[string]bool{}
	whole := len(at) == len(others) || h.time < 0 // no two rows of a combination share a period
	var key []byte
	for s := range len(h.start) - 1 {
		key = key[:0]
		for _, i := range at {
			key = binary.LittleEndian.AppendUint32(key, uint32(h.keys[s*len(others)+i]))
		}
		for _, c := range h.codes[h.start[s]:h.start[s+1]] {
			if !whole {
				cell := string(binary.LittleEndian.AppendUint32(slices.Clone(key), uint32(h.step[c])))
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
	if m.Lag() == 0 {
		return h.periodsOf(m, code)
	}
	s, known := h.seriesOf(code)
	step := h.stepOf(code(h.time), id)
	if !known || step == noStep {
		return math.NaN()
	}
	return h.at(s, step-int32(m.Lag()))
}

func (h *History) periodsOf(m dataset.Mode, code func(mode int) int32) float64 {
	var room [64]byte
	key := room[:0]
	for _, name := range m.Columns {
		at := slices.IndexFunc(h.modes, func(o dataset.Mode) bool { return o.Name == name })
		key = binary.LittleEndian.AppendUint32(key, uint32(code(at)))
	}
	return float64(h.periods[m.Name][string(key)])
}

func (h *History) seriesOf(code func(mode int) int32) (int32, bool) {
	var room [64]byte
	key := room[:0]
	for m := range h.cells {
		if m != h.time {
			key = binary.LittleEndian.AppendUint32(key, uint32(code(m)))
		}
	}
	s, known := h.series[string(key)]
	return s, known
}

// at returns the value of a series in a period.
func (h *History) at(s, step int32) float64 {
	from, to := h.start[s], h.start[s+1]
	i, found := slices.BinarySearchFunc(h.codes[from:to], step, func(c, step int32) int { return int(h.step[c]) - int(step) })
	switch {
	case found:
		return float64(h.value[int(from)+i])
	case h.zero && i > 0 && step <= h.last:
		return 0
	}
	return math.NaN()
}

// stepOf returns the period of a row.
func (h *History) stepOf(code int32, id func(mode int) string) int32 {
	if code >= 0 && int(code) < len(h.step) {
		return h.step[code]
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	text := id(h.time)
	step, known := h.later[text]
	if !known {
		step = h.place(text)
		if len(h.later) < maxLater {
			h.later[text] = step
		}
	}
	return step
}

// maxLater bounds the ids of other times whose periods are kept.
const maxLater = 100_000

// place returns the period of an id that is not among those of the fit. It is unknown if
// the id does not lie on their grid: a day between months, say.
func (h *History) place(id string) int32 {
	if id == "" {
		return noStep
	}
	line, err := h.modes[h.time].Timeline(append(slices.Clone(h.ids), id))
	if err != nil {
		return noStep
	}
	shift := h.step[0] - line.Index[0]
	for i, step := range h.step {
		if line.Index[i]+shift != step {
			return noStep
		}
	}
	return line.Index[len(h.ids)] + shift
}
