package history

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/timeline"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/panel"
)

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
	f.time = timeline.ModeOf(modes, func(mode int) []string { return dicts[mode].IDs() })
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

// number returns the series of each row of a table, numbered by first appearance, and the
// first row of each.
func (f *frame) number(t *dataset.Table) (of, first []int32) {
	of = make([]int32, t.Len())
	possible, small := uint64(1), true
	for _, m := range f.key {
		high, low := bits.Mul64(possible, uint64(max(t.Dicts[m].Len(), 1)))
		possible, small = low, small && high == 0
	}
	packed, joined := map[uint64]int32{}, map[string]int32{}
	var key []byte
	for k := range of {
		var s int32
		var known bool
		number := uint64(0)
		if small {
			for _, m := range f.key {
				number = number*uint64(t.Dicts[m].Len()) + uint64(t.Codes[m][k])
			}
			s, known = packed[number]
		} else {
			key = f.appendKey(key[:0], t, int32(k))
			s, known = joined[string(key)]
		}
		if !known {
			s = int32(len(first))
			first = append(first, int32(k))
			if small {
				packed[number] = s
			} else {
				joined[string(key)] = s
			}
		}
		of[k] = s
	}
	return of, first
}

// appendKey appends the codes of row k that distinguish its series.
func (f *frame) appendKey(key []byte, t *dataset.Table, k int32) []byte {
	for _, m := range f.key {
		key = binary.LittleEndian.AppendUint32(key, uint32(t.Codes[m][k]))
	}
	return key
}

// bySeries returns the rows of a table for which take is true, by series and in order of
// time, and the first row of each series in the table. It costs O(n), and O(n log n) for
// series that are not in order of time.
func (f *frame) bySeries(t *dataset.Table, take func(k int) bool) (rows [][]int32, first []int32) {
	of, first := f.number(t)
	counts := make([]int, len(first))
	n := 0
	for k := range of {
		if take(k) {
			counts[of[k]]++
			n++
		}
	}
	room := make([]int32, n)
	rows = make([][]int32, len(first))
	for s, count := range counts {
		rows[s], room = room[:0:count], room[count:]
	}
	for k, s := range of {
		if take(k) {
			rows[s] = append(rows[s], int32(k))
		}
	}
	earlier := func(a, b int32) int { return int(f.at(t, a) - f.at(t, b)) }
	for _, own := range rows {
		if !slices.IsSortedFunc(own, earlier) {
			slices.SortStableFunc(own, earlier)
		}
	}
	return rows, first
}
