package fitdata

import (
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/covariate"
	"github.com/kernel-fried-tensor/kft/history"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

// addHistory computes the covariates that follow from the training rows: lags and
// numbers of periods. derived are their modes. Training rows are those of all parts up
// to the last one. Bins are made once: those of a history that the data already has stay.
func (d *Data) addHistory(derived []dataset.Mode, zero bool, last dataset.Part) error {
	if len(derived) == 0 {
		return nil
	}
	t := &d.table
	first := d.history == nil
	if first {
		t.Modes = append(slices.Clip(t.Modes), derived...)
		t.Dicts = append(slices.Clip(t.Dicts), make([]*dataset.Dict, len(derived))...)
		t.Codes = append(slices.Clip(t.Codes), make([][]int32, len(derived))...)
	} else {
		t.Codes = slices.Clone(t.Codes)
	}
	training := func(k int) bool {
		return d.split.Parts[k] <= last
	}
	h, err := history.New(t, training, history.Options{Source: d.source, Zero: zero})
	if err != nil {
		return err
	}
	d.history = h
	for k := range t.Len() {
		if d.split.Parts[k] != dataset.Unused {
			d.ahead = max(d.ahead, h.Ahead(t, k))
		}
	}
	for i, values := range h.Columns(t) {
		m := len(t.Modes) - len(derived) + i
		d.hideLater(t.Modes[m].Lag(), values, training)
		if first {
			d.setBins(m, values)
		} else {
			t.Codes[m] = d.binned(m, values)
		}
	}
	return nil
}

// setBins sets a mode to bins of the values of its rows.
func (d *Data) setBins(m int, values []float64) {
	codes, distinct, known := make([]int32, len(values)), []float64{}, map[uint64]int32{}
	for k, v := range values {
		bits := math.Float64bits(v)
		if math.IsNaN(v) {
			bits = math.Float64bits(math.NaN())
		}
		code, seen := known[bits]
		if !seen {
			code = int32(len(distinct))
			known[bits] = code
			distinct = append(distinct, v)
		}
		codes[k] = code
	}
	d.table.Codes[m] = codes
	covariate.SetNumbers(&d.table, m, distinct)
}

// binned returns the codes of values in the bins of a mode.
func (d *Data) binned(m int, values []float64) []int32 {
	dict := d.table.Dicts[m]
	grid := covariate.GridOf(dict.IDs())
	codes := make([]int32, len(values))
	for k, v := range values {
		codes[k] = grid.Code(dict, v)
	}
	return codes
}

// hideLater makes a lag of training rows missing where it would be for a row of the
// validation or the test set: each training row gets a random number of periods ahead,
// 1 to that of the farthest row, and a shorter lag is unknown. Otherwise the model would
// learn to rely on values that it does not have in the future.
func (d *Data) hideLater(lag int, values []float64, training func(k int) bool) {
	if d.ahead <= 1 || lag == 0 {
		return
	}
	draw := randstream.New(1, "periods ahead") // the same for all lags of a row
	for k := range values {
		if ahead := 1 + draw.IntN(d.ahead); lag < ahead && training(k) {
			values[k] = math.NaN()
		}
	}
}

// derived returns the modes that are computed from the training rows.
func (d *Data) derived() []dataset.Mode {
	n := slices.IndexFunc(d.table.Modes, dataset.Mode.Derived)
	if n < 0 {
		return nil
	}
	return d.table.Modes[n:]
}

// WithHistory returns the data with covariates computed from its training rows, after a
// change of the parts, or from the rows of all parts up to the last one. They keep their bins.
func (d *Data) WithHistory(last dataset.Part) (*Data, error) {
	if d.history == nil {
		return d, nil
	}
	changed := *d
	return &changed, changed.addHistory(d.derived(), d.zero, last)
}
