package model

import (
	"fmt"
	"strconv"
)

// A QuantileError reports levels for which no quantiles can be computed.
type QuantileError struct{ Problem string }

func (e *QuantileError) Error() string { return "quantiles: " + e.Problem }

// CheckQuantiles returns a *QuantileError for levels outside (0, 1) or out of order,
// and a *conformal.TooFewRowsError for levels that the conformal correction has too few
// rows for.
func (m *Model) CheckQuantiles(levels []float64) error {
	for i, p := range levels {
		switch {
		case !(p > 0 && p < 1):
			return &QuantileError{fmt.Sprintf("%g is not between 0 and 1; use levels such as .05,.5,.95", p)}
		case i > 0 && p == levels[i-1]:
			return &QuantileError{fmt.Sprintf("%g appears twice", p)}
		case i > 0 && p < levels[i-1]:
			return &QuantileError{fmt.Sprintf("%g comes after %g; sort the levels in increasing order", p, levels[i-1])}
		}
	}
	if m.correction == nil {
		return nil
	}
	for _, p := range levels {
		if err := m.correction.Check(p); err != nil {
			return fmt.Errorf("quantile %g: %w", p, err)
		}
	}
	return nil
}

// quantileColumn names the column of a quantile.
func quantileColumn(level float64) string { return "q" + strconv.FormatFloat(level, 'g', -1, 64) }

// sampleColumn names the column of a draw, numbered from 0.
func sampleColumn(i int) string { return "sample_" + strconv.Itoa(i+1) }
