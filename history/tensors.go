package history

import (
	"encoding/binary"
	"fmt"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/modelfile"
)

// check returns an error that names the problem if the arrays of a history contradict
// each other or the modes of its table. It precedes any use of decoded arrays.
func (a arrays) check(others int, dicts []*dataset.Dict, modes []int, times int) error {
	n := len(a.Length)
	if len(a.Series) != n*others {
		return fmt.Errorf("its history has %d codes for %d series of %d modes", len(a.Series), n, others)
	}
	for i, c := range a.Series {
		if size := dicts[modes[i%others]].Len(); c < 0 || int(c) >= size {
			return fmt.Errorf("its history has the code %d of a mode of %d ids", c, size)
		}
	}
	total := 0
	for _, l := range a.Length {
		if l < 1 {
			return fmt.Errorf("its history has a series of %d rows", l)
		}
		if total += int(l); total > len(a.Time) {
			break
		}
	}
	if total != len(a.Time) || total != len(a.Value) {
		return fmt.Errorf("its history has series of %d rows in total, %d times and %d values", total, len(a.Time), len(a.Value))
	}
	for _, c := range a.Time {
		if c < 0 || int(c) >= times {
			return fmt.Errorf("its history has the time %d of %d", c, times)
		}
	}
	return nil
}

// arrays are a history in a model file.
type arrays struct {
	Series []int32 // codes of each series in the modes that identify a cell, without time
	Length []int32 // rows of each series
	Time   []int32 // code of each row, in order of time within a series
	Value  []float32
}

// Tensors returns the history as tensors of a model file; none for nil.
func (h *History) Tensors() []modelfile.Tensor {
	if h == nil {
		return nil
	}
	a := arrays{Series: h.keys, Time: h.codes, Value: h.value}
	for s := range len(h.start) - 1 {
		a.Length = append(a.Length, h.start[s+1]-h.start[s])
	}
	return []modelfile.Tensor{
		modelfile.NewTensor("history/series", a.Series, len(a.Series)),
		modelfile.NewTensor("history/length", a.Length, len(a.Length)),
		modelfile.NewTensor("history/time", a.Time, len(a.Time)),
		modelfile.NewTensor("history/value", a.Value, len(a.Value)),
	}
}

// Read returns the history in a model file, which may come from anyone, nil if no mode
// is computed from one. dicts has the dictionaries of the modes, and zero is that of
// [Options].
func Read(f *modelfile.File, modes []dataset.Mode, dicts []*dataset.Dict, zero bool) (*History, error) {
	columns := len(modes)
	for columns > 0 && modes[columns-1].Derived() {
		columns--
	}
	for i, m := range modes[:columns] {
		if m.Derived() || i > 0 && !m.Covariate() && modes[i-1].Covariate() {
			return nil, fmt.Errorf("the mode %s is not in its place: modes that identify a cell come first, then columns that describe it", m.Name)
		}
	}
	if columns == len(modes) {
		return nil, nil
	}
	var a arrays
	var err error
	for _, t := range []struct {
		name string
		to   *[]int32
	}{{"history/series", &a.Series}, {"history/length", &a.Length}, {"history/time", &a.Time}} {
		if *t.to, err = modelfile.Values[int32](f, t.name, -1); err != nil {
			return nil, err
		}
	}
	if a.Value, err = modelfile.Values[float32](f, "history/value", -1); err != nil {
		return nil, err
	}
	return restore(modes, dicts, a, zero)
}

// restore returns the history of arrays.
func restore(modes []dataset.Mode, dicts []*dataset.Dict, a arrays, zero bool) (*History, error) {
	h := &History{modes: modes, cells: cellModes(modes), zero: zero, keys: a.Series, codes: a.Time, value: a.Value}
	if err := h.findTime(dicts); err != nil {
		return nil, err
	}
	others, times := h.others(), 1
	if h.time >= 0 {
		times = len(h.step)
	}
	if err := a.check(len(others), dicts, others, times); err != nil {
		return nil, err
	}
	h.series = map[string]int32{}
	h.start = []int32{0}
	for s, l := range a.Length {
		var key []byte
		for _, c := range a.Series[s*len(others):][:len(others)] {
			key = binary.LittleEndian.AppendUint32(key, uint32(c))
		}
		h.series[string(key)] = int32(s)
		h.start = append(h.start, h.start[s]+l)
		for i := h.start[s] + 1; i < h.start[s+1] && h.time >= 0; i++ {
			if h.step[a.Time[i]] <= h.step[a.Time[i-1]] {
				return nil, fmt.Errorf("its history has a series that is not in order of time")
			}
		}
	}
	if len(h.series) != len(a.Length) {
		return nil, fmt.Errorf("its history has a series twice")
	}
	h.finish()
	return h, nil
}
