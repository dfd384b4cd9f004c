package model

import (
	"fmt"
	"math"

	"github.com/kernel-fried-tensor/kft/tt"
)

// A NotFiniteError reports a row for which the model gives no finite number, because
// weights or variances that are finite by themselves have an infinite product. A model
// that a fit wrote does not have such weights.
type NotFiniteError struct {
	Row  int    // data row of a table, or cell of a request, from 1
	Unit string // what Row counts if it is not a row of a table ("cell"); else ""
}

func (e *NotFiniteError) Error() string {
	unit := e.Unit
	if unit == "" {
		unit = "data row"
	}
	return fmt.Sprintf("%s %d: the prediction is not a finite number: weights, variances or the scale of the model are out of range; fit the model again", unit, e.Row)
}

// Limits of the logarithmic rate of counts and of its variance. The numerics of mixtures
// of counts hold within them, and no table has such counts.
const (
	maxLogRate    = 300
	maxLogRateVar = 1e4
)

// maxNumber bounds predicted means: targets are at most 3.4e38, and sums of squares of
// predictions must be finite.
const maxNumber = 1e150

// CheckMoments returns a *NotFiniteError unless the field's moments at row i give a
// distribution. The row has position first+i in its table.
func (m *Model) CheckMoments(z tt.Moments, rows Rows, first, i int) error {
	level, variance := m.Level(z.Mean[i], rows, i), m.FieldVariance(z, i)
	good := math.Abs(level) <= maxNumber && math.Abs(variance) <= maxNumber
	if m.scale.Transform.Linked() {
		good = math.Abs(level) <= maxLogRate && variance <= maxLogRateVar
	}
	if !good {
		return &NotFiniteError{Row: first + i + 1}
	}
	return nil
}

// outerLevels are the levels at which the quantiles of a cell must be finite.
func outerLevels() [2]float64 { return [2]float64{0.001, 0.999} }

// checkNumbers returns a *NotFiniteError unless all numbers of a prediction are finite.
func (p Prediction) checkNumbers(cell int) error {
	values := []float64{p.Mean, p.Median, p.SD, p.SDModel, p.SDNoise}
	if !p.distribution.IsDiscrete() {
		for _, level := range outerLevels() {
			values = append(values, p.distribution.Quantile(level))
		}
	}
	return checkAll(values, cell, "cell")
}

// checkAll returns a *NotFiniteError unless all values of a row are finite.
func checkAll[T float32 | float64](values []T, row int, unit string) error {
	for _, v := range values {
		if !(math.Abs(float64(v)) <= maxNumber) {
			return &NotFiniteError{Row: row + 1, Unit: unit}
		}
	}
	return nil
}

// CheckMean returns a *NotFiniteError unless the predicted mean of row i is finite.
func CheckMean(mean float64, first, i int) error {
	return checkAll([]float64{mean}, first+i, "")
}
