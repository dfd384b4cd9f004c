package train

import (
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/covariate"
	"github.com/kernel-fried-tensor/kft/history"
)

// addHistory computes the covariates that follow from the training rows: lags and
// numbers of periods. derived are their modes. With all set every row is a training row,
// as in a refit. Bins are made once: those of a history that the data already has stay.
func (d *Data) addHistory(derived []dataset.Mode, zero, all bool) error {
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
	h, err := history.New(t, func(k int) bool {
		return d.split.Parts[k] == dataset.Train || all && d.split.Parts[k] != dataset.Unused
	}, history.Options{Source: d.source, Zero: zero})
	if err != nil {
		return err
	}
	d.history = h
	values := make([]float64, t.Len())
	for m := len(t.Modes) - len(derived); m < len(t.Modes); m++ {
		for k := range values {
			values[k] = h.Value(t.Modes[m], func(mode int) int32 { return t.Codes[mode][k] }, nil)
		}
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
	codes, distinct, known := make([]int32, len(values)), []float64{}, map[float64]int32{}
	missing := int32(-1)
	for k, v := range values {
		code, seen := known[v]
		if math.IsNaN(v) {
			code, seen = missing, missing >= 0
		}
		if !seen {
			code = int32(len(distinct))
			distinct = append(distinct, v)
			if math.IsNaN(v) {
				missing = code
			} else {
				known[v] = code
			}
		}
		codes[k] = code
	}
	d.table.Codes[m] = codes
	covariate.SetNumbers(&d.table, m, distinct)
}

// binned returns the codes of values in the bins of a mode. Their ids are in increasing
// order, with that of missing values at the end.
func (d *Data) binned(m int, values []float64) []int32 {
	dict := d.table.Dicts[m]
	grid := covariate.GridOf(dict.IDs())
	missing, _ := dict.Code([]byte(dataset.MissingID))
	codes := make([]int32, len(values))
	for k, v := range values {
		if codes[k] = missing; !math.IsNaN(v) {
			codes[k] = int32(grid.Nearest(v))
		}
	}
	return codes
}

// derived returns the modes that are computed from the training rows.
func (d *Data) derived() []dataset.Mode {
	n := slices.IndexFunc(d.table.Modes, dataset.Mode.Derived)
	if n < 0 {
		return nil
	}
	return d.table.Modes[n:]
}

// withHistory returns the data with covariates computed from its training rows, after a
// change of the parts, or with all set from the rows of all parts.
func (d *Data) withHistory(all bool) (*Data, error) {
	if d.history == nil {
		return d, nil
	}
	changed := *d
	return &changed, changed.addHistory(d.derived(), d.zero, all)
}
