package history

import (
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
)

// A Gap is a cell without a row in the life of its series.
type Gap struct {
	Before int32 // the latest row of the series before the cell that begins its life or continues it
	Time   int32 // code of the period
}

// Life says how long a series lives: from its first row for which Begins is true to the last
// period of any row for which Lasts is true.
type Life struct {
	Begins, Lasts func(k int) bool
}

// Gaps returns the mode of time of a table and the gaps of its series, in order of
// series and time. A cell with a row is no gap, whatever its part, nor is one in a
// period that has no row at all. allow is called with the number of gaps before they are
// collected, and its error ends the search. It costs O(n log n) and the number of gaps.
func Gaps(t *dataset.Table, life Life, allow func(gaps int) error) (time int, gaps []Gap, err error) {
	f, err := newFrame(t.Modes, t.Dicts)
	if err == nil {
		err = f.needTime("data.absent", "a zero for each cell without a row")
	}
	if err != nil {
		return 0, nil, err
	}
	rows, _ := f.bySeries(t, func(int) bool { return true })
	periods := f.periodsUntil(t.Codes[f.time], life.Lasts)
	each := func(visit func(g Gap)) {
		for _, own := range rows {
			f.gapsOf(t.Codes[f.time], own, periods, life.Begins, visit)
		}
	}
	n := 0
	each(func(Gap) { n++ })
	if err := allow(n); err != nil {
		return 0, nil, err
	}
	gaps = make([]Gap, 0, n)
	each(func(g Gap) { gaps = append(gaps, g) })
	return f.time, gaps, nil
}

// periodsUntil returns codes of the periods with rows up to the last one of a row for which lasts
// is true, in order of time.
func (f *frame) periodsUntil(codes []int32, lasts func(k int) bool) []int32 {
	last := int64(math.MinInt64)
	for k, c := range codes {
		if lasts(k) {
			last = max(last, f.step[c])
		}
	}
	var periods []int32
	for c, step := range f.step {
		if step <= last {
			periods = append(periods, int32(c))
		}
	}
	slices.SortStableFunc(periods, func(a, b int32) int { return int(f.step[a] - f.step[b]) })
	return slices.CompactFunc(periods, func(a, b int32) bool { return f.step[a] == f.step[b] })
}

// gapsOf visits the gaps of one series, whose rows are in order of time.
func (f *frame) gapsOf(codes, rows, periods []int32, begins func(k int) bool, visit func(g Gap)) {
	before, next := int32(-1), 0
	for _, period := range periods {
		has := false
		for ; next < len(rows) && f.step[codes[rows[next]]] <= f.step[period]; next++ {
			has = has || f.step[codes[rows[next]]] == f.step[period]
			if begins(int(rows[next])) {
				before = rows[next]
			}
		}
		if !has && before >= 0 {
			visit(Gap{Before: before, Time: period})
		}
	}
}
