package history

import (
	"encoding/binary"
	"fmt"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/modelfile"
)

// folder is where the history is in a model file.
const folder = "history/"

// Tensors returns the history as tensors of a model file, none for nil: the codes of each
// series in the modes that distinguish series, its number of rows, and the time and the
// value of each row, 8 bytes in all.
func (h *History) Tensors() []modelfile.Tensor {
	if h == nil {
		return nil
	}
	length := make([]int32, len(h.start)-1)
	for s := range length {
		length[s] = h.start[s+1] - h.start[s]
	}
	full := uint8(0)
	if h.full {
		full = 1
	}
	return []modelfile.Tensor{
		modelfile.NewTensor(folder+"full", []uint8{full}, 1),
		modelfile.NewTensor(folder+"series", h.keys, len(h.keys)),
		modelfile.NewTensor(folder+"length", length, len(length)),
		modelfile.NewTensor(folder+"time", h.codes, len(h.codes)),
		modelfile.NewTensor(folder+"value", h.value, len(h.value)),
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
		if m.Derived() || i > 0 && modes[i-1].Joint() && !m.Joint() || m.Open() || i > 0 && !m.Covariate() && modes[i-1].Covariate() {
			return nil, fmt.Errorf("its mode %s is not in its place: modes that identify a cell come first, then columns that describe it", m.Name)
		}
	}
	if columns == len(modes) {
		return nil, nil
	}
	frame, err := newFrame(modes, dicts)
	if err != nil {
		return nil, err
	}
	h := &History{frame: frame, zero: zero}
	if err := h.checkModes(); err != nil {
		return nil, err
	}
	full, err := modelfile.Values[uint8](f, folder+"full", 1)
	if err != nil {
		return nil, err
	}
	h.full = full[0] == 1
	var length []int32
	for _, t := range []struct {
		name string
		to   *[]int32
	}{{"series", &h.keys}, {"length", &length}, {"time", &h.codes}} {
		if *t.to, err = modelfile.Values[int32](f, folder+t.name, -1); err != nil {
			return nil, err
		}
	}
	if h.value, err = modelfile.Values[float32](f, folder+"value", -1); err != nil {
		return nil, err
	}
	if err := h.restore(length, dicts); err != nil {
		return nil, fmt.Errorf("its history %w", err)
	}
	h.finish()
	return h, nil
}

// restore finds the rows of the series, which have the given numbers of rows, and returns
// an error that completes "its history" if the arrays contradict each other or the modes.
func (h *History) restore(length []int32, dicts []*dataset.Dict) error {
	width := len(h.key)
	if len(h.keys) != len(length)*width {
		return fmt.Errorf("has %d codes for %d series of %d modes", len(h.keys), len(length), width)
	}
	for i, c := range h.keys {
		if size := dicts[h.key[i%width]].Len(); c < 0 || int(c) >= size {
			return fmt.Errorf("has the code %d of a mode of %d ids", c, size)
		}
	}
	times := 1
	if h.time >= 0 {
		times = len(h.step)
	}
	for _, c := range h.codes {
		if c < 0 || int(c) >= times {
			return fmt.Errorf("has the time %d of %d", c, times)
		}
	}
	h.series, h.start = map[string]int32{}, []int32{0}
	for s, rows := range length {
		from := h.start[s]
		if rows < 1 || int(rows) > len(h.codes)-int(from) {
			return fmt.Errorf("has a series of %d rows, and %d rows are left", rows, len(h.codes)-int(from))
		}
		h.start = append(h.start, from+rows)
		for i := from + 1; i < from+rows && h.time >= 0; i++ {
			if h.step[h.codes[i]] <= h.step[h.codes[i-1]] {
				return fmt.Errorf("has a series that is not in order of time")
			}
		}
		var key []byte
		for _, c := range h.keys[s*width:][:width] {
			key = binary.LittleEndian.AppendUint32(key, uint32(c))
		}
		h.series[string(key)] = int32(s)
	}
	if n := int(h.start[len(length)]); n != len(h.codes) || n != len(h.value) || len(h.series) != len(length) {
		return fmt.Errorf("has %d different series of %d, of %d rows in total, %d times and %d values", len(h.series), len(length), n, len(h.codes), len(h.value))
	}
	return nil
}
