package history

import (
	"encoding/binary"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
)

// A Gap is a cell without a row in the life of its series, which goes from its first
// training row to the last training period.
type Gap struct {
	Before int32 // the latest training row of the series before the cell
	Time   int32 // code of the period
}

// Gaps returns the mode of time of a table and the gaps of its series, in order of
// series and time. A cell with a row is no gap, training row or not, nor is one in a
// period that has no row at all. allow is called with the number of gaps before they are
// collected, and its error ends the search. It costs O(n log n) and the number of gaps.
func Gaps(t *dataset.Table, modes []dataset.Mode, training func(k int) bool, allow func(gaps int) error) (time int, gaps []Gap, err error) {
	h := &History{modes: modes, cells: cellModes(modes)}
	if err := h.findTime(t.Dicts); err != nil {
		return 0, nil, err
	}
	if h.time < 0 {
		return 0, nil, fielderr.Errorf("data.absent", "cells without a row can be 0 only if there is a mode of time, and the order in time of no mode is known; make one of columns such as time=year+month, or of yearmonth(column) or date(column)")
	}
	order, of := h.bySeries(t)
	codes := t.Codes[h.time]
	periods := h.trainingPeriods(codes, training)
	each := func(visit func(g Gap)) {
		for from := 0; from < len(order); {
			to := from
			for to < len(order) && of[order[to]] == of[order[from]] {
				to++
			}
			h.gapsOf(codes, order[from:to], periods, training, visit)
			from = to
		}
	}
	n := 0
	each(func(Gap) { n++ })
	if err := allow(n); err != nil {
		return 0, nil, err
	}
	gaps = make([]Gap, 0, n)
	each(func(g Gap) { gaps = append(gaps, g) })
	return h.time, gaps, nil
}

// bySeries returns the rows of a table in order of series and time, and the series of
// each row.
func (h *History) bySeries(t *dataset.Table) (order, of []int32) {
	order, of = make([]int32, t.Len()), make([]int32, t.Len())
	others, series := h.others(), map[string]int32{}
	var key []byte
	for k := range order {
		key = key[:0]
		for _, m := range others {
			key = binary.LittleEndian.AppendUint32(key, uint32(t.Codes[m][k]))
		}
		s, known := series[string(key)]
		if !known {
			s = int32(len(series))
			series[string(key)] = s
		}
		order[k], of[k] = int32(k), s
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		if of[a] != of[b] {
			return int(of[a] - of[b])
		}
		return int(h.step[t.Codes[h.time][a]] - h.step[t.Codes[h.time][b]])
	})
	return order, of
}

// trainingPeriods returns codes of the periods with rows up to the last training period,
// in order of time.
func (h *History) trainingPeriods(codes []int32, training func(k int) bool) []int32 {
	last := int32(noStep)
	for k, c := range codes {
		if training(k) {
			last = max(last, h.step[c])
		}
	}
	var periods []int32
	for c, step := range h.step {
		if step <= last {
			periods = append(periods, int32(c))
		}
	}
	slices.SortStableFunc(periods, func(a, b int32) int { return int(h.step[a] - h.step[b]) })
	return slices.CompactFunc(periods, func(a, b int32) bool { return h.step[a] == h.step[b] })
}

// gapsOf visits the gaps of one series, whose rows are in order of time.
func (h *History) gapsOf(codes, rows, periods []int32, training func(k int) bool, visit func(g Gap)) {
	before := int32(-1)
	next := 0 // row
	for _, period := range periods {
		has := false
		for ; next < len(rows) && h.step[codes[rows[next]]] <= h.step[period]; next++ {
			has = has || h.step[codes[rows[next]]] == h.step[period]
			if training(int(rows[next])) {
				before = rows[next]
			}
		}
		if !has && before >= 0 {
			visit(Gap{Before: before, Time: period})
		}
	}
}
