package kft_test

import (
	"errors"
	"io"
	"math"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/internal/testtable"
)

// TestQuantilesAndSamplesAreChecked requests levels outside (0, 1), out of order or
// beyond the calibration set, and invalid numbers of samples.
func TestQuantilesAndSamplesAreChecked(t *testing.T) {
	t.Parallel()
	table := testtable.WriteSales(t, 500)
	m := fitUncertain(t, table, kft.UncertaintySpec{Conformal: "split"}, nil)
	for want, levels := range map[string][]float64{
		"0 is not between 0 and 1":   {0, .5},
		"1.5 is not between 0 and 1": {.5, 1.5},
		"NaN is not between 0 and 1": {math.NaN()},
		"0.5 appears twice":          {.5, .5},
		"0.1 comes after 0.5":        {.5, .1},
	} {
		err := m.CheckQuantiles(levels)
		checkErrorText(t, err, want)
		var invalid *kft.QuantileError
		if !errors.As(err, &invalid) {
			t.Errorf("levels %v: got error of type %T, want a *kft.QuantileError", levels, err)
		}
	}
	err := m.CheckQuantiles([]float64{.05, .999})
	checkErrorText(t, err, "quantile 0.999: 50 calibration rows cannot give a 99.8 % interval, which needs 999 or more")
	var few *kft.TooFewRowsError
	if !errors.As(err, &few) || !errors.Is(err, kft.ErrTooFewRows) {
		t.Errorf("level 0.999: got error of type %T, want a *kft.TooFewRowsError that is ErrTooFewRows", err)
	}
	for _, n := range []int{-1, kft.MaxSamples + 1, 1 << 20} {
		var invalid *kft.SamplesError
		if _, err := m.PredictTable(t.Context(), kft.Files(table), io.Discard, kft.TableOptions{Samples: n}); !errors.As(err, &invalid) {
			t.Errorf("%d samples: got error %v, want a *kft.SamplesError", n, err)
		}
	}
}
