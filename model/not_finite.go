package model

import (
	"fmt"

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

// CheckMoments returns a *NotFiniteError unless the field's moments at row i are finite.
// The row has position first+i in its table.
func CheckMoments(z tt.Moments, first, i int) error {
	if !finite(float64(z.Mean[i])) || z.Var != nil && !finite(float64(z.Var[i])) {
		return &NotFiniteError{Row: first + i + 1}
	}
	return nil
}

// outerLevels are the levels at which the quantiles of a cell must be finite.
func outerLevels() [2]float64 { return [2]float64{0.001, 0.999} }

// checkNumbers returns a *NotFiniteError unless all numbers of a prediction are finite.
func (p Prediction) checkNumbers(cell int) error {
	values := []float64{p.Mean, p.Median, p.SD, p.SDModel, p.SDNoise}
	if !p.distribution.IsCount() {
		for _, level := range outerLevels() {
			values = append(values, p.distribution.Quantile(level))
		}
	}
	return checkAll(values, cell, "cell")
}

// checkAll returns a *NotFiniteError unless all values of a row are finite.
func checkAll[T float32 | float64](values []T, row int, unit string) error {
	for _, v := range values {
		if !finite(float64(v)) {
			return &NotFiniteError{Row: row + 1, Unit: unit}
		}
	}
	return nil
}

// CheckMean returns a *NotFiniteError unless the predicted mean of row i is finite.
func CheckMean(mean float64, first, i int) error {
	return checkAll([]float64{mean}, first+i, "")
}
